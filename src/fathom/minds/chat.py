"""One turn with an OpenAI-compatible model: remembered, priced, and told in our errors.

Does not know prompts or forms. A turn that was answered is never sent again: its reply is kept by the hash of
model and request. https://platform.openai.com/docs/api-reference/chat
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Protocol

import openai
from langchain_core.messages import AIMessage, BaseMessage
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from fathom.errors import ProviderError, Refused, Unavailable, Unreadable
from fathom.minds.prices import priced
from fathom.state import Charge
from fathom.turns import PerLoop


class Memory(Protocol):
    """Where finished turns are kept."""

    async def get(self, key: str) -> str | None:
        """The reply that was kept, or None."""

    async def put(self, key: str, text: str) -> None:
        """Keep a reply."""


class NotSupported(Unreadable):
    """The server does not take this kind of request; another kind may do."""


@dataclass(frozen=True)
class Reply:
    """What the model said, and what it cost."""

    text: str
    charge: Charge


@dataclass(frozen=True)
class Chat:
    """A model on a server, taking turns."""

    client: ChatOpenAI
    server: str
    memory: Memory
    slots: PerLoop[asyncio.Semaphore] = field(default_factory=lambda: PerLoop(lambda: asyncio.Semaphore(10)))

    @property
    def name(self) -> str:
        """The model's name."""
        return self.client.model_name

    async def say(self, role: str, messages: Sequence[BaseMessage], options: Mapping[str, Any]) -> Reply:
        """One turn, from memory if it was taken before."""
        call = self._hash(messages, options)
        kept = await self.memory.get(call)
        if kept is None:
            async with self.slots():
                message = await self._sent(messages, options)
            usage = message.usage_metadata or {"input_tokens": 0, "output_tokens": 0, "total_tokens": 0}
            kept = json.dumps([_said(message), usage["input_tokens"], usage["output_tokens"]])
            await self.memory.put(call, kept)
        text, tokens_in, tokens_out = json.loads(kept)
        usd = priced(self.name, self.server, tokens_in, tokens_out)
        charge = Charge(
            call=call,
            role=role,
            model=self.name,
            tokens_in=tokens_in,
            tokens_out=tokens_out,
            usd=usd or 0.0,
            is_priced=usd is not None,
        )
        return Reply(text, charge)

    def _hash(self, messages: Sequence[BaseMessage], options: Mapping[str, Any]) -> str:
        said = [[m.type, m.content] for m in messages]
        words = json.dumps([self.name, said, options], sort_keys=True, ensure_ascii=False)
        return sha256(words.encode("utf-8", "surrogatepass")).hexdigest()

    async def _sent(self, messages: Sequence[BaseMessage], options: Mapping[str, Any]) -> AIMessage:
        try:
            # As extra_body the answer comes back as it is; otherwise a cut-off one is thrown away unread.
            message = await self.client.ainvoke(list(messages), extra_body=dict(options))
        except openai.OpenAIError as error:
            raise self._translated(error) from error
        # What the client raises on a body of another shape.
        except (ValueError, TypeError, LookupError, AttributeError) as error:
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
                return Unavailable(f"{who} cannot be reached.")
            case openai.RateLimitError() if code == "insufficient_quota":
                return Refused(f"{who} says the quota is used up.")
            case openai.RateLimitError():
                return Unavailable(f"{who} is limiting requests (429).")
            case openai.AuthenticationError() | openai.PermissionDeniedError():
                return Refused(f"{who} refused the key: check OPENAI_API_KEY.")
            case openai.NotFoundError():
                return Refused(f"{who} is not there: check the model's name and the server's address.")
            case openai.APIStatusError() if error.status_code >= 500:
                return Unavailable(f"{who} failed ({error.status_code}).")
            case openai.APIStatusError():
                return NotSupported(
                    f"{who} did not take the request ({error.status_code}: {self._short(error)})."
                )
            case _:
                return Unreadable(f"{who} answered in no known format: {self._short(error)}.")

    def _short(self, error: Exception) -> str:
        """What went wrong in few words; a server that repeats the key must not make us repeat it."""
        body = getattr(error, "body", None)
        words = " ".join(str(body.get("message") if isinstance(body, dict) else error).split())
        key = self.client.openai_api_key
        if isinstance(key, SecretStr) and key.get_secret_value():
            words = words.replace(key.get_secret_value(), "***")
        return words[:160].rstrip(".")


def _said(message: AIMessage) -> str:
    """The text of a reply, wherever the model put it."""
    if message.tool_calls:
        return json.dumps(message.tool_calls[0]["args"], ensure_ascii=False)
    if message.invalid_tool_calls:
        return message.invalid_tool_calls[0]["args"] or ""
    return message.text
