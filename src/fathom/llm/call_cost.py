"""What one turn with a model may cost, and what it did.

Does not know budgets or prompts. A refusal costs nothing. An answer that may have been given and never came
is counted at its worst case, and so is one that does not say how many tokens it took.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Self

from langchain_core.messages import AIMessage, BaseMessage

from fathom.budget.budget import WRITING_ROLES, Budget, Reservation
from fathom.budget.prices import Prices
from fathom.storage.records import PaidCall
from fathom.text.token_count import count_tokens_at_least, count_tokens_at_worst

LEAST_ANSWER = 1_024  # tokens; what is asked for in fewer is seldom whole
_LEAST_ANSWER_BY_ROLE = {
    "check": 256,
    "verify": 512,
    "outline": 512,
}  # which say little more than yes or no, or titles
_DEFAULT_ANSWER_TOKENS = 16_384
_PER_MESSAGE = 16


class TokenUsage(NamedTuple):
    """The tokens of one turn; cached ones are among those that went in, reasoning among those out."""

    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cached: int = 0
    tokens_reasoning: int = 0
    least_in: int = 0  # what the words must have taken, whatever the server says; billed at least
    least_out: int = 0

    @property
    def billed(self) -> tuple[int, int, int]:
        """Tokens in, out and cached that are paid for: never fewer than the words must have taken."""
        return max(self.tokens_in, self.least_in), max(self.tokens_out, self.least_out), self.tokens_cached

    @classmethod
    def of(cls, message: AIMessage, otherwise: "TokenUsage", least_in: int = 0) -> Self:
        """What the server says, or the other, when it says nothing."""
        said = message.usage_metadata
        if not said or not said["input_tokens"]:
            return cls(*otherwise)
        cached = said.get("input_token_details", {}).get("cache_read") or 0
        reasoning = said.get("output_token_details", {}).get("reasoning") or 0
        is_silent = not (message.content or message.tool_calls or message.invalid_tool_calls)
        tokens_out = said["output_tokens"] or (0 if is_silent else otherwise.tokens_out)
        cached = min(cached, said["input_tokens"])
        return cls(
            said["input_tokens"], tokens_out, cached, reasoning, least_in, count_tokens_at_least(message.text)
        )


@dataclass
class OverrunFactor:
    """How many times its worst case a model has taken, whose server heeds no limits; else 1.

    What is set aside grows by it: only calls that were on their way with the first one may cost too much.
    """

    times: float = 1.0

    def learn(self, offer: "CallEstimate", hold: Reservation, usd: float) -> None:
        """A call was paid for."""
        if 0.0 < hold.usd < usd:
            self.times = max(self.times, offer.times * usd / hold.usd)


@dataclass(frozen=True)
class CallEstimate:
    """One turn before it is sent: never more tokens than these."""

    prices: Prices
    call: PaidCall
    server: str
    tokens_in: int
    tokens_out: int
    times: float = 1.0
    least_in: int = 0  # no server takes fewer

    @classmethod
    def of(
        cls,
        prices: Prices,
        call: PaidCall,
        server: str,
        asked: tuple[Sequence[BaseMessage], Mapping[str, Any]],
        most_out: int | None,
        strain: OverrunFactor,
    ) -> Self:
        """The turn with these messages and options; a schema or a tool is read like any other words."""
        messages, options = asked
        words = [*(str(message.content) for message in messages), json.dumps(options, ensure_ascii=False)]
        tokens_in = sum(count_tokens_at_worst(word) + _PER_MESSAGE for word in words)
        least_in = sum(count_tokens_at_least(str(message.content)) for message in messages)
        return cls(
            prices, call, server, tokens_in, most_out or _DEFAULT_ANSWER_TOKENS, strain.times, least_in
        )

    async def held(self, budget: Budget | None) -> Reservation:
        """The worst case set aside, or, when the money is short, that of a shorter answer."""
        if budget is None:
            return Reservation.nothing()
        least = min(_LEAST_ANSWER_BY_ROLE.get(self.call.role, LEAST_ANSWER), self.tokens_out)
        if self.times > 1.0:  # who heeds no limit gives no shorter answers either
            least = self.tokens_out
        is_writing = self.call.role in WRITING_ROLES
        return await budget.reserve(self.call, self._whole_usd, is_writing, least_usd=self._usd(least))

    def within(self, hold: Reservation) -> int:
        """The longest answer that what was set aside is enough for."""
        whole = self._whole_usd
        if hold.usd >= whole or whole == (asked := self._usd(0)):
            return self.tokens_out
        return int(self.tokens_out * (hold.usd - asked) / (whole - asked))

    def worst(self, hold: Reservation) -> TokenUsage:
        """As many tokens as there can be."""
        return TokenUsage(self.tokens_in, self.within(hold))

    def counted(self, answer: str) -> TokenUsage:
        """As many tokens as these words can have taken, where the server does not count what it streams."""
        return TokenUsage(self.tokens_in, count_tokens_at_worst(answer))

    @cached_property
    def _whole_usd(self) -> float:
        return self._usd(self.tokens_out)

    def _usd(self, tokens_out: int) -> float:
        usd = self.prices.usd(self.call.model, self.server, self.tokens_in, tokens_out) or 0.0
        return self.times * usd
