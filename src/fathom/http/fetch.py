"""Web pages fetched with care and manners.

With care: public addresses only, bounded in size, time and redirects. Every hop of a redirect is checked
again and passes the gate; no cookie is kept.

With manners: robots.txt (RFC 9309), few requests at a time, pauses between them. A host without a robots.txt
(4xx) allows everything. While its robots.txt fails (5xx, 429, no answer), the pages of the host are
Unavailable, as the RFC demands.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from importlib.metadata import version
from typing import Protocol
from urllib.parse import urljoin, urlsplit

import httpcore2
import httpx2
from protego import Protego

from fathom.concurrency import PacedLock, PerLoop
from fathom.errors import ProviderError, Refused, Unavailable, Unreadable
from fathom.http import retry_after_s
from fathom.http.client import USER_AGENT, BodyTooLarge, ClientPerLoop, read_body
from fathom.http.guard import (
    WEB_PORTS,
    GuardedBackend,
    GuardedTransport,
    HostBlocked,
    HostUnknown,
    Resolve,
    check_address,
    resolve_host,
)

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_FORBIDDEN = frozenset({401, 402, 403, 407, 451})
_BROKEN = (
    httpcore2.NetworkError,
    httpcore2.ProtocolError,
    httpcore2.ConnectionNotAvailable,
    httpx2.TransportError,
)
_MAX_WAIT_S = 24 * 3600.0
_MAX_GUARDS = 64
_ENCODINGS = ("gzip", "deflate")
_HEADERS = {
    "User-Agent": f"{USER_AGENT}/{version(USER_AGENT)}",
    "Accept": "text/html,application/xhtml+xml,application/pdf,text/markdown,text/plain;q=0.9,*/*;q=0.5",
    "Accept-Encoding": ", ".join(_ENCODINGS),
}
_KNOWN_ENCODINGS = frozenset({"", "identity", "x-gzip", *_ENCODINGS})

# Entered before every request of a redirect chain and left after it: permission and pace.
Gate = Callable[[str], AbstractAsyncContextManager[None]]


@dataclass(frozen=True)
class FetchResult:
    """What a server answered, and the address that answered in the end; header names are in lower case."""

    body: bytes
    content_type: str | None
    address: str
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


class Fetch(Protocol):
    """Gets what is behind an address, or raises a ProviderError that says why not."""

    async def __call__(self, address: str, conditions: Mapping[str, str] | None = None) -> FetchResult:
        """Return the answer; with `If-None-Match` or `If-Modified-Since` it may be an empty 304."""


def _open_gate(address: str) -> AbstractAsyncContextManager[None]:  # noqa: ARG001  a gate that lets everyone pass
    return nullcontext()


@dataclass(frozen=True)
class Fetcher:
    """Gets one address; raises Unavailable, Refused or Unreadable with a sentence that names it."""

    max_bytes: int = 10_000_000
    max_redirects: int = 5
    limit_s: float = 30.0
    is_private_allowed: bool = False
    is_proxied: bool = False  # through the proxies of the environment, which then resolve names themselves
    ports: Collection[int] = WEB_PORTS
    resolve: Resolve = resolve_host
    gate: Gate = _open_gate

    async def __call__(self, address: str, conditions: Mapping[str, str] | None = None) -> FetchResult:
        """Return the answer of an address after its redirects; waiting at the gate does not count as time."""
        try:
            return await self._follow(address, conditions or {})
        except (TimeoutError, httpcore2.TimeoutException, httpx2.TimeoutException) as error:
            raise Unavailable(f"{address} did not answer within {self.limit_s:g} s") from error
        except HostUnknown as error:
            raise Unavailable(f"{address} cannot be reached: {error}") from error
        except HostBlocked as error:
            raise Refused(f"{address} is refused: {error}") from error
        except httpx2.InvalidURL as error:
            raise Refused(f"{address} is not a web address: {error}") from error
        except BodyTooLarge:
            raise Unreadable(f"{address} is larger than {self.max_bytes:,} bytes") from None
        except httpx2.DecodingError as error:
            raise Unreadable(f"{address} is compressed wrongly: {error}") from error
        except _BROKEN as error:
            raise Unavailable(f"{address} cannot be reached: {str(error) or type(error).__name__}") from error

    async def _follow(self, address: str, conditions: Mapping[str, str]) -> FetchResult:
        at, left_s = address, self.limit_s
        for _ in range(self.max_redirects + 1):
            check_address(at)
            async with self.gate(at):
                started = time.monotonic()
                async with asyncio.timeout(left_s):
                    found = await self._request_once(at, conditions)
                left_s -= time.monotonic() - started
            if isinstance(found, FetchResult):
                return found
            at = _join_redirect(at, found)
        raise Unreadable(f"{address} redirects more than {self.max_redirects} times")

    async def _request_once(self, at: str, conditions: Mapping[str, str]) -> FetchResult | str:
        """Send one request; return its answer, or the place where to ask instead."""
        guard = (self.resolve, self.is_private_allowed, frozenset(self.ports), self.is_proxied)
        transport = await _transports(*guard)()
        asked = [(name.encode(), value.encode()) for name, value in {**_HEADERS, **conditions}.items()]
        response = await transport.handle_async_request(httpx2.Request("GET", at, headers=asked))
        try:
            status, headers = response.status_code, response.headers
            if status in _REDIRECTS and "Location" in headers:
                return headers["Location"]
            is_same = status == 304 and bool(conditions)
            if not is_same:
                _check_status(response, at)
                _check_encoding(headers.get("Content-Encoding", ""), at)
            body = b"" if is_same else await read_body(response, self.max_bytes)
            return FetchResult(body, headers.get("Content-Type"), at, status, dict(headers.items()))
        finally:
            await response.aclose()


@lru_cache(_MAX_GUARDS)
def _transports(
    resolve: Resolve, is_private_allowed: bool, ports: frozenset[int], is_proxied: bool
) -> ClientPerLoop[GuardedTransport]:
    """Return the connections under one guard: pages and robots.txt share them."""
    backend = GuardedBackend(resolve, is_private_allowed=is_private_allowed, ports=ports)
    return ClientPerLoop(lambda tls: GuardedTransport(tls, backend, is_proxied=is_proxied))


def _join_redirect(at: str, place: str) -> str:
    try:
        return urljoin(at, place)
    except ValueError:
        raise Refused(f"{at} leads to {place[:200]}, which is not a web address") from None


def _check_encoding(encoding: str, address: str) -> None:
    if not all(name.strip().lower() in _KNOWN_ENCODINGS for name in encoding.split(",")):
        raise Unreadable(f"{address} came in an encoding that was not asked for ({encoding[:50]})")


def _check_status(response: httpx2.Response, address: str) -> None:
    status = response.status_code
    if status in {200, 203}:
        return
    said = f"{address} answered {status} {response.reason_phrase}".rstrip()
    if status == 429 or status >= 500:
        wait_s = retry_after_s(response.headers.get("Retry-After"))
        wait_s = None if wait_s is None else min(wait_s, _MAX_WAIT_S)
        raise Unavailable(said, wait_s=wait_s, status=status)
    error = Refused(said) if status in _FORBIDDEN else Unreadable(said)
    error.status = status
    raise error


_MAX_HOSTS = 1_000
_RULES_KEPT_S = 24 * 3600.0  # the RFC's maximum
_FAILURE_KEPT_S = 1.0  # so that the pages of one round share one failure
_MAX_RULES_CHARS = 512_000  # the RFC demands at least 500 KiB
_SHORT_RULES_CHARS = 1_000
_LONGEST_PAUSE_S = 10.0


class _Host:
    def __init__(self, name: str, at_once: int) -> None:
        self.places = PerLoop(lambda: asyncio.Semaphore(at_once))
        self.starts = PacedLock(f"host {name}")


class HostLimiter:
    """Limits fetches: at most `at_once` per host in a loop, with `pause_s` between two starts."""

    def __init__(self, *, at_once: int = 2, pause_s: float = 0.5) -> None:
        self._pause_s = pause_s
        self._host = lru_cache(_MAX_HOSTS)(partial(_Host, at_once=at_once))

    @asynccontextmanager
    async def turn(self, address: str, *, pause_s: float = 0.0, is_rare: bool = False) -> AsyncIterator[None]:
        """Wait until the address's host may be asked; a host may demand a longer pause.

        After a rare request, such as one for robots.txt, there is no pause.
        """
        host = self._host(urlsplit(address).netloc.lower())
        async with host.places():
            async with host.starts.turn(0.0 if is_rare else max(pause_s, self._pause_s)):
                pass  # only the starts take turns, not the whole requests
            yield


@dataclass
class _HostRules:
    """The last answer of a host, and until when it is valid."""

    asking: PerLoop[asyncio.Lock] = field(default_factory=lambda: PerLoop(asyncio.Lock))
    until: float = float("-inf")
    said: Protego | None = None  # None: everything is allowed
    failure: Unavailable | None = None


class RobotsRules:
    """The robots.txt rules of hosts, fetched once a day."""

    def __init__(self, fetch: Fetch, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._fetch = fetch
        self._clock = clock
        self._rules = lru_cache(_MAX_HOSTS)(lambda _origin: _HostRules())

    async def pause_s(self, address: str) -> float:
        """Return the pause the host demands, up to ten seconds; raise Refused if it disallows the page."""
        parts = urlsplit(address)
        rules = self._rules(f"{parts.scheme}://{parts.netloc.lower()}")
        async with rules.asking():
            if self._clock() >= rules.until:
                await self._ask(rules, f"{parts.scheme}://{parts.netloc}/robots.txt")
        if rules.failure:
            raise Unavailable(
                f"{address} was not fetched, since its robots.txt could not be read: {rules.failure}"
            ) from rules.failure
        if rules.said is None:
            return 0.0
        if not rules.said.can_fetch(address, USER_AGENT):
            raise Refused(f"robots.txt of {parts.hostname} does not allow {address} to be read")
        return min(max(0.0, rules.said.crawl_delay(USER_AGENT) or 0.0), _LONGEST_PAUSE_S)

    async def _ask(self, rules: _HostRules, place: str) -> None:
        rules.failure, rules.said, kept_s = None, None, _RULES_KEPT_S
        try:
            body = (await self._fetch(place)).body
        except Unavailable as error:
            rules.failure, kept_s = error, _FAILURE_KEPT_S
        except ProviderError:
            pass  # no robots.txt, or an unreadable one: everything is allowed
        else:
            text = body.decode("utf-8", "replace")[:_MAX_RULES_CHARS]
            is_short = len(text) <= _SHORT_RULES_CHARS  # parsed faster than a thread starts
            rules.said = Protego.parse(text) if is_short else await asyncio.to_thread(Protego.parse, text)
        rules.until = self._clock() + kept_s


@dataclass(frozen=True)
class RobotsGate:
    """Checks robots.txt, then waits for the host limiter."""

    robots: RobotsRules
    hosts: HostLimiter

    @asynccontextmanager
    async def turn(self, address: str) -> AsyncIterator[None]:
        """Wait until the address may be fetched; raise Refused if it may not."""
        wanted_s = await self.robots.pause_s(address)
        async with self.hosts.turn(address, pause_s=wanted_s):
            yield


_MAX_ROBOTS_BYTES = 2_000_000


def make_polite(
    fetcher: Fetcher, *, at_once: int = 2, pause_s: float = 0.5, is_robots_obeyed: bool = True
) -> Fetcher:
    """The same fetcher with manners; it remembers hosts, so make it once a process."""
    hosts = HostLimiter(at_once=at_once, pause_s=pause_s)
    if not is_robots_obeyed:
        return replace(fetcher, gate=hosts.turn)
    robots = RobotsRules(
        replace(fetcher, gate=partial(hosts.turn, is_rare=True), max_bytes=_MAX_ROBOTS_BYTES)
    )
    return replace(fetcher, gate=RobotsGate(robots, hosts).turn)
