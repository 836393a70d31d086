"""How much one model holds, and how many tokens it makes of a text: known, asked, and learnt from replies.

Does not know prompts. Where a size comes from is `window_sources`; a knob beats everything.
"""

import asyncio
import math
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from fathom.llm.learnt import Learnt
from fathom.text.tokencount import Measure, measured, worst_tokens
from fathom.turns import PerLoop

UNKNOWN = 65_536  # a model nobody knows: every usual prompt fits, also in Korean; errors teach the rest
LEAST = 512
_LEAST_ANSWER = 200
_ANSWER_SHARE = 4
_STEP = 0.1  # learnt ratios move in steps, so that the same prompt is fitted the same way again
_MARGIN = 1.05
_SLACK = 8
_TELLING = 400  # tokens; below that the server's own words around a prompt count too much
_LEAST_PLAIN, _LEAST_BEYOND = 0.55, 0.35  # of the guess: no vocabulary makes less of a prompt
_NEARLY = 0.85  # of the least that was seen
_LEAST_SEEN = 256
_LEAST_HELD = 1_000  # nobody serves a model that holds less: who reports less counts something else
_FOREIGN = 0.05
_OVERFLOW = re.compile(
    r"context[ _](?:length|size|window)|maximum context|prompt is too long|too many tokens"
    r"|input token count|reduce the length of the (?:messages|prompt|input)",
    re.IGNORECASE,
)
_SIZES = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"maximum context length (?:is|of) (\d+)",
        r"context (?:size|length|window)[^\d]{0,20}\((\d+)",
        r"context (?:length|size|window) of (?:only )?(\d+)",
        r"> (\d+) maximum",
        r"allowed \((\d+)\)",
        r"with (\d+) maximum context",
        r"\"?n_ctx\"?\D{1,4}(\d+)",
    )
]

Source = Callable[[], Awaitable[int | None]]


def is_overflow(words: str, code: object = None) -> bool:
    """Whether a server's refusal says that more was sent than its model holds."""
    return code in ("context_length_exceeded", "exceed_context_size_error") or bool(_OVERFLOW.search(words))


def told_size(words: str) -> int | None:
    """The size of the window, if the refusal names it."""
    plain = words.replace(",", "")
    found = next((match for pattern in _SIZES if (match := pattern.search(plain))), None)
    return int(found.group(1)) if found else None


@dataclass
class Window:
    """One model's window; shared by whoever asks the model."""

    size: int | None = None
    most_answer: int = 4_096
    most_thinking: int = 0  # tokens that a reasoning model may think beside its answer
    source: Source | None = None
    learnt: Learnt | None = None
    is_recalled: bool = False  # an earlier run has learnt the size
    _said: int | None = None  # by the source
    _is_unkept: bool = False
    _is_counting: bool = True  # what the server reports is the whole prompt, or what it kept of it
    _lock: PerLoop[asyncio.Lock] = field(default_factory=lambda: PerLoop(asyncio.Lock))
    _plain: tuple[float, float] | None = None  # least and most tokens seen for one that was guessed
    _beyond: tuple[float, float] | None = None

    async def known(self) -> int:
        """The size in tokens, asked for once."""
        if self.size is None:
            async with self._lock():
                if self.size is None:
                    self.size = await self._found()
        return self.size

    def answer(self) -> int:
        """Room for the answer: a quarter of a small window."""
        return min(self.most_answer, max(_LEAST_ANSWER, (self.size or UNKNOWN) // _ANSWER_SHARE))

    def thinking(self) -> int:
        """Room for what the model thinks: a quarter of a small window too."""
        return min(self.most_thinking, (self.size or UNKNOWN) // _ANSWER_SHARE)

    def room(self) -> int:
        """Room for all that is sent."""
        return (self.size or UNKNOWN) - self.answer() - self.thinking()

    def count(self, text: str) -> int:
        """Tokens of a text: at worst, until replies have shown what the model makes of such text."""
        worst = worst_tokens(text)
        if self._plain is None:
            return worst
        found = measured(text)
        plain = math.ceil(found.plain * self._plain[1] * _MARGIN)
        beyond = math.ceil(found.beyond * self._beyond[1] * _MARGIN) if self._beyond else found.worst_beyond
        return min(plain + beyond + _SLACK, worst)

    def learn(self, sent: Measure, tokens_in: int, beside: str = "") -> None:
        """Take in what a server says a prompt was; whether it counted what stood beside it nobody knows."""
        if not self._is_counting or sent.usual < _TELLING or tokens_in < _LEAST_SEEN:
            return
        if self.is_short(sent, tokens_in):
            return  # that is not what it was sent
        surely = max(0, tokens_in - measured(beside).worst_plain) if beside else tokens_in
        if sent.beyond < _FOREIGN * sent.plain:
            whole = sent.plain + sent.beyond
            self._plain = _widened(self._plain, surely / whole, tokens_in / whole)
        elif self._plain:
            least = (surely - self._plain[1] * sent.plain) / sent.beyond
            most = (tokens_in - self._plain[0] * sent.plain) / sent.beyond
            self._beyond = _widened(self._beyond, max(0.0, least), max(0.1, most))

    def is_cut(self, sent: Measure, tokens_in: int) -> bool:
        """Whether the server saw far less than was sent: it cuts prompts off without saying so."""
        return tokens_in >= _LEAST_HELD and self.is_short(sent, tokens_in)

    def is_short(self, sent: Measure, tokens_in: int) -> bool:
        """Whether the server reports far less than was sent, for whatever reason."""
        return self._is_counting and sent.usual >= _TELLING and tokens_in < self._expected(sent)

    def distrust(self, size: int) -> None:
        """It was sent no more than it is said to hold, and reports far less again: its counts tell nothing.

        Servers that still have the beginning of a prompt from before count only what is new to them.
        """
        self.size, self._is_counting, self._is_unkept = size, False, False

    def lower(self, to: int) -> None:
        """A server has shown that it holds less than was thought; never more than before."""
        self.size = max(LEAST, min(to, (self.size or UNKNOWN) - 1))
        self.is_recalled, self._is_unkept = False, True

    async def keep(self) -> None:
        """Remember what was learnt, now that a prompt of that size came through whole."""
        if self._is_unkept and self.size and self.learnt:
            self._is_unkept = False
            await self.learnt.keep(self.size, self._said)

    async def _found(self) -> int:
        """What the source says, unless its server has shown that it is less."""
        self._said = await self.source() if self.source else None
        size = self._said or UNKNOWN
        before = await self.learnt.size(self._said) if self.learnt else None
        self.is_recalled = before is not None and before < size
        return before if before is not None and before < size else size

    def _expected(self, found: Measure) -> float:
        """The least a server that saw all of it would report."""
        plain = max(_LEAST_PLAIN, _NEARLY * self._plain[0]) if self._plain else _LEAST_PLAIN
        beyond = max(_LEAST_BEYOND, _NEARLY * self._beyond[0]) if self._beyond else _LEAST_BEYOND
        return found.plain * plain + found.beyond * beyond


def _widened(known: tuple[float, float] | None, least: float, most: float) -> tuple[float, float]:
    before = known or (least, 0.0)
    return min(before[0], least), max(before[1], math.ceil(most / _STEP) * _STEP)
