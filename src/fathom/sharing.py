"""One open database for all who use it at the same time: fifty runs at once are one writer, not fifty.

Does not know what is done with the runs.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from fathom.runs import Runs, open_runs
from fathom.settings import Settings


@dataclass
class _Open:
    users: int = 0
    runs: Runs | None = None
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    closing: AsyncExitStack = field(default_factory=AsyncExitStack)


class Shared:
    """Opens the runs of a database for the first who asks, and closes them after the last.

    An event loop has its own: what is open cannot be used from another loop.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._open: WeakKeyDictionary[asyncio.AbstractEventLoop, _Open] = WeakKeyDictionary()

    @asynccontextmanager
    async def runs(self) -> AsyncIterator[Runs]:
        """The runs, open for as long as they are used here."""
        loop = asyncio.get_running_loop()
        here = self._open.setdefault(loop, _Open())
        here.users += 1
        try:
            async with here.turn:
                if here.runs is None:
                    here.runs = await here.closing.enter_async_context(open_runs(self.settings))
            yield here.runs
        finally:
            here.users -= 1
            if here.users == 0:
                del self._open[loop]  # before anything is awaited: whoever comes now opens anew
                await here.closing.aclose()
