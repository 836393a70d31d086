"""Fit prompts into a model's context window: the question stays, the least relevant evidence is cut.

The window's size, and how many tokens a text takes, are looked up, asked from the server, or learned from
replies. A size in the settings takes precedence.
"""

import asyncio
import math
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from fathom.concurrency import PerLoop
from fathom.errors import Unreadable
from fathom.prompts import FilledPrompt, load_prompt
from fathom.state import SubQuestion
from fathom.text.normalization import one_line
from fathom.text.ranking import best_passages
from fathom.text.token_count import (
    CountTokens,
    TokenMeasure,
    bound_tokens,
    count_tokens_at_worst,
    measure_tokens,
    truncate_to_tokens,
)

# For unknown models: every usual prompt fits, also in Korean; errors correct it.
UNKNOWN_WINDOW_TOKENS = 65_536
SMALLEST_WINDOW_TOKENS = 512
_LEAST_ANSWER = 200
_ANSWER_SHARE = 4
_STEP = 0.1  # learned ratios move in steps, so that the same prompt is fitted the same way again
_MARGIN = 1.05
_SLACK = 8
_MIN_MEASURED_TOKENS = 400  # tokens; below that the server's template counts too much
_LEAST_PLAIN, _LEAST_BEYOND = 0.55, 0.35  # of the guess: no vocabulary yields less
_EXPECTED_SHARE = 0.85  # of the least that was seen
_LEAST_SEEN = 256
_LEAST_HELD = 1_000  # no served model holds less: a lower report counts something else
_FOREIGN_SHARE = 0.05
NONE = "(none)"
_BETWEEN_PASSAGES = "\n\n[…]\n\n"
_MAX_FITTING_ROUNDS = 10
_MIN_PASSAGE_TOKENS = 60  # tokens: a shorter passage tells a model nothing
WindowSource = Callable[[], Awaitable[int | None]]


@dataclass
class ContextWindow:
    """One model's context window, shared by all callers of the model."""

    size: int | None = None
    most_answer: int = 4_096
    most_thinking: int = 0  # extra tokens for the reasoning of a model
    source: WindowSource | None = None
    _is_counting: bool = True  # whether the server reports the whole prompt, or only what it kept of it
    _lock: PerLoop[asyncio.Lock] = field(default_factory=lambda: PerLoop(asyncio.Lock))
    _plain: tuple[float, float] | None = None  # least and most tokens seen per guessed token
    _beyond: tuple[float, float] | None = None

    async def find_size(self) -> int:
        """Return the size in tokens, looked up once."""
        if self.size is None:
            async with self._lock():
                if self.size is None:
                    self.size = (await self.source() if self.source else None) or UNKNOWN_WINDOW_TOKENS
        return self.size

    def answer_tokens(self) -> int:
        """Return the tokens for the answer: at most a quarter of a small window."""
        return min(self.most_answer, max(_LEAST_ANSWER, self._tokens // _ANSWER_SHARE))

    def thinking_tokens(self) -> int:
        """Return the tokens for reasoning: at most a quarter of a small window."""
        return min(self.most_thinking, self._tokens // _ANSWER_SHARE)

    def prompt_tokens(self) -> int:
        """Return the tokens for the prompt."""
        return self._tokens - self.answer_tokens() - self.thinking_tokens()

    def count(self, text: str) -> int:
        """Count the tokens of a text: the worst case until replies show the model's real ratio."""
        worst = count_tokens_at_worst(text)
        if self._plain is None:
            return worst
        found = measure_tokens(text)
        plain = math.ceil(found.plain * self._plain[1] * _MARGIN)
        beyond = math.ceil(found.beyond * self._beyond[1] * _MARGIN) if self._beyond else found.worst_beyond
        return min(plain + beyond + _SLACK, worst)

    def learn(self, sent: TokenMeasure, tokens_in: int, beside: str = "") -> None:
        """Learn from a reported prompt size. The server may or may not count `beside`."""
        if not self._is_counting or sent.usual < _MIN_MEASURED_TOKENS or tokens_in < _LEAST_SEEN:
            return
        if self.is_short(sent, tokens_in):
            return  # it counted something else
        surely = max(0, tokens_in - measure_tokens(beside).worst_plain) if beside else tokens_in
        if sent.beyond < _FOREIGN_SHARE * sent.plain:
            whole = sent.plain + sent.beyond
            self._plain = _widen(self._plain, surely / whole, tokens_in / whole)
        elif self._plain:
            least = (surely - self._plain[1] * sent.plain) / sent.beyond
            most = (tokens_in - self._plain[0] * sent.plain) / sent.beyond
            self._beyond = _widen(self._beyond, max(0.0, least), max(0.1, most))

    def is_cut(self, sent: TokenMeasure, tokens_in: int) -> bool:
        """Tell whether the server silently truncated the prompt."""
        return tokens_in >= _LEAST_HELD and self.is_short(sent, tokens_in)

    def is_short(self, sent: TokenMeasure, tokens_in: int) -> bool:
        """Tell whether the server reports far fewer tokens than were sent, for any reason."""
        return (
            self._is_counting
            and sent.usual >= _MIN_MEASURED_TOKENS
            and tokens_in < self._least_expected(sent)
        )

    def distrust(self, size: int) -> None:
        """Stop trusting the server's counts: a prompt that fits was reported far too small again.

        Servers with a cached prefix count only the new part.
        """
        self.size, self._is_counting = size, False

    def lower(self, to: int) -> None:
        """Lower the size to what a server has shown; never raise it."""
        self.size = max(SMALLEST_WINDOW_TOKENS, min(to, self._tokens - 1))

    @property
    def _tokens(self) -> int:
        return self.size or UNKNOWN_WINDOW_TOKENS

    def _least_expected(self, found: TokenMeasure) -> float:
        """Return the fewest tokens that a server would report for the whole prompt."""
        plain = max(_LEAST_PLAIN, _EXPECTED_SHARE * self._plain[0]) if self._plain else _LEAST_PLAIN
        beyond = max(_LEAST_BEYOND, _EXPECTED_SHARE * self._beyond[0]) if self._beyond else _LEAST_BEYOND
        return found.plain * plain + found.beyond * beyond


def _widen(known: tuple[float, float] | None, least: float, most: float) -> tuple[float, float]:
    before = known or (least, 0.0)
    return min(before[0], least), max(before[1], math.ceil(most / _STEP) * _STEP)


class WindowTooSmall(Unreadable):
    """Instructions and question do not fit, or leave hardly a sentence of the page."""


@dataclass(frozen=True)
class PromptLines:
    """Lines by relevance, best first; the last ones are cut first."""

    parts: Sequence[str]
    weight: float = 1.0
    between: str = "\n"
    is_newest_last: bool = False  # if so, the first ones are cut first
    places: Sequence[int] = ()  # the display order, if not by relevance

    def render(self) -> str:
        """Return all lines."""
        return self._join(self.parts)

    def cut_to_room(self, room: int, count: CountTokens) -> tuple[str, int]:
        """Return the best lines that fit; of a first one that is too long, its beginning."""
        kept: list[str] = []
        for part in reversed(self.parts) if self.is_newest_last else self.parts:
            cost = count(part + self.between)
            if cost > room:
                break
            room -= cost
            kept.append(part)
        if not kept and self.parts:
            first = self.parts[-1 if self.is_newest_last else 0]
            kept = [part] if (part := truncate_to_tokens(first, room, count)) else []
        return self._join(kept[::-1] if self.is_newest_last else kept), len(kept)

    def _join(self, parts: Sequence[str]) -> str:
        if not self.places:
            return self.between.join(parts)
        placed = sorted(zip(self.places, parts, strict=False), key=lambda pair: pair[0])
        return self.between.join(part for _, part in placed)


@dataclass(frozen=True)
class PromptPassages:
    """A page; if it is long, the passages that fit the questions best."""

    text: str
    questions: Sequence[str]
    max_tokens: int
    weight: float = 4.0  # its share of the room beside other evidence

    def render(self) -> str:
        """Return the passages a model should see, whatever its window."""
        return _BETWEEN_PASSAGES.join(best_passages(self.text, self.questions, self.max_tokens))

    def cut_to_room(self, room: int, count: CountTokens) -> tuple[str, int]:
        """Return fewer passages; raise WindowTooSmall if hardly a sentence is left."""
        if room < _MIN_PASSAGE_TOKENS:
            raise WindowTooSmall(f"there is room for {room} tokens of a page")
        chosen = best_passages(self.text, self.questions, room, count)
        while len(chosen) > 1 and count(_BETWEEN_PASSAGES.join(chosen)) > room:
            chosen = chosen[:-1]
        return _BETWEEN_PASSAGES.join(chosen), 1 if chosen else 0


CuttableText: TypeAlias = PromptLines | PromptPassages  # evidence that may be cut


@dataclass(frozen=True)
class FittedPrompt:
    """A prompt that fits, the names of cut evidence, and the number of parts kept of each."""

    prompt: FilledPrompt
    cut: list[str] = field(default_factory=list)
    kept: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class PromptBudget:
    """A prompt by name, with its fixed values and the evidence that may be cut."""

    name: str
    fixed: Mapping[str, str]
    evidence: Mapping[str, CuttableText] = field(default_factory=dict)
    batched: str = ""  # cutting it loses nothing: the rest is sent in the next batch

    def fill(self) -> FilledPrompt:
        """Return the prompt with all evidence."""
        return self._fill({name: part.render() for name, part in self.evidence.items()})

    def fit_prompt(self, room: int, count: CountTokens, share: float = 1.0) -> FittedPrompt:
        """Fit the prompt into the room with that share of its evidence, or raise WindowTooSmall."""
        texts = {name: part.render() for name, part in self.evidence.items()}
        whole = self._fill(texts)
        # A short prompt need not be counted exactly.
        if share == 1.0 and _size(whole, bound_tokens) <= room:
            return FittedPrompt(whole)
        need = _size(whole, count)
        if share == 1.0 and need <= room:
            return FittedPrompt(whole)
        bare = _size(self._fill({}), count)
        left = min(room, bare + int(share * (need - bare))) - bare
        needs = {name: count(text) for name, text in texts.items() if text}
        for _ in range(_MAX_FITTING_ROUNDS):
            fitted = self._cut_texts(texts, needs, left, count)
            if left >= 0 and _size(fitted.prompt, count) <= room:
                return fitted
            left = int(0.8 * left) - 8
        raise WindowTooSmall(
            f"{self.name} needs {bare} tokens without any evidence, and there is room for {room}"
        )

    def _cut_texts(
        self, texts: Mapping[str, str], needs: Mapping[str, int], left: int, count: CountTokens
    ) -> FittedPrompt:
        shown, cut, kept = dict(texts), [], {}
        for name, room in _share_room(needs, {n: self.evidence[n].weight for n in needs}, left).items():
            if room < needs[name]:
                shown[name], kept[name] = self.evidence[name].cut_to_room(room, count)
                cut.append(name)
        return FittedPrompt(self._fill(shown), cut, kept)

    def _fill(self, texts: Mapping[str, str]) -> FilledPrompt:
        shown = {name: texts.get(name) or NONE for name in self.evidence}
        return load_prompt(self.name).fill(**self.fixed, **shown)


def _size(prompt: FilledPrompt, count: CountTokens) -> int:
    return count(prompt.system) + count(prompt.user)


def _share_room(needs: Mapping[str, int], weights: Mapping[str, float], left: int) -> dict[str, int]:
    """Divide the room by weight; unused shares go to the others."""
    rooms: dict[str, int] = {}
    waiting = sum(weights.values())
    for name in sorted(needs, key=lambda n: needs[n] / weights[n]):
        rooms[name] = max(0, min(needs[name], int(left * weights[name] / waiting)))
        left -= rooms[name]
        waiting -= weights[name]
    return rooms


def list_lines(lines: Iterable[str], weight: float = 1.0, *, is_newest_last: bool = False) -> PromptLines:
    """Return the lines as prompt lines."""
    return PromptLines([f"- {one_line(line)}" for line in lines], weight, is_newest_last=is_newest_last)


def list_questions(questions: Sequence[SubQuestion]) -> PromptLines:
    """Return sub-questions as prompt lines, each with its id."""
    return list_lines(f"{q.id}: {q.text}" for q in questions)
