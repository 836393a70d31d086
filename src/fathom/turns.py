"""At most so many at a time, whatever event loop asks.

Does not know what is being done.
"""

import asyncio
from types import TracebackType
from weakref import WeakKeyDictionary


class Turns:
    """A semaphore for each event loop, made when it is first needed."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._by_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()

    async def __aenter__(self) -> None:
        await self._semaphore().acquire()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._semaphore().release()

    def _semaphore(self) -> asyncio.Semaphore:
        return self._by_loop.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(self._most))
