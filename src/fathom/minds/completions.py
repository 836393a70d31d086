"""Chat completions as langchain-openai asks for them, read as plain JSON.

Does not know prompts. The openai client checks every message it sends and every field of an answer against
its own types, which takes longer than all the rest of a call; langchain-openai makes plain JSON of it again.
https://github.com/openai/openai-python#undocumented-endpoints
"""

from dataclasses import dataclass
from typing import Any, Self

import httpx2
from openai import AsyncOpenAI


@dataclass(frozen=True)
class Completions:
    """What langchain-openai uses of `client.chat.completions`."""

    client: AsyncOpenAI

    @property
    def with_raw_response(self) -> Self:
        """The same: its answers are raw."""
        return self

    async def create(self, *, extra_body: dict[str, Any] | None = None, **payload: Any) -> Any:
        """The answer with its headers; one that comes in pieces is the openai client's."""
        if payload.get("stream"):
            whole = self.client.chat.completions.with_raw_response
            return await whole.create(extra_body=extra_body, **payload)
        answer = await self.client.post(
            "/chat/completions",
            cast_to=httpx2.Response,
            body={**payload, **(extra_body or {})},
            options={"security": {"bearer_auth": True}},
        )
        return Raw(answer)


@dataclass(frozen=True)
class Raw:
    """An answer as it came."""

    http_response: httpx2.Response

    @property
    def headers(self) -> httpx2.Headers:
        """What the server said beside it."""
        return self.http_response.headers

    def parse(self) -> Any:
        """What is in it; its words, if it is no JSON."""
        try:
            return self.http_response.json()
        except (ValueError, RecursionError):
            return self.http_response.text
