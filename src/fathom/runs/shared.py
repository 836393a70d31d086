"""The runs of a database, open for as long as anybody in this process uses them.

LangGraph is imported when they are first opened: a list of runs does not need it.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from fathom.settings.settings import Settings
from fathom.storage import close_storage

if TYPE_CHECKING:
    from fathom.runs.executor import Runs


@dataclass
class _Open:
    users: int = 0
    runs: "Runs | None" = None
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    closing: AsyncExitStack = field(default_factory=AsyncExitStack)


class SharedRuns:
    """Opens the runs of a database for the first who asks, and closes them after the last.

    An event loop has its own: what is open cannot be used from another loop.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._open: WeakKeyDictionary[asyncio.AbstractEventLoop, _Open] = WeakKeyDictionary()

    @asynccontextmanager
    async def keep_open(self) -> AsyncIterator[_Open]:
        """Once somebody has opened the runs, leave them open until this ends."""
        loop = asyncio.get_running_loop()
        here = self._open.setdefault(loop, _Open())
        here.users += 1
        try:
            yield here
        finally:
            here.users -= 1
            if here.users == 0:
                del self._open[loop]  # before anything is awaited: whoever comes now opens anew
                await here.closing.aclose()
                await close_storage(self.settings.database)

    @asynccontextmanager
    async def open(self) -> AsyncIterator["Runs"]:
        """The runs, open for as long as they are used here."""
        from fathom.runs.executor import open_runs

        async with self.keep_open() as here:
            async with here.turn:
                if here.runs is None:
                    here.runs = await here.closing.enter_async_context(open_runs(self.settings))
            yield here.runs
