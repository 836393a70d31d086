"""Web pages fetched with care: public addresses only, bounded in size, time and redirects.

Every hop is checked again and passes the gate, decompression is bounded, nothing is remembered between calls,
and no proxy from the environment is used because it would connect on our behalf. Does not know what the bytes
mean, and does not retry.
"""

import asyncio
import time
import zlib
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from ssl import SSLContext
from typing import Protocol
from urllib.parse import urljoin

import httpcore2
import httpx2

from fathom.errors import Refused, Unavailable, Unreadable
from fathom.once import Once
from fathom.reading.guard import (
    WEB_PORTS,
    GuardedBackend,
    HostBlocked,
    HostUnknown,
    Resolve,
    check_address,
    resolve_host,
)
from fathom.reading.lines import PROTOCOLS, Lines, Reply

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_FORBIDDEN = frozenset({401, 402, 403, 407, 451})
_BROKEN = (
    httpcore2.NetworkError,
    httpcore2.ProtocolError,
    httpcore2.ConnectionNotAvailable,
    httpx2.ProtocolError,
)
_MAX_WAIT_S = 24 * 3600.0
_ACCEPTED = "text/html,application/xhtml+xml,application/pdf,text/markdown,text/plain;q=0.9,*/*;q=0.5"
AGENT = "fathom-research"  # the product in User-Agent, and who we are to robots.txt

# Entered before every request of a chain of redirects and left after it: who may ask, and when.
Gate = Callable[[str], AbstractAsyncContextManager[None]]


@dataclass(frozen=True)
class Fetched:
    """What a server answered, and the address that answered in the end; header names are in lower case."""

    body: bytes
    content_type: str | None
    address: str
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


_around: ContextVar[tuple[object, Lines] | None] = ContextVar("fetch", default=None)


class Fetch(Protocol):
    """Gets what is behind an address, or raises a ProviderError that says why not."""

    async def __call__(self, address: str, conditions: Mapping[str, str] | None = None) -> Fetched:
        """The answer; with `If-None-Match` or `If-Modified-Since` it may be an empty 304."""


def _open(address: str) -> AbstractAsyncContextManager[None]:  # noqa: ARG001  a gate that lets everyone pass
    return nullcontext()


@dataclass(frozen=True)
class Fetcher:
    """Gets one address; raises Unavailable, Refused or Unreadable with a sentence that names it."""

    max_bytes: int = 10_000_000
    max_redirects: int = 5
    limit_s: float = 30.0
    is_private_allowed: bool = False
    ports: Collection[int] = WEB_PORTS
    resolve: Resolve = resolve_host
    gate: Gate = _open

    async def __call__(self, address: str, conditions: Mapping[str, str] | None = None) -> Fetched:
        """The answer of an address after its redirects; waiting at the gate does not count as time."""
        try:
            async with self._connected() as lines:
                return await self._follow(lines, address, conditions or {})
        except (TimeoutError, httpcore2.TimeoutException) as error:
            raise Unavailable(f"{address} did not answer within {self.limit_s:g} s") from error
        except HostUnknown as error:
            raise Unavailable(f"{address} cannot be reached: {error}") from error
        except HostBlocked as error:
            raise Refused(f"{address} is refused: {error}") from error
        except httpx2.InvalidURL as error:
            raise Refused(f"{address} is not a web address: {error}") from error
        except _BROKEN as error:
            raise Unavailable(f"{address} cannot be reached: {str(error) or type(error).__name__}") from error

    @cached_property
    def _backend(self) -> GuardedBackend:
        return GuardedBackend(self.resolve, is_private_allowed=self.is_private_allowed, ports=self.ports)

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[Lines]:
        """Connections of this fetch alone, also for what its gate asks of the host under the same guard."""
        guard = (self.resolve, self.is_private_allowed, frozenset(self.ports), self.limit_s)
        around = _around.get()
        if around and around[0] == guard:
            yield around[1]
            return
        lines = Lines(self._backend, (await _identity())[1])
        token = _around.set((guard, lines))
        try:
            yield lines
        finally:
            _around.reset(token)
            await lines.aclose()

    async def _follow(self, lines: Lines, address: str, conditions: Mapping[str, str]) -> Fetched:
        at, left_s = address, self.limit_s
        for _ in range(self.max_redirects + 1):
            check_address(at)
            async with self.gate(at):
                started = time.monotonic()
                async with asyncio.timeout(left_s):
                    found = await self._hop(lines, at, conditions)
                left_s -= time.monotonic() - started
            if isinstance(found, Fetched):
                return found
            at = _joined(at, found)
        raise Unreadable(f"{address} redirects more than {self.max_redirects} times")

    async def _hop(self, lines: Lines, at: str, conditions: Mapping[str, str]) -> Fetched | str:
        """What one request brings: an answer, or where to ask instead."""
        asked = [*(await _identity())[0], *((n.encode(), value.encode()) for n, value in conditions.items())]
        async with lines.get(httpx2.URL(at), asked) as reply:
            status, headers = reply.status, reply.headers
            if status in _REDIRECTS and "Location" in headers:
                return headers["Location"]
            is_same = status == 304 and bool(conditions)
            if not is_same:
                _check_status(reply, at)
            body = b"" if is_same else await self._body(reply, at)
            return Fetched(body, headers.get("Content-Type"), at, status, dict(headers.items()))

    async def _body(self, reply: Reply, address: str) -> bytes:
        """All of it, never in parts larger than the limit, whatever a compressed byte may expand to."""
        decoder = _decoder(reply.headers.get("Content-Encoding", "identity").strip().lower(), address)
        body, taken = bytearray(), 0
        try:
            while raw := await reply.part():
                taken += len(raw)  # counted too: what follows a compressed page unpacks to nothing
                body += decoder.decompress(raw, self.max_bytes + 1) if decoder else raw
                if max(taken, len(body)) > self.max_bytes:
                    raise Unreadable(f"{address} is larger than {self.max_bytes:,} bytes")
        except zlib.error as error:
            raise Unreadable(f"{address} is compressed wrongly: {error}") from error
        if decoder and not decoder.eof:
            raise Unreadable(f"{address} is compressed wrongly: it breaks off")
        return bytes(body)


def _joined(at: str, place: str) -> str:
    try:
        return urljoin(at, place)
    except ValueError:
        raise Refused(f"{at} leads to {place[:200]}, which is not a web address") from None


def _decoder(encoding: str, address: str) -> "zlib._Decompress | None":
    if encoding in {"", "identity"}:
        return None
    if encoding not in {"gzip", "x-gzip", "deflate"}:
        raise Unreadable(f"{address} came in an encoding that was not asked for ({encoding})")
    return zlib.decompressobj(zlib.MAX_WBITS | 32)  # 32: gzip or zlib, whichever the header shows


def _check_status(reply: Reply, address: str) -> None:
    status = reply.status
    if status in {200, 203}:
        return
    said = f"{address} answered {status} {reply.words}".rstrip()
    if status == 429 or status >= 500:
        raise Unavailable(said, wait_s=_wait_s(reply.headers.get("Retry-After")))
    if status in _FORBIDDEN:
        raise Refused(said)
    raise Unreadable(said)


def _wait_s(retry_after: str | None) -> float | None:
    if retry_after is None:
        return None
    if retry_after.strip().isdecimal():
        return min(float(retry_after), _MAX_WAIT_S)
    try:
        until = parsedate_to_datetime(retry_after)
    except ValueError:
        return None
    until = until if until.tzinfo else until.replace(tzinfo=UTC)
    return min(max(0.0, (until - datetime.now(UTC)).total_seconds()), _MAX_WAIT_S)


@Once
def _identity() -> tuple[list[tuple[bytes, bytes]], SSLContext]:
    """What we say of ourselves in every request, and whom we trust; both are read from files."""
    try:
        release = version(AGENT)
    except PackageNotFoundError:
        release = "unknown"
    said = {
        "Connection": "keep-alive",
        "User-Agent": f"{AGENT}/{release}",
        "Accept": _ACCEPTED,
        "Accept-Encoding": "gzip, deflate",
    }
    certificates = httpx2.create_ssl_context()
    certificates.set_alpn_protocols(PROTOCOLS)
    return [(name.encode(), value.encode()) for name, value in said.items()], certificates
