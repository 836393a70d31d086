"""Context window and token counts of a model: looked up, asked from the server, or learned.

A size in the settings takes precedence.
"""

import asyncio
import math
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from langchain_core.language_models import BaseChatModel

from fathom.concurrency import PerLoop
from fathom.llm.chat import provider_of
from fathom.llm.servers import ask_ollama_window, ask_server_window
from fathom.settings.model_names import chat_model_name
from fathom.text.token_count import TokenMeasure, count_tokens_at_worst, measure_tokens

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


async def find_window(client: BaseChatModel, server: str, *, is_asked: bool) -> int | None:
    """Return the window of a model in tokens, or None if unknown."""
    name, provider = chat_model_name(client), provider_of(client)
    if provider == "ollama" and (size := getattr(client, "num_ctx", None)):
        return int(size)
    if provider == "ollama":
        return await ask_ollama_window(server, name)
    key = getattr(client, "openai_api_key", None)
    found = await ask_server_window(server, name, key) if is_asked and provider == "openai" else None
    if found:
        return found
    profile: Mapping[str, Any] = client.profile or {}
    limit = profile.get("max_input_tokens")
    return int(limit) if limit else await asyncio.to_thread(_look_up_window, name)


def _look_up_window(model: str) -> int | None:
    from genai_prices.data_snapshot import get_snapshot  # half a second of imports

    try:
        _, found = get_snapshot().find_provider_model(model, None, None, None)
    except LookupError:
        return None
    return found.context_window
