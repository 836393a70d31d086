"""Estimate what one model call may cost, and compute what it did cost.

A refused request costs nothing. A lost answer, or one without token counts, is billed at its worst case.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Self

from langchain_core.messages import AIMessage, BaseMessage

from fathom.budget import WRITING_ROLES, Budget, Reservation
from fathom.budget.prices import Prices
from fathom.storage.records import PaidCall
from fathom.text.token_count import count_tokens_at_least, count_tokens_at_worst

LEAST_ANSWER = 1_024  # tokens; a shorter limit usually truncates the answer
_LEAST_ANSWER_BY_ROLE = {
    "check": 256,
    "verify": 512,
    "outline": 512,
}  # short answers: yes or no, or titles
_DEFAULT_ANSWER_TOKENS = 16_384
_PER_MESSAGE = 16
_CACHE_WRITES = ("cache_creation", "ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens")
# What a tier costs beside the price in the table: OpenAI's flex and batch are half, its priority up to twice.
_TIER_FACTORS = {"flex": 0.5, "batch": 0.5, "priority": 2.0}


class TokenUsage(NamedTuple):
    """Tokens of one call; cached and written ones are part of the input, reasoning is part of the output."""

    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cached: int = 0
    tokens_reasoning: int = 0
    least_in: int = 0  # lower bound from the text, whatever the server reports
    least_out: int = 0
    tokens_written: int = 0  # into the provider's cache, which some sell dearer
    price_factor: float = 1.0  # of the provider's tier

    @property
    def billed(self) -> tuple[int, int, int, int]:
        """Return billed tokens in, out, cached and written: never fewer than the text must have taken."""
        tokens_in, tokens_out = max(self.tokens_in, self.least_in), max(self.tokens_out, self.least_out)
        return tokens_in, tokens_out, self.tokens_cached, self.tokens_written

    @classmethod
    def from_message(cls, message: AIMessage, otherwise: "TokenUsage", least_in: int = 0) -> Self:
        """Return the server's counts, or `otherwise` if it reports none."""
        said = message.usage_metadata
        if not said or not said["input_tokens"]:
            return cls(*otherwise)
        # LangChain puts the name of a tier before the name of a detail: "flex_cache_read".
        details_in, details_out = said.get("input_token_details", {}), said.get("output_token_details", {})
        cached = _sum_details(details_in, "cache_read")
        written = sum(_sum_details(details_in, name) for name in _CACHE_WRITES)
        reasoning = _sum_details(details_out, "reasoning")
        is_silent = not (message.content or message.tool_calls or message.invalid_tool_calls)
        tokens_out = said["output_tokens"] or (0 if is_silent else otherwise.tokens_out)
        # Some count reasoning only in the total, and bill it as output all the same.
        tokens_out = max(tokens_out, said.get("total_tokens", 0) - said["input_tokens"], reasoning)
        cached = min(cached, said["input_tokens"])
        written = min(written, said["input_tokens"] - cached)
        least_out = count_tokens_at_least(message.text)
        factor = _TIER_FACTORS.get(str(message.response_metadata.get("service_tier") or ""), 1.0)
        return cls(said["input_tokens"], tokens_out, cached, reasoning, least_in, least_out, written, factor)


def _sum_details(details: Mapping[str, Any], name: str) -> int:
    return sum(count for key, count in details.items() if key.endswith(name) and isinstance(count, int))


@dataclass
class OverrunFactor:
    """How far a server that ignores limits exceeded the worst case; otherwise 1.

    Reservations grow by this factor, so only calls already under way can cost too much.
    """

    times: float = 1.0

    def learn(self, estimate: "CallEstimate", reservation: Reservation, usd: float) -> None:
        """Update the factor from a paid call."""
        if 0.0 < reservation.usd < usd:
            self.times = max(self.times, estimate.times * usd / reservation.usd)


@dataclass(frozen=True)
class CallEstimate:
    """The most tokens that one call can take."""

    prices: Prices
    call: PaidCall
    server: str
    tokens_in: int
    tokens_out: int
    times: float = 1.0
    least_in: int = 0  # lower bound: no server counts fewer

    @classmethod
    def from_request(
        cls,
        prices: Prices,
        call: PaidCall,
        server: str,
        asked: tuple[Sequence[BaseMessage], Mapping[str, Any]],
        most_out: int | None,
        overrun: OverrunFactor,
    ) -> Self:
        """Estimate a call from its messages and options; a schema or tool counts as text."""
        messages, options = asked
        words = [*(str(message.content) for message in messages), json.dumps(options, ensure_ascii=False)]
        tokens_in = sum(count_tokens_at_worst(word) + _PER_MESSAGE for word in words)
        least_in = sum(count_tokens_at_least(str(message.content)) for message in messages)
        return cls(
            prices, call, server, tokens_in, most_out or _DEFAULT_ANSWER_TOKENS, overrun.times, least_in
        )

    async def reserve(self, budget: Budget | None) -> Reservation:
        """Reserve the worst case or, if money is short, that of a shorter answer."""
        if budget is None:
            return Reservation.nothing()
        least = min(_LEAST_ANSWER_BY_ROLE.get(self.call.role, LEAST_ANSWER), self.tokens_out)
        if self.times > 1.0:  # a server that ignores limits gives no shorter answers either
            least = self.tokens_out
        is_writing = self.call.role in WRITING_ROLES
        return await budget.reserve(self.call, self._whole_usd, is_writing, least_usd=self._usd(least))

    def affordable_tokens(self, reservation: Reservation) -> int:
        """Return the longest answer that the reservation pays for."""
        whole = self._whole_usd
        if reservation.usd >= whole or whole == (asked := self._usd(0)):
            return self.tokens_out
        return int(self.tokens_out * (reservation.usd - asked) / (whole - asked))

    def worst_usage(self, reservation: Reservation) -> TokenUsage:
        """Return the worst-case tokens."""
        return TokenUsage(self.tokens_in, self.affordable_tokens(reservation))

    def count_usage(self, answer: str) -> TokenUsage:
        """Return the most tokens this text can have taken, if the server does not count streams."""
        return TokenUsage(self.tokens_in, count_tokens_at_worst(answer))

    @cached_property
    def _whole_usd(self) -> float:
        return self._usd(self.tokens_out)

    def _usd(self, tokens_out: int) -> float:
        usd = self.prices.usd(self.call.model, self.server, self.tokens_in, tokens_out) or 0.0
        return self.times * usd
