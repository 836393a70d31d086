"""Web pages fetched with care: public addresses only, bounded in size, time and redirects.

Every hop is checked again, decompression is bounded, nothing is remembered between calls, and no proxy from
the environment is used because it would connect on our behalf. Does not know what the bytes mean, and does
not retry.
"""

import asyncio
import zlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from ssl import SSLContext
from urllib.parse import urljoin

import httpcore2
import httpx2

from fathom.errors import Refused, Unavailable, Unreadable
from fathom.reading.guard import (
    GuardedBackend,
    HostBlocked,
    HostUnknown,
    Resolve,
    check_address,
    resolve_host,
)

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_FORBIDDEN = frozenset({401, 402, 403, 407, 451})
_MAX_WAIT_S = 24 * 3600.0
_ACCEPTED = "text/html,application/xhtml+xml,application/pdf,text/markdown,text/plain;q=0.9,*/*;q=0.5"


@dataclass(frozen=True)
class Fetched:
    """What a server answered, and the address that answered in the end."""

    body: bytes
    content_type: str | None
    address: str


@dataclass(frozen=True)
class Fetcher:
    """Gets one address; raises Unavailable, Refused or Unreadable with a sentence that names it."""

    max_bytes: int = 10_000_000
    max_redirects: int = 5
    limit_s: float = 30.0
    is_private_allowed: bool = False
    resolve: Resolve = resolve_host

    async def __call__(self, address: str) -> Fetched:
        """The body behind an address, after its redirects."""
        agent, certificates = await asyncio.to_thread(_identity)
        try:
            async with asyncio.timeout(self.limit_s), self._client(agent, certificates) as client:
                return await self._follow(client, address)
        except (TimeoutError, httpx2.TimeoutException) as error:
            raise Unavailable(f"{address} did not answer within {self.limit_s:g} s") from error
        except HostUnknown as error:
            raise Unavailable(f"{address} cannot be reached: {error}") from error
        except HostBlocked as error:
            raise Refused(f"{address} is refused: {error}") from error
        except httpx2.InvalidURL as error:
            raise Refused(f"{address} is not a web address: {error}") from error
        except httpx2.TransportError as error:
            raise Unavailable(f"{address} cannot be reached: {error or type(error).__name__}") from error

    def _client(self, agent: str, certificates: SSLContext) -> httpx2.AsyncClient:
        transport = httpx2.AsyncHTTPTransport(verify=certificates, trust_env=False)
        # httpx2's transport has no argument for the network backend; a test watches over this.
        transport._pool = httpcore2.AsyncConnectionPool(
            ssl_context=certificates,
            http2=True,
            network_backend=GuardedBackend(self.resolve, is_private_allowed=self.is_private_allowed),
        )
        headers = {"User-Agent": agent, "Accept": _ACCEPTED, "Accept-Encoding": "gzip, deflate"}
        return httpx2.AsyncClient(transport=transport, headers=headers, timeout=self.limit_s, trust_env=False)

    async def _follow(self, client: httpx2.AsyncClient, address: str) -> Fetched:
        at = address
        for _ in range(self.max_redirects + 1):
            check_address(at)
            client.cookies.clear()
            async with client.stream("GET", at, follow_redirects=False) as response:
                if response.status_code in _REDIRECTS and "Location" in response.headers:
                    at = urljoin(at, response.headers["Location"])
                    continue
                _check_status(response, at)
                body = await self._body(response, at)
                return Fetched(body=body, content_type=response.headers.get("Content-Type"), address=at)
        raise Unreadable(f"{address} redirects more than {self.max_redirects} times")

    async def _body(self, response: httpx2.Response, address: str) -> bytes:
        body = bytearray()
        async for part in _decompressed(response, address, self.max_bytes):
            body += part
            if len(body) > self.max_bytes:
                raise Unreadable(f"{address} is larger than {self.max_bytes:,} bytes")
        return bytes(body)


async def _decompressed(response: httpx2.Response, address: str, max_bytes: int) -> AsyncIterator[bytes]:
    """The body in parts no larger than the limit, whatever a compressed byte may expand to."""
    encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding in {"", "identity"}:
        async for raw in response.aiter_raw():
            yield raw
        return
    if encoding not in {"gzip", "x-gzip", "deflate"}:
        raise Unreadable(f"{address} came in an encoding that was not asked for ({encoding})")
    decoder = zlib.decompressobj(zlib.MAX_WBITS | 32)  # 32: gzip or zlib, whichever the header shows
    try:
        async for raw in response.aiter_raw():
            yield decoder.decompress(raw, max_bytes + 1)
    except zlib.error as error:
        raise Unreadable(f"{address} is compressed wrongly: {error}") from error


def _check_status(response: httpx2.Response, address: str) -> None:
    status = response.status_code
    if status in {200, 203}:
        return
    said = f"{address} answered {status} {response.reason_phrase}".rstrip()
    if status == 429 or status >= 500:
        raise Unavailable(said, wait_s=_wait_s(response.headers.get("Retry-After")))
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


@cache
def _identity() -> tuple[str, SSLContext]:
    """How we name ourselves and whom we trust; both are read from files, so call it in a thread."""
    try:
        release = version("fathom-research")
    except PackageNotFoundError:
        release = "unknown"
    return f"fathom-research/{release}", httpx2.create_ssl_context()
