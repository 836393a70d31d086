"""Manners towards one host: few requests at a time, and a pause between their starts.

Does not know what is fetched, nor what a host asks of robots.
"""

import asyncio
import threading
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

from fathom.concurrency import PacedLock, PerLoop

_MAX_HOSTS = 1_000


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
    async def turn(self, address: str, *, pause_s: float = 0.0) -> AsyncIterator[None]:
        """Wait until the address's host may be asked; a host may want a longer pause than ours."""
        host = self._host(urlsplit(address).netloc.lower())
        async with host.places():
            async with host.starts.turn(max(pause_s, self._pause_s)):
                pass  # only the starts take turns: who has started makes room for the next one to start
            yield

    @asynccontextmanager
    async def turn_without_pause(self, address: str) -> AsyncIterator[None]:
        """The same for what is asked once a day: nobody has to pause after it."""
        host = self._host(urlsplit(address).netloc.lower())
        async with host.places():
            async with host.starts.turn(0.0):
                pass
            yield

    def _host(self, name: str) -> _Host:
        with self._guard:
            found = self._known.setdefault(name, _Host(name, self._at_once))
            self._known.move_to_end(name)
            while len(self._known) > _MAX_HOSTS:
                self._known.popitem(last=False)
            return found
