"""The connections of one fetch: one to an origin, all under one guard, used again while the server stays.

HTTP/2 where the server has it, else HTTP/1.1. Does not know redirects, nor what an answer means.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass
from ssl import SSLContext
from typing import Protocol

import httpcore2
import httpx2

from fathom.exchange import Answer, head_of
from fathom.sockets import Sockets, Stream

PROTOCOLS = ["h2", "http/1.1"]  # what certificates must offer
_PORTS = {b"http": 80, b"https": 443}
_AT_A_TIME = 64 * 1024
_Origin = tuple[bytes, bytes, int]
_Headers = Sequence[tuple[bytes, bytes]]


@dataclass(frozen=True)
class Reply:
    """The beginning of an answer; `part` gives some more of its body, and nothing at its end."""

    status: int
    words: str
    headers: httpx2.Headers
    part: Callable[[], Awaitable[bytes]]


class _Line(Protocol):
    @property
    def is_free(self) -> bool:
        """Whether a further request can be sent on it."""

    def get(self, url: httpx2.URL, headers: _Headers) -> AbstractAsyncContextManager[Reply]:
        """The answer to a GET."""

    async def aclose(self) -> None:
        """Hang up."""


class Lines:
    """For requests one after another; whoever made it closes it."""

    def __init__(self, sockets: Sockets, certificates: SSLContext) -> None:
        self._sockets = sockets
        self._certificates = certificates
        self._open: dict[_Origin, _Line] = {}

    @asynccontextmanager
    async def get(self, url: httpx2.URL, headers: _Headers) -> AsyncIterator[Reply]:
        """The answer to a GET, as soon as it has begun."""
        line = await self._line((url.raw_scheme, url.raw_host, url.port or _PORTS[url.raw_scheme]))
        async with line.get(url, [(b"Host", url.netloc), *headers]) as reply:
            yield reply

    async def aclose(self) -> None:
        """Hang up."""
        while self._open:
            await self._open.popitem()[1].aclose()

    async def _line(self, origin: _Origin) -> _Line:
        if line := self._open.get(origin):
            if line.is_free:
                return line
            await self._open.pop(origin).aclose()  # the server has hung up, or its last answer was not read
        line = self._open[origin] = await self._connected(*origin)
        return line

    async def _connected(self, scheme: bytes, name: bytes, port: int) -> _Line:
        host = name.decode("ascii")
        stream = await self._sockets.connect_tcp(host, port)
        if scheme != b"https":
            return _First(stream)
        stream = await stream.start_tls(self._certificates, host)
        is_second = stream.get_extra_info("ssl_object").selected_alpn_protocol() == "h2"
        return _Second(stream, httpcore2.Origin(scheme, name, port)) if is_second else _First(stream)


class _First:
    """HTTP/1.1."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._answer: Answer | None = None

    @property
    def is_free(self) -> bool:
        """Whether the last answer was read to its end, and the server stays."""
        last = self._answer
        return (last is None or (last.is_done and not last.is_last)) and not self._stream.is_spent

    @asynccontextmanager
    async def get(self, url: httpx2.URL, headers: _Headers) -> AsyncIterator[Reply]:
        answer = self._answer = Answer()
        with suppress(
            httpcore2.WriteError
        ):  # a server that hangs up while it is written to may have said why
            await self._stream.write(head_of("GET", url.raw_path, headers))
        while not answer.is_headed:
            answer.take(await self._stream.read(_AT_A_TIME))

        async def part() -> bytes:
            while not (found := answer.part()) and not answer.is_done:
                answer.take(await self._stream.read(_AT_A_TIME))
            return found

        yield Reply(
            answer.status, answer.reason.decode("ascii", "ignore"), httpx2.Headers(answer.headers), part
        )

    async def aclose(self) -> None:
        await self._stream.aclose()


class _Second:
    """HTTP/2, which has no words for a status."""

    def __init__(self, stream: Stream, origin: httpcore2.Origin) -> None:
        self._connection = httpcore2.AsyncHTTP2Connection(origin, stream)

    @property
    def is_free(self) -> bool:
        """Whether the server stays."""
        return self._connection.is_available() and not self._connection.has_expired()

    @asynccontextmanager
    async def get(self, url: httpx2.URL, headers: _Headers) -> AsyncIterator[Reply]:
        place = httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)
        response = await self._connection.handle_async_request(
            httpcore2.Request("GET", place, headers=headers)
        )
        parts = response.aiter_stream()

        async def part() -> bytes:
            while (found := await anext(parts, None)) == b"":
                pass  # a frame of nothing
            return found or b""

        try:
            words = httpx2.codes.get_reason_phrase(response.status)
            yield Reply(response.status, words, httpx2.Headers(response.headers), part)
        finally:
            await parts.aclose()
            await response.aclose()

    async def aclose(self) -> None:
        await self._connection.aclose()
