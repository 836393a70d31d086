"""Connections without a common pool: every request on its way has one to itself, taken again by later ones.

Does not know what is sent. httpcore's pool looks at all of its connections, and asks the kernel about each
idle one, whenever a request starts or ends: with many calls at once that costs more than the calls.
"""

import time
from collections import defaultdict, deque
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, suppress
from ssl import SSLContext
from types import TracebackType
from typing import Protocol

import httpcore2
import httpx2

from fathom.exchange import Answer, head_of
from fathom.sockets import Sockets, Stream

_Origin = tuple[str, bytes, int]
_PORTS = {"http": 80, "https": 443}
_AT_A_TIME = 64 * 1024


class TooMuch(httpx2.ReadError):
    """The answer is longer than it may be; the rest of it was not taken in."""


class Connects(Protocol):
    """Whoever makes connections."""

    async def connect_tcp(self, host: str, port: int, timeout: float | None = None) -> Stream:  # noqa: ASYNC109
        """One connection."""


class Lanes(httpx2.AsyncBaseTransport):
    """A transport for HTTP/1.1; for one event loop."""

    def __init__(
        self,
        verify: SSLContext,
        *,
        sockets: Connects | None = None,
        idle_s: float = 5.0,  # as httpx2 has it
        most_idle: int = 100,
        most_bytes: float = float("inf"),  # of an answer
    ) -> None:
        self.most_bytes = most_bytes
        self._verify = verify
        self._verify.set_alpn_protocols(["http/1.1"])
        self._sockets = sockets or Sockets()
        self._idle_s = idle_s
        self._most_idle = most_idle
        self._idle: defaultdict[_Origin, deque[tuple[float, Stream]]] = defaultdict(deque)
        self._is_closed = False

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """The answer; its connection is free again when the answer is closed."""
        limits = request.extensions.get("timeout", {})
        origin = _origin(request.url)
        with _AS_HTTPX:
            stream = self._taken(origin) or await self._connected(origin, limits.get("connect"))
        body = _Body(self, origin, stream, limits.get("read"))
        response = None
        try:
            response = await body.asked(request, limits.get("write"))
            return response
        finally:
            if response is None:
                stream.abort()

    async def aclose(self) -> None:
        """Close what is idle now, and what is on its way as soon as it is back."""
        self._is_closed = True
        while self._idle:
            _, idle = self._idle.popitem()
            while idle:
                await idle.pop()[1].aclose()

    def give_back(self, origin: _Origin, stream: Stream) -> None:
        """Keep a connection for later requests; the last one back goes first, the others grow old."""
        if self._is_closed:
            stream.abort()
            return
        now, idle = time.monotonic(), self._idle[origin]
        idle.append((now, stream))
        while len(idle) > self._most_idle or now - idle[0][0] > self._idle_s:
            idle.popleft()[1].abort()

    def _taken(self, origin: _Origin) -> Stream | None:
        idle, now = self._idle[origin], time.monotonic()
        while idle:
            since, stream = idle.pop()
            if now - since <= self._idle_s and not stream.is_spent:
                return stream
            stream.abort()
        return None

    async def _connected(self, origin: _Origin, timeout_s: float | None) -> Stream:
        scheme, name, port = origin
        host = name.decode("ascii")
        stream = await self._sockets.connect_tcp(host, port, timeout_s)
        return await stream.start_tls(self._verify, host, timeout_s) if scheme == "https" else stream


class _Body(httpx2.AsyncByteStream):
    """One request on one connection, and the body of its answer."""

    def __init__(self, lanes: Lanes, origin: _Origin, stream: Stream, read_s: float | None) -> None:
        self._lanes, self._origin, self._stream = lanes, origin, stream
        self._read_s = read_s
        self._answer = Answer()
        self._is_closed = False

    async def asked(self, request: httpx2.Request, write_s: float | None) -> httpx2.Response:
        """The answer as soon as its headers have come."""
        answer = self._answer = Answer(is_bodiless=request.method == "HEAD")
        head = head_of(request.method, request.url.raw_path, request.headers.raw)
        with _AS_HTTPX:
            # A server that hangs up while it is written to may have said why.
            with suppress(httpcore2.WriteError):
                await self._send(head, request, write_s)
            while not answer.is_headed:
                answer.take(await self._stream.read(_AT_A_TIME, self._read_s))
        extensions = {"http_version": b"HTTP/" + answer.version.encode(), "reason_phrase": answer.reason}
        response = _Bounded(answer.status, headers=answer.headers, stream=self, extensions=extensions)
        response.most_bytes = self._lanes.most_bytes
        return response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        while True:
            if part := self._answer.part():
                size += len(part)
                _check(size, self._lanes.most_bytes)
                yield part
            if self._answer.is_done:
                return
            with _AS_HTTPX:
                self._answer.take(await self._stream.read(_AT_A_TIME, self._read_s))

    async def aclose(self) -> None:
        """Free the connection; one that has more to say, or to hear, cannot be used again."""
        if self._is_closed:
            return
        self._is_closed = True
        if self._answer.is_done and not self._answer.is_last and self._stream.is_sent:
            self._lanes.give_back(self._origin, self._stream)
        else:
            self._stream.abort()

    async def _send(self, head: bytes, request: httpx2.Request, write_s: float | None) -> None:
        """The whole request; with a body in one piece, in one piece."""
        assert isinstance(request.stream, httpx2.AsyncByteStream)
        is_chunked = "transfer-encoding" in request.headers
        unsent = head
        async for piece in request.stream:
            if piece:
                framed = b"%x\r\n%s\r\n" % (len(piece), piece) if is_chunked else piece
                await self._stream.write(unsent + framed, write_s)
                unsent = b""
        if unsent or is_chunked:
            await self._stream.write(unsent + (b"0\r\n\r\n" if is_chunked else b""), write_s)


class _Bounded(httpx2.Response):
    """An answer that is not unpacked beyond what it may be: a little that came may become very much."""

    most_bytes: float

    async def aiter_bytes(self, chunk_size: int | None = None) -> AsyncGenerator[bytes, None]:
        """The body, unpacked piece by piece."""
        size = 0
        async with aclosing(super().aiter_bytes(chunk_size)) as pieces:
            async for piece in pieces:
                size += len(piece)
                _check(size, self.most_bytes)
                yield piece


def _check(size: int, most_bytes: float) -> None:
    if size > most_bytes:
        raise TooMuch(f"The answer is longer than {most_bytes:,} bytes.")


class _AsHttpx:
    """Errors of the connection as those that httpx2 has for them, which have the same names."""

    def __enter__(self) -> None:
        """Nothing to prepare."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, httpcore2.TimeoutException | httpcore2.NetworkError):
            found: type[httpx2.TransportError] = getattr(httpx2, type(error).__name__)
            raise found(str(error)) from error


_AS_HTTPX = _AsHttpx()


def _origin(url: httpx2.URL) -> _Origin:
    if url.scheme not in _PORTS:
        raise httpx2.UnsupportedProtocol(f"Request URL has an unsupported protocol '{url.scheme}://'.")
    return url.scheme, url.raw_host, url.port or _PORTS[url.scheme]
