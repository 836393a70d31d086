"""One turn with an OpenAI-compatible model: remembered, paid for, and told in our errors.

Does not know prompts or forms. A turn that was answered is never sent again: its reply is kept by the hash of
model, server and request. Limits and retries are the limiter's.
https://platform.openai.com/docs/api-reference/chat
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any

import openai
from langchain_core.messages import AIMessage, BaseMessage
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from fathom.budget.budget import WRITING, Budget, Reservation
from fathom.budget.cost_log import Call
from fathom.budget.prices import Prices
from fathom.errors import OutOfBudget, ProviderError, Refused, Unavailable, Unreachable, Unreadable
from fathom.llm.bodies import Misshapen
from fathom.llm.clients import here
from fathom.llm.headers import until_served, wait_after
from fathom.llm.limiter import Endurance, Limiter
from fathom.llm.paying import Offer, Strain, Usage, was_refused
from fathom.llm.window import is_overflow, told_size
from fathom.remembering import Memory
from fathom.state import Cost

_UNPAID = 402


class NotSupported(Unreadable):
    """The server does not take this kind of request; another kind may do."""


class TooLong(Unreadable):
    """More was sent than the model holds; `size` is its window, if the server said so."""

    def __init__(self, message: str, size: int | None) -> None:
        super().__init__(message)
        self.size = size


@dataclass(frozen=True)
class Reply:
    """What the model said, and what it cost."""

    text: str
    cost: Cost


@dataclass(frozen=True)
class Chat:
    """A model on a server, taking turns."""

    client: ChatOpenAI
    server: str
    memory: Memory
    limiter: Limiter = field(default_factory=Limiter)
    endurance: Endurance = field(default_factory=lambda: Endurance(retries=0))
    timeout_s: float = 120.0
    prices: Prices = field(default_factory=Prices)
    budget: Budget | None = None
    strain: Strain = field(default_factory=Strain)
    cheaper: "Chat | None" = None  # who writes when there is too little money for this one

    @property
    def name(self) -> str:
        """The model's name."""
        return self.client.model_name

    def within(self, budget: Budget) -> "Chat":
        """The same for one run, which pays from this purse."""
        cheaper = self.cheaper.within(budget) if self.cheaper else None
        return replace(self, budget=budget, memory=self.memory.within(budget.run), cheaper=cheaper)

    async def say(self, role: str, messages: Sequence[BaseMessage], options: Mapping[str, Any]) -> Reply:
        """One turn, from memory if it was taken before; when it is too dear to write, the cheaper one's."""
        call = Call(self._hash(messages, options), role, self.name)
        try:
            return await self._taken(call, messages, options)
        except ProviderError as error:
            # What may have been charged for an answer that never came.
            lost = await self.budget.paid(call.name) if self.budget else None
            if lost:
                error.costs = [*error.costs, _charge(call, Usage(), lost, is_priced=True)]
            if not isinstance(error, OutOfBudget) or self.cheaper is None or role not in WRITING:
                raise
            costs = error.costs
        try:
            reply = await self.cheaper.say(role, messages, options)
        except ProviderError as error:
            error.costs = [*costs, *error.costs]
            raise
        return replace(reply, cost=reply.cost.model_copy(update={"usd": reply.cost.usd + (lost or 0.0)}))

    async def _taken(self, call: Call, messages: Sequence[BaseMessage], options: Mapping[str, Any]) -> Reply:
        async with self.memory.alone(call.name):
            kept = await self.memory.get(call.name)
            said = kept.text if kept else await self._asked(call, messages, options)
        text, *tokens = json.loads(said)
        usage = Usage(*tokens)
        usd = self.prices.usd(self.name, self.server, *usage)
        if kept and not kept.is_own:
            reused = _charge(call, usage, 0.0, is_priced=usd is not None)
            return Reply(text, reused.model_copy(update={"saved_usd": usd or 0.0, "is_reused": True}))
        paid = usd or 0.0
        if self.budget and kept:
            paid = await self.budget.recall(call.name, paid, usage.tokens_in, usage.tokens_out) or 0.0
        elif self.budget and paid:  # with what earlier tries may have cost
            paid = await self.budget.paid(call.name) or 0.0
        return Reply(text, _charge(call, usage, paid, is_priced=usd is not None))

    def _hash(self, messages: Sequence[BaseMessage], options: Mapping[str, Any]) -> str:
        said = [[m.type, m.content] for m in messages]
        asked = [self.name, self.server, self.client.max_tokens, said, options]
        words = json.dumps(asked, sort_keys=True, ensure_ascii=False)
        return sha256(words.encode("utf-8", "surrogatepass")).hexdigest()

    async def _asked(self, call: Call, messages: Sequence[BaseMessage], options: Mapping[str, Any]) -> str:
        """The answer, however often it must be asked for."""
        client = await here(self.client)
        return await self.limiter.through(lambda: self._sent(client, call, messages, options), self.endurance)

    async def _sent(
        self, client: ChatOpenAI, call: Call, messages: Sequence[BaseMessage], options: Mapping[str, Any]
    ) -> str:
        """The words and what they took, as they are kept; what they may cost is set aside before."""
        most_out = options.get("max_completion_tokens", self.client.max_tokens)
        offer = Offer.of(self.prices, call, self.server, (messages, options), most_out, self.strain)
        async with await offer.held(self.budget) as hold:
            tokens_out = offer.within(hold)
            is_whole = tokens_out == most_out or not hold.amount
            limit = {} if is_whole else {"max_completion_tokens": tokens_out}
            message = await self._answered(client, messages, {**options, **limit}, hold)
            usage = Usage.of(message, offer.worst(hold))
            headers = message.response_metadata.get("headers", {})
            self.limiter.pause(until_served(headers, usage.tokens_in + usage.tokens_out))
            said = json.dumps([_said(message), *usage])
            # Kept before it is settled: whoever is killed in between finds the answer, and settles it then.
            # But an answer that was cut because the money was short is nobody else's answer.
            if not (limit and message.response_metadata.get("finish_reason") == "length"):
                await self.memory.put(call.name, said)
            usd = self.prices.usd(self.name, self.server, *usage) or 0.0
            await hold.settle(usd, usage.tokens_in, usage.tokens_out)
            self.strain.learn(offer, hold, usd)
        return said

    async def _answered(
        self,
        client: ChatOpenAI,
        messages: Sequence[BaseMessage],
        options: Mapping[str, Any],
        hold: Reservation,
    ) -> AIMessage:
        try:
            # The client's own time-out begins anew with every byte.
            async with asyncio.timeout(self.timeout_s):
                # As extra_body the answer comes back as it is; otherwise a cut-off one is thrown away unread.
                message = await client.ainvoke(list(messages), extra_body=dict(options))
        except TimeoutError:
            raise Unavailable(
                f"The model {self.name} at {self.server} did not answer in time ({self.timeout_s:g} s)."
            ) from None
        except openai.OpenAIError as error:
            if was_refused(error):
                await hold.release()
            raise self._translated(error) from error
        except Misshapen as error:
            raise Unreadable(
                f"The model {self.name} answered in no known format: {self._short(error)}."
            ) from error
        assert isinstance(message, AIMessage)
        return message

    def _translated(self, error: openai.OpenAIError) -> ProviderError:
        who = f"The model {self.name} at {self.server}"
        code = getattr(error, "code", None)
        match error:
            case openai.APITimeoutError():
                return Unavailable(f"{who} did not answer in time.")
            case openai.APIConnectionError():
                return Unreachable(f"{who} cannot be reached.")
            case openai.RateLimitError() if code == "insufficient_quota":
                return Refused(f"{who} says the quota is used up.")
            case openai.RateLimitError():
                wait_s = wait_after(error.response.headers)
                return Unavailable(f"{who} is limiting requests (429).", wait_s=wait_s, status=429)
            case openai.APIStatusError() if error.status_code == _UNPAID:
                return Refused(f"{who} says that the account is empty (402).")
            case openai.AuthenticationError() | openai.PermissionDeniedError():
                return Refused(f"{who} refused the key: check OPENAI_API_KEY.")
            case openai.NotFoundError():
                return Refused(f"{who} is not there: check the model's name and the server's address.")
            case openai.APIStatusError() if is_overflow(self._short(error), code):
                said = self._short(error)
                return TooLong(f"{who} was sent more than it holds ({said}).", told_size(said))
            case openai.APIStatusError() if error.status_code >= 500 or error.status_code in {408, 409}:
                wait_s, status = wait_after(error.response.headers), error.status_code
                return Unavailable(f"{who} failed ({status}).", wait_s=wait_s, status=status)
            case openai.APIStatusError():
                return NotSupported(
                    f"{who} did not take the request ({error.status_code}: {self._short(error)})."
                )
            case _:
                return Unreadable(f"{who} answered in no known format: {self._short(error)}.")

    def _short(self, error: Exception) -> str:
        """What went wrong in few words; a server that repeats the key must not make us repeat it."""
        body = getattr(error, "body", None)
        said = str(body.get("message") if isinstance(body, dict) else error)
        words = " ".join("".join(c if c.isprintable() else " " for c in said).split())
        key = self.client.openai_api_key
        if isinstance(key, SecretStr) and key.get_secret_value():
            words = words.replace(key.get_secret_value(), "***")
        return words[:160].rstrip(".")


def _charge(call: Call, usage: Usage, usd: float, *, is_priced: bool) -> Cost:
    return Cost(
        call=call.name,
        role=call.role,
        model=call.model,
        tokens_in=usage.tokens_in,
        tokens_out=usage.tokens_out,
        tokens_cached=usage.tokens_cached,
        usd=usd,
        is_priced=is_priced,
    )


def _said(message: AIMessage) -> str:
    """The text of a reply, wherever the model put it."""
    if message.tool_calls:
        return "\n".join(json.dumps(call["args"], ensure_ascii=False) for call in message.tool_calls)
    if message.invalid_tool_calls:
        return message.invalid_tool_calls[0]["args"] or ""
    return message.text
