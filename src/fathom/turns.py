"""Taking turns within a process: per event loop, and with a pause in between.

Does not know who takes them.
"""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary, WeakValueDictionary

T = TypeVar("T")


class PerLoop(Generic[T]):
    """One of a kind per event loop, made when first asked for: asyncio's locks cannot be shared."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._made: WeakKeyDictionary[asyncio.AbstractEventLoop, T] = WeakKeyDictionary()

    def __call__(self) -> T:
        """The one of the running loop."""
        loop = asyncio.get_running_loop()
        found = self._made.get(loop)
        if found is None:
            found = self._made[loop] = self._make()
        return found


class Turns:
    """One at a time in a loop, and in the whole process a pause between any two starts."""

    def __init__(self) -> None:
        self._lock = PerLoop(asyncio.Lock)
        self._guard = threading.Lock()
        self._free_at = float("-inf")

    @asynccontextmanager
    async def turn(self, pause_s: float) -> AsyncIterator[None]:
        """Wait until it is one's turn; the next one waits for the end and for the pause."""
        async with self._lock():
            await asyncio.sleep(self._book(pause_s))
            yield

    def _book(self, pause_s: float) -> float:
        with self._guard:
            now = time.monotonic()
            start = max(now, self._free_at)
            self._free_at = start + pause_s
            return start - now


class NamedPlaces:
    """By name, so many at once in a loop; a name nobody holds or waits for is forgotten."""

    def __init__(self, at_once: int) -> None:
        self.at_once = at_once
        self._places: PerLoop[WeakValueDictionary[str, asyncio.Semaphore]] = PerLoop(WeakValueDictionary)

    def __call__(self, name: str) -> asyncio.Semaphore:
        """The places of that name."""
        return self._places().setdefault(name, asyncio.Semaphore(self.at_once))


ONE_AT_A_TIME = NamedPlaces(1)
