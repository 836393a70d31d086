"""One model call: cached, paid from the budget, traced, with provider errors translated.

Replies are cached by the hash of model, server and request, so an answered call is never sent again. The rate
limiter handles limits and retries. Text for readers is streamed, so that LangChain callbacks and LangGraph's
`messages` mode see it grow; all else is not streamed. Options use OpenAI's names (`response_format`, `tools`,
`max_completion_tokens`, `reasoning_effort`, `temperature`); `prepare_call` translates them for packages that
name them otherwise.
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.runnables import RunnableConfig
from pydantic import SecretStr

from fathom.budget import WRITING_ROLES, Budget
from fathom.budget.prices import Prices
from fathom.errors import OutOfBudget, ProviderError, Unavailable, Unreadable
from fathom.llm.call_cost import CallEstimate, OverrunFactor, TokenUsage
from fathom.llm.clients import client_for_loop
from fathom.llm.errors import (
    ErrorTranslator,
    NotSupported,
    PromptTooLong,
    is_own_mistake,
    is_surely_unbilled,
    provider_errors,
)
from fathom.llm.openai_compatible import REASONING
from fathom.llm.rate_limiter import ModelRetryPolicy, RateLimiter, seconds_until_served
from fathom.settings.model_names import SUPPORTED_PROVIDERS, chat_model_name, provider_facts
from fathom.state import Cost, Role
from fathom.storage.content import CachedReply, Replies
from fathom.storage.records import PaidCall
from fathom.tracing import TracedRun

_LIMIT = "max_completion_tokens"
_OLD_COUNTS = 8
_BY_CLASS = {provider.chat_class: provider.name for provider in SUPPORTED_PROVIDERS.values()}
_LEAST_EFFORT = {"none": None, "minimal": "low"}  # where a provider has no such level
_STREAMED: frozenset[Role] = frozenset({"write"})
_TRACED = ("is_reused", "tokens_in", "tokens_out", "tokens_cached", "tokens_reasoning")
_STREAMS, _WHOLE = {"streaming": True}, {"disable_streaming": True}  # arguments for LangChain's `ainvoke`


@dataclass(frozen=True)
class ChatReply:
    """A model's reply, its cost, and whether it ended at the limit of tokens."""

    text: str
    cost: Cost
    is_cut: bool = False


@dataclass(frozen=True)
class CachedAnswer:
    """A reply as the cache stores it: text, tokens, and whether it ended at the limit of tokens."""

    text: str
    usage: TokenUsage
    is_cut: bool

    def to_json(self) -> str:
        """Return the reply as JSON, with the names of its fields."""
        return json.dumps({"text": self.text, "usage": self.usage._asdict(), "is_cut": self.is_cut})

    @classmethod
    def read(cls, stored: str) -> "CachedAnswer":
        """Return a stored reply. Older databases have a list: the text, eight counts, `is_cut`."""
        found = json.loads(stored)
        if isinstance(found, list):
            counts = found[1 : 1 + _OLD_COUNTS]
            usage = dict(zip(TokenUsage._fields, counts, strict=False))
            return cls(found[0], TokenUsage(**usage), any(found[1 + _OLD_COUNTS :]))
        known = {name: count for name, count in found["usage"].items() if name in TokenUsage._fields}
        return cls(found["text"], TokenUsage(**known), found["is_cut"])


@dataclass
class Streaming:
    """Whether a server can stream. Assumed until streaming failed and a plain call worked."""

    is_offered: bool = True


@dataclass(frozen=True)
class Chat:
    """A chat model on a server, with cache, budget and limits."""

    client: BaseChatModel
    server: str
    cache: Replies
    limiter: RateLimiter = field(default_factory=RateLimiter)
    retry_policy: ModelRetryPolicy = field(default_factory=lambda: ModelRetryPolicy(retries=0))
    timeout_s: float = 120.0
    prices: Prices = field(default_factory=Prices)
    budget: Budget | None = None
    overrun: OverrunFactor = field(default_factory=OverrunFactor)
    streaming: Streaming = field(default_factory=Streaming)
    cheaper: "Chat | None" = None  # used for writing when money is too short for this one
    full_name: str = ""  # the name as configured; empty: the client's own name
    identity: Sequence[Any] = ()  # what else distinguishes this model from others, as plain JSON
    role_options: Mapping[Role, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Return the model's name."""
        return self.full_name or chat_model_name(self.client)

    def within(self, budget: Budget) -> "Chat":
        """Return a copy that pays from this run's budget."""
        cheaper = self.cheaper.within(budget) if self.cheaper else None
        return replace(self, budget=budget, cache=self.cache.within(budget.run), cheaper=cheaper)

    async def send(
        self, role: Role, messages: Sequence[BaseMessage], options: Mapping[str, Any]
    ) -> ChatReply:
        """Return the cached reply or send the request; an equal request waits for the first.

        If writing is too expensive, the cheaper model is asked.
        """
        options_of_role = {**options, **self.role_options.get(role, {})}
        call = PaidCall(self._hash(messages, options_of_role), role, self.name)
        given = {"messages": [[message.type, message.text] for message in messages]}
        try:
            async with (
                TracedRun("chain", f"{role} call", given, role=role, model=self.name) as run,
                self.cache.alone(call.name),
            ):
                kept = await self.cache.get(call.name)
                answer = CachedAnswer.read(kept.text) if kept else None
                attempt = self.limiter.attempt(self.retry_policy)
                is_streamed = role in _STREAMED and self.streaming.is_offered
                while answer is None:
                    async with attempt:
                        try:
                            answer = await self._send(call, messages, options_of_role, is_streamed)
                        except Unreadable as error:
                            if not is_streamed or isinstance(error, PromptTooLong):
                                raise
                            is_streamed = False
                            answer = await self._send(call, messages, options_of_role, is_streamed)
                            self.streaming.is_offered = False
                reply = await self._reply(call, answer, kept)
                told = {"cost_usd": reply.cost.usd} | {name: getattr(reply.cost, name) for name in _TRACED}
                run.note(**told)
                run.output = {"text": reply.text, **told}
                return reply
        except ProviderError as error:
            return await self._send_cheaper(error, call, role, messages, options)

    async def _send_cheaper(
        self,
        error: ProviderError,
        call: PaidCall,
        role: Role,
        messages: Sequence[BaseMessage],
        options: Mapping[str, Any],
    ) -> ChatReply:
        """Ask the cheaper model if this one is too expensive for writing; else raise the error."""
        lost = await self._add_lost(error, call)
        if not isinstance(error, OutOfBudget) or self.cheaper is None or role not in WRITING_ROLES:
            raise error
        try:
            reply = await self.cheaper.send(role, messages, options)
        except ProviderError as cheaper_error:
            cheaper_error.costs = [*error.costs, *cheaper_error.costs]
            raise
        return replace(reply, cost=reply.cost.model_copy(update={"usd": reply.cost.usd + lost}))

    async def _send(
        self,
        call: PaidCall,
        messages: Sequence[BaseMessage],
        options: Mapping[str, Any],
        is_streamed: bool,
    ) -> CachedAnswer:
        """Send one request; return the reply as stored in the cache.

        The worst case is reserved first. The reply is stored before anything else happens, so that a process
        killed right afterwards finds and settles it on resume.
        """
        most_out = options.get(_LIMIT, self._answer_limit)
        estimate = CallEstimate.from_request(
            self.prices, call, self.server, (messages, options), most_out, self.overrun
        )
        async with await estimate.reserve(self.budget) as reservation:
            tokens_out = estimate.affordable_tokens(reservation)
            limit = {} if tokens_out == most_out or not reservation.amount else {_LIMIT: tokens_out}
            model, words = prepare_call(await client_for_loop(self.client), {**options, **limit})
            model = model.model_copy(update=_STREAMS if is_streamed else _WHOLE)
            config: RunnableConfig = {"metadata": {"role": call.role, "model": call.model}}
            try:
                # A client's own timeout restarts with every byte.
                async with asyncio.timeout(self.timeout_s) as time_limit:
                    message = await model.ainvoke(list(messages), config, **words)
            except provider_errors() as error:
                if is_own_mistake(error):
                    raise
                if time_limit.expired():
                    late = f"{self._translator.who} did not answer in time ({self.timeout_s:g} s)."
                    raise Unavailable(late) from None
                if is_surely_unbilled(error):
                    await reservation.release()
                raise self._translator(error) from error
            if is_streamed and not _reason(message) and self._translator.provider != "other":
                raise Unreadable(f"The model {self.name} stopped in the middle of its answer.")
            text = _reply_text(message)
            uncounted = estimate.count_usage(text) if is_streamed else estimate.worst_usage(reservation)
            usage = TokenUsage.from_message(message, uncounted, estimate.least_in)
            stored = CachedAnswer(text, usage, _is_cut(message))
            # Do not cache an answer that was truncated because money was short.
            if not (limit and stored.is_cut):
                await asyncio.shield(self.cache.put(call.name, stored.to_json()))
            headers = message.response_metadata.get("headers") or {}
            self.limiter.pause(seconds_until_served(headers, usage.tokens_in + usage.tokens_out))
            usd = self._usd(usage) or 0.0
            await reservation.settle(usd, usage.tokens_in, usage.tokens_out)
            self.overrun.learn(estimate, reservation, usd)
        return stored

    async def _reply(self, call: PaidCall, stored: CachedAnswer, kept: CachedReply | None) -> ChatReply:
        """Return the stored reply, with what this run paid for it."""
        usage = stored.usage
        usd = self._usd(usage)
        if kept and not kept.is_own:
            reused = _cost(call, usage, 0.0, is_priced=usd is not None)
            reused = reused.model_copy(update={"saved_usd": usd or 0.0, "is_reused": True})
            return ChatReply(stored.text, reused, stored.is_cut)
        paid = usd or 0.0
        if self.budget and kept:
            paid = await self.budget.recall(call.name, paid, usage.tokens_in, usage.tokens_out) or 0.0
        elif self.budget and paid:  # including what earlier tries may have cost
            paid = await self.budget.paid(call.name) or 0.0
        return ChatReply(stored.text, _cost(call, usage, paid, is_priced=usd is not None), stored.is_cut)

    async def _add_lost(self, error: ProviderError, call: PaidCall) -> float:
        """Add to the error what may have been charged for an answer that never came."""
        lost = await self.budget.paid(call.name) if self.budget else None
        if lost:
            error.costs = [*error.costs, _cost(call, TokenUsage(), lost, is_priced=True)]
        return lost or 0.0

    def _hash(self, messages: Sequence[BaseMessage], options: Mapping[str, Any]) -> str:
        said = [[m.type, m.content] for m in messages]
        asked = [self.name, self.server, self._answer_limit, said, options, *self.identity]
        words = json.dumps(asked, sort_keys=True, ensure_ascii=False)
        return sha256(words.encode("utf-8", "surrogatepass")).hexdigest()

    def _usd(self, usage: TokenUsage) -> float | None:
        usd = self.prices.usd(self.name, self.server, *usage.billed)
        return None if usd is None else usd * usage.price_factor

    @cached_property
    def _answer_limit(self) -> int | None:
        return answer_limit(self.client)

    @cached_property
    def _translator(self) -> ErrorTranslator:
        keys = ("openai_api_key", "anthropic_api_key", "google_api_key", "api_key")
        found = (getattr(self.client, name, None) for name in keys)
        key = next((one for one in found if isinstance(one, SecretStr)), None)
        return ErrorTranslator(self.name, self.server, provider_of(self.client), key)


def _cost(call: PaidCall, usage: TokenUsage, usd: float, *, is_priced: bool) -> Cost:
    return Cost(
        call=call.name,
        role=call.role,
        model=call.model,
        tokens_in=usage.tokens_in,
        tokens_out=usage.tokens_out,
        tokens_cached=usage.tokens_cached,
        tokens_reasoning=usage.tokens_reasoning,
        usd=usd,
        is_priced=is_priced,
    )


def _is_cut(message: AIMessage) -> bool:
    """Tell whether the answer reached its token limit, in any provider's words."""
    return _reason(message).lower() in {"length", "max_tokens"}


def _reason(message: AIMessage) -> str:
    """Return the provider's finish reason, or ""."""
    metadata = message.response_metadata
    return str(
        metadata.get("finish_reason") or metadata.get("stop_reason") or metadata.get("done_reason") or ""
    )


def _reply_text(message: AIMessage) -> str:
    """Return the text of a reply, also if the model put all of it into its reasoning."""
    if message.tool_calls:
        return "\n".join(json.dumps(call["args"], ensure_ascii=False) for call in message.tool_calls)
    if message.invalid_tool_calls:
        return message.invalid_tool_calls[0]["args"] or ""
    return message.text or str(message.additional_kwargs.get(REASONING) or "")


def provider_of(model: BaseChatModel) -> str:
    """Return the provider of a chat model; `other` if unknown."""
    found = (_BY_CLASS.get(kind.__name__) for kind in type(model).__mro__)
    return next((provider for provider in found if provider), "other")


def answer_limit(model: BaseChatModel) -> int | None:
    """Return the answer limit of a chat model in tokens, if it has one."""
    names = ("max_tokens", "max_output_tokens", "num_predict")
    return next((n for name in names if isinstance(n := getattr(model, name, None), int) and n > 0), None)


def prepare_call(model: BaseChatModel, options: Mapping[str, Any]) -> tuple[BaseChatModel, dict[str, Any]]:
    """Return the model and the keyword arguments for `ainvoke`."""
    provider = provider_of(model)
    is_responses = provider == "openai" and bool(getattr(model, "use_responses_api", False))
    if provider == "openai" and not is_responses:
        # As extra_body, because otherwise the SDK discards a truncated answer.
        return model, {"extra_body": dict(options)}
    words: dict[str, Any] = {}
    if "response_format" in options:
        if provider not in SUPPORTED_PROVIDERS:
            raise NotSupported(f"{type(model).__name__} is not known to take a schema.")
        words["response_format"] = options["response_format"]
    if "tools" in options:
        words |= _tool_options(model, options)
    settings = {name: options[name] for name in ("max_completion_tokens", "temperature") if name in options}
    limit = settings.pop("max_completion_tokens", None)
    if limit is not None:
        settings[provider_facts(provider).limit_option] = limit
    words |= _effort_options(model, provider, options.get("reasoning_effort"))
    if provider == "ollama":  # it takes them only all together
        return model.model_copy(update=settings) if settings else model, words
    return model, {**words, **{n: v for n, v in settings.items() if provider != "other" or hasattr(model, n)}}


def _tool_options(model: BaseChatModel, options: Mapping[str, Any]) -> dict[str, Any]:
    name = options["tool_choice"]["function"]["name"]
    try:
        bound: Any = model.bind_tools(options["tools"], tool_choice=name)
    except NotImplementedError:
        raise NotSupported(f"{type(model).__name__} takes no tools.") from None
    return dict(getattr(bound, "kwargs", {}))


def _effort_options(model: BaseChatModel, provider: str, effort: str | None) -> dict[str, Any]:
    if effort is None:
        return {}
    known = _LEAST_EFFORT.get(effort, effort)
    match provider:
        case "anthropic":
            return {"reasoning_effort": known} if known else {}
        case "google_genai":
            return {"thinking_budget": 0} if effort == "none" else {"reasoning_effort": effort}
        case "ollama":
            return {"reasoning": known or False}
        case _:
            return {"reasoning_effort": effort} if hasattr(model, "reasoning_effort") else {}
