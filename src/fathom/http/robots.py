"""Politeness towards hosts: robots.txt (RFC 9309), few requests at a time, pauses between them.

A host without a robots.txt (4xx) allows everything. While its robots.txt fails (5xx, 429, no answer), the
pages of the host are Unavailable, as the RFC demands.
"""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import TypeVar
from urllib.parse import urlsplit

from protego import Protego

from fathom.concurrency import PacedLock, PerLoop
from fathom.errors import ProviderError, Refused, Unavailable
from fathom.http.client import USER_AGENT
from fathom.http.fetch import Fetch

T = TypeVar("T")

_MAX_HOSTS = 1_000
_KEPT_S = 24 * 3600.0  # the RFC's maximum
_FAILURE_KEPT_S = 1.0  # so that the pages of one round share one failure
_MAX_CHARS = 512_000  # the RFC demands at least 500 KiB
_SHORT_CHARS = 1_000
_LONGEST_PAUSE_S = 10.0


class _Host:
    def __init__(self, name: str, at_once: int) -> None:
        self.places = PerLoop(lambda: asyncio.Semaphore(at_once))
        self.starts = PacedLock(f"host {name}")


def _remember(make: Callable[[str], T]) -> Callable[[str], T]:
    """Return the same function with one result per host, for the latest hosts, in all threads."""
    guard, known = threading.Lock(), lru_cache(_MAX_HOSTS)(make)

    def find(host: str) -> T:
        with guard:
            return known(host)

    return find


class HostLimiter:
    """Limits fetches: at most `at_once` per host in a loop, with `pause_s` between two starts."""

    def __init__(self, *, at_once: int = 2, pause_s: float = 0.5) -> None:
        self._pause_s = pause_s
        self._host = _remember(partial(_Host, at_once=at_once))

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
        self._rules = _remember(lambda _origin: _HostRules())

    async def pause_s(self, address: str) -> float:
        """Return the pause the host demands, up to ten seconds; raise Refused if it disallows the page."""
        parts = urlsplit(address)
        rules = self._rules(f"{parts.scheme}://{parts.netloc.lower()}")
        async with rules.asking():
            if self._clock() >= rules.until:
                await self._ask(rules, f"{parts.scheme}://{parts.netloc}/robots.txt")
        if rules.failure:
            raise Unavailable(f"{address} is left alone: {rules.failure}") from rules.failure
        if rules.said is None:
            return 0.0
        if not rules.said.can_fetch(address, USER_AGENT):
            raise Refused(f"robots.txt of {parts.hostname} does not allow {address} to be read")
        return min(max(0.0, rules.said.crawl_delay(USER_AGENT) or 0.0), _LONGEST_PAUSE_S)

    async def _ask(self, rules: _HostRules, place: str) -> None:
        rules.failure, rules.said, kept_s = None, None, _KEPT_S
        try:
            body = (await self._fetch(place)).body
        except Unavailable as error:
            rules.failure, kept_s = error, _FAILURE_KEPT_S
        except ProviderError:
            pass  # no robots.txt, or an unreadable one: everything is allowed
        else:
            text = body.decode("utf-8", "replace")[:_MAX_CHARS]
            is_short = len(text) <= _SHORT_CHARS  # parsed faster than a thread starts
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
