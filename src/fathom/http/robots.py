"""Manners towards hosts: what they ask of robots (RFC 9309), few requests at a time, pauses between them.

A host without a robots.txt (4xx) allows everything. One that cannot be asked (5xx, 429, no answer) is left
alone for now, as the RFC wants it: its pages are Unavailable, so a later try may find it well.
"""

import asyncio
import threading
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from protego import Protego

from fathom.concurrency import PacedLock, PerLoop
from fathom.errors import ProviderError, Refused, Unavailable
from fathom.http.client import USER_AGENT
from fathom.http.fetch import Fetch

_MAX_HOSTS = 1_000
_KEPT_S = 24 * 3600.0  # no longer, says the RFC
_FAILURE_KEPT_S = 1.0  # so that the pages of one round share one failure
_MAX_CHARS = 512_000  # so much must be read, says the RFC
_SHORT_CHARS = 1_000
_LONGEST_PAUSE_S = 10.0


class _Host:
    def __init__(self, name: str, at_once: int) -> None:
        self.places = PerLoop(lambda: asyncio.Semaphore(at_once))
        self.starts = PacedLock(f"host {name}")


class HostLimiter:
    """A gate for fetches: at most `at_once` a host in a loop, and `pause_s` between any two starts."""

    def __init__(self, *, at_once: int = 2, pause_s: float = 0.5) -> None:
        self._at_once = at_once
        self._pause_s = pause_s
        self._known: OrderedDict[str, _Host] = OrderedDict()
        self._guard = threading.Lock()

    @asynccontextmanager
    async def turn(self, address: str, *, pause_s: float = 0.0, is_rare: bool = False) -> AsyncIterator[None]:
        """Wait until the address's host may be asked; a host may want a longer pause than ours.

        After what is rare, such as robots.txt, nobody has to pause.
        """
        host = self._host(urlsplit(address).netloc.lower())
        async with host.places():
            async with host.starts.turn(0.0 if is_rare else max(pause_s, self._pause_s)):
                pass  # only the starts take turns: who has started makes room for the next one to start
            yield

    def _host(self, name: str) -> _Host:
        with self._guard:
            found = self._known.setdefault(name, _Host(name, self._at_once))
            self._known.move_to_end(name)
            while len(self._known) > _MAX_HOSTS:
                self._known.popitem(last=False)
            return found


@dataclass
class _HostRules:
    """What one host said last, and until when that is believed."""

    asking: PerLoop[asyncio.Lock] = field(default_factory=lambda: PerLoop(asyncio.Lock))
    until: float = float("-inf")
    said: Protego | None = None  # None: nothing is asked of us
    failure: Unavailable | None = None


class RobotsRules:
    """The rules of hosts, asked for once and remembered for a day."""

    def __init__(self, fetch: Fetch, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._fetch = fetch
        self._clock = clock
        self._known: OrderedDict[str, _HostRules] = OrderedDict()
        self._guard = threading.Lock()

    async def pause_s(self, address: str) -> float:
        """How long the host wants us to pause, up to ten seconds; Refused if it does not want us there."""
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

    def _rules(self, origin: str) -> _HostRules:
        with self._guard:
            found = self._known.setdefault(origin, _HostRules())
            self._known.move_to_end(origin)
            while len(self._known) > _MAX_HOSTS:
                self._known.popitem(last=False)
            return found

    async def _ask(self, rules: _HostRules, place: str) -> None:
        rules.failure, rules.said, kept_s = None, None, _KEPT_S
        try:
            body = (await self._fetch(place)).body
        except Unavailable as error:
            rules.failure, kept_s = error, _FAILURE_KEPT_S
        except ProviderError:
            pass  # there is none, or none that can be read: everything is allowed
        else:
            text = body.decode("utf-8", "replace")[:_MAX_CHARS]
            is_short = len(text) <= _SHORT_CHARS  # read before a thread would have begun
            rules.said = Protego.parse(text) if is_short else await asyncio.to_thread(Protego.parse, text)
        rules.until = self._clock() + kept_s


@dataclass(frozen=True)
class RobotsGate:
    """A gate for fetches that asks robots.txt first, and then waits for its turn."""

    robots: RobotsRules
    hosts: HostLimiter

    @asynccontextmanager
    async def turn(self, address: str) -> AsyncIterator[None]:
        """Wait until the address may be asked; Refused if it may not."""
        wanted_s = await self.robots.pause_s(address)
        async with self.hosts.turn(address, pause_s=wanted_s):
            yield
