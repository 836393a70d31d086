"""The HTTP client of search engines: one for each event loop, with connections that are kept alive.

The proxies of the environment are honoured (`HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY`, `NO_PROXY`), but never
for this machine itself.
"""

import asyncio
import functools
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, Generic, Protocol, TypeVar
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx2

from fathom.concurrency import PerLoop
from fathom.errors import Refused

USER_AGENT = "fathom-research"  # the product in User-Agent, and who we are to robots.txt
_HERE = ("localhost", "127.0.0.1", "::1")  # never asked through a proxy
LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "[::1]")
_LIMITS = httpx2.Limits(max_connections=100, max_keepalive_connections=20, keepalive_expiry=15.0)
_FRAMING_HEADERS = frozenset({b"content-encoding", b"content-length", b"transfer-encoding"})


class BodyTooLarge(Exception):
    """An answer is longer than it may be, as it came or unpacked; the rest of it was not read."""


@functools.cache
def tls_context() -> ssl.SSLContext:
    """Return the trusted certificates, read from disk once per process."""
    return httpx2.create_ssl_context()


async def load_tls_context() -> ssl.SSLContext:
    """Return the same without blocking the event loop, also the first time."""
    is_loaded = tls_context.cache_info().currsize
    return tls_context() if is_loaded else await asyncio.to_thread(tls_context)


class _Closeable(Protocol):
    async def aclose(self) -> None:
        """Close what is open."""


C = TypeVar("C", bound=_Closeable)


class ClientPerLoop(Generic[C]):
    """One client for each event loop, made when first asked for, closed when its loop ends."""

    def __init__(self, make: Callable[[ssl.SSLContext], C]) -> None:
        self._make = make
        self._owned: PerLoop[dict[str, AsyncGenerator[C, None]]] = PerLoop(dict)
        self._made: PerLoop[dict[str, C]] = PerLoop(dict)

    async def __call__(self) -> C:
        """Return the client of the running loop."""
        made = self._made()
        if "client" not in made:
            tls = await load_tls_context()
            if "client" not in made:  # no other task made it meanwhile
                owner = self._owned()["client"] = self._hold_client(made, tls)
                await anext(owner)
        return made["client"]

    async def _hold_client(self, made: dict[str, C], tls: ssl.SSLContext) -> AsyncGenerator[C, None]:
        """Hold the client: before a loop is closed, asyncio closes the generators that began in it."""
        client = made["client"] = self._make(tls)
        try:
            yield client
        finally:
            del made["client"]
            await client.aclose()


def _make_client(tls: ssl.SSLContext) -> httpx2.AsyncClient:
    nothing = CookieJar(DefaultCookiePolicy(allowed_domains=()))
    try:
        return httpx2.AsyncClient(
            verify=tls,
            limits=_LIMITS,
            cookies=nothing,
            mounts={f"all://{host}": None for host in LOOPBACK_HOSTS},
        )
    except (ValueError, httpx2.InvalidURL):  # its words may show a password
        raise Refused("HTTP_PROXY, HTTPS_PROXY or ALL_PROXY is not the address of a proxy") from None


shared_client = ClientPerLoop(_make_client)


def environment_proxy(url: str) -> str | None:
    """Return the proxy that the environment names for an address, if it names one."""
    parts, proxies = urlsplit(url), getproxies()
    found = proxies.get(parts.scheme) or proxies.get("all")
    if not found or (parts.hostname or "") in _HERE or proxy_bypass(parts.netloc):
        return None
    return found if "://" in found else f"http://{found}"


async def send_request(method: str, url: str, *, max_bytes: int, **words: Any) -> httpx2.Response:
    """Return an answer that was read whole; TooLarge when it is longer than `max_bytes`."""
    client = await shared_client()
    async with client.stream(method, url, **words) as response:
        body = await read_body(response, max_bytes)
    kept = [(name, value) for name, value in response.headers.raw if name.lower() not in _FRAMING_HEADERS]
    return httpx2.Response(response.status_code, headers=kept, content=body, request=response.request)


async def read_body(response: httpx2.Response, max_bytes: int) -> bytes:
    """Return the body, unpacked; neither what comes nor what it unpacks to may be longer than `max_bytes`."""
    assert isinstance(response.stream, httpx2.AsyncByteStream)
    response.stream = _BoundedStream(response.stream, max_bytes)
    body = bytearray()
    async with aclosing(response.aiter_bytes()) as pieces:
        async for piece in pieces:  # of one mebibyte at most, whatever a compressed byte may expand to
            body += piece
            if len(body) > max_bytes:
                raise BodyTooLarge
    return bytes(body)


class _BoundedStream(httpx2.AsyncByteStream):
    """The bytes as they come, counted: what follows a compressed body unpacks to nothing."""

    def __init__(self, stream: httpx2.AsyncByteStream, max_bytes: int) -> None:
        self._stream = stream
        self._left = max_bytes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._stream:
            self._left -= len(piece)
            if self._left < 0:
                raise BodyTooLarge
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()
