"""Chat completions as langchain-openai asks for them, read as plain JSON.

Does not know prompts. The openai client checks every message it sends and every field of an answer against
its own types, and makes address and headers anew for each call, which takes longer than all the rest of a
call. So it is asked once how it would ask, and all requests go to the same place in the same envelope.
https://github.com/openai/openai-python#undocumented-endpoints
"""

import json
import ssl
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Self

import httpx2
import openai
from openai import AsyncOpenAI

from fathom.lanes import TooMuch
from fathom.llm.bodies import Misshapen

_REFUSALS: dict[int, type[openai.APIStatusError]] = {
    400: openai.BadRequestError,
    401: openai.AuthenticationError,
    403: openai.PermissionDeniedError,
    404: openai.NotFoundError,
    409: openai.ConflictError,
    422: openai.UnprocessableEntityError,
    429: openai.RateLimitError,
}
_FAILED = 500
MOST_BYTES = 16 * 1024 * 1024  # of an answer: far more than any model says, and less than a memory holds


@dataclass(frozen=True)
class Envelope:
    """What a client's requests have in common: where they go, and what is said beside them."""

    url: httpx2.URL
    headers: httpx2.Headers
    extensions: dict[str, Any]

    @classmethod
    async def of(cls, client: AsyncOpenAI) -> Self:
        """That of a client: a request of its own, caught before it leaves."""
        caught = _Caught()
        async with httpx2.AsyncClient(transport=caught, trust_env=False) as http:
            await client.with_options(http_client=http).post(
                "/chat/completions",
                cast_to=httpx2.Response,
                body={},
                options={"security": {"bearer_auth": True}},
            )
        (request,) = caught.requests
        headers = request.headers.copy()
        del headers["content-length"]
        return cls(request.url, headers, request.extensions)

    def around(self, body: dict[str, Any], cookies: httpx2.Cookies) -> httpx2.Request:
        """A request with this body, spelt as the openai client spells it."""
        words = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        return httpx2.Request(
            "POST",
            self.url,
            headers=self.headers,
            cookies=cookies,
            content=words.encode(),
            extensions=dict(self.extensions),
        )


@dataclass(frozen=True)
class Completions:
    """What langchain-openai uses of `client.chat.completions`, of a client that does not try again itself."""

    client: AsyncOpenAI
    http: httpx2.AsyncClient  # which the client sends with
    envelope: Envelope

    @property
    def with_raw_response(self) -> Self:
        """The same: its answers are raw."""
        return self

    async def create(self, *, extra_body: dict[str, Any] | None = None, **payload: Any) -> Any:
        """The answer with its headers; one that comes in pieces is the openai client's."""
        if payload.get("stream"):
            whole = self.client.chat.completions.with_raw_response
            return await whole.create(extra_body=extra_body, **payload)
        body = {**payload, **(extra_body or {})}
        return Raw(await self._sent(self.envelope.around(body, self.http.cookies)))

    async def _sent(self, request: httpx2.Request) -> httpx2.Response:
        """A good answer, or the error that the openai client would raise."""
        try:
            answer = await self.http.send(request)
        except TooMuch as error:
            raise Misshapen(f"it is longer than {MOST_BYTES:,} bytes") from error
        except httpx2.TimeoutException as error:
            raise openai.APITimeoutError(request=request) from error
        except (httpx2.RequestError, ssl.SSLError) as error:
            raise openai.APIConnectionError(request=request) from error
        if not answer.is_success:
            raise _refused(answer)
        return answer


class _Caught(httpx2.AsyncBaseTransport):
    """Keeps what is sent, and says that all is well."""

    def __init__(self) -> None:
        self.requests: list[httpx2.Request] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        return httpx2.Response(httpx2.codes.OK, json={})


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


def _refused(answer: httpx2.Response) -> openai.APIStatusError:
    status, told = answer.status_code, f"Error code: {answer.status_code}"
    body: Any = answer.text.strip()
    with suppress(ValueError, RecursionError):
        body = json.loads(body)
    if isinstance(body, dict):
        body = body.get("error", body)
        said = body.get("message") if isinstance(body, dict) else None
        told += f" - {said}" if said and isinstance(said, str) else ""
    otherwise = openai.InternalServerError if status >= _FAILED else openai.APIStatusError
    return _REFUSALS.get(status, otherwise)(told, response=answer, body=body)
