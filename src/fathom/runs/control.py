"""Locks on runs, one holder at a time in all processes, and the runs that this process has open.

LangGraph is imported when runs are first opened: a list of runs does not need it.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary, WeakValueDictionary

from fathom.concurrency import PerLoop
from fathom.errors import BadInput
from fathom.settings import Settings
from fathom.state import short_id
from fathom.storage import STORAGE_ERRORS, Storage, close_storage

if TYPE_CHECKING:  # listing runs does not load LangGraph
    from langgraph.runtime import RunControl

    from fathom.runs.executor import Runs

_PAUSE_POLL_S = 0.3
LOST = "lost"  # the drain reason when another process has taken over the run


def pause_poller_of(storage: Storage) -> "PausePoller":
    """Return the pause poller of a database; all runs of this event loop share it."""
    return _pollers().setdefault(storage.name, PausePoller(storage))


class PausePoller:
    """Polls for pause signals and lost locks a few times a second while a run works."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._controls: dict[str, RunControl] = {}
        self._looking: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def over(self, run_id: str, control: "RunControl") -> AsyncIterator[None]:
        """Poll for this run while it works."""
        self._controls[run_id] = control
        if self._looking is None:
            self._looking = asyncio.get_running_loop().create_task(self._look())
        try:
            yield
        finally:
            del self._controls[run_id]
            if not self._controls:
                looking, self._looking = self._looking, None
                looking.cancel()
                await asyncio.wait([looking])  # it may be asking the database

    async def _look(self) -> None:
        while True:
            await asyncio.sleep(_PAUSE_POLL_S)
            try:
                wanted = await self._storage.signals.runs_to_pause()
                lost = await self._storage.locks.lost()
            except STORAGE_ERRORS:  # the database is busy; the next poll will do
                continue
            for run_id in wanted & self._controls.keys():
                self._controls[run_id].request_drain("paused")
            for run_id in lost & self._controls.keys():
                self._controls[run_id].request_drain(LOST)


_pollers: PerLoop[WeakValueDictionary[str, PausePoller]] = PerLoop(WeakValueDictionary)
_PATIENCE_S = 3.0  # with a holder whose listener has just left: it lets go as soon as its tasks have stopped
_LOCK_POLL_S = 0.05


@asynccontextmanager
async def hold_run(storage: Storage, run_id: str) -> AsyncIterator[None]:
    """Hold the run's lock, or raise BadInput if it is not free within a moment."""
    give_up_at = time.monotonic() + _PATIENCE_S
    while (lock := await storage.locks.acquire(run_id)) is None:
        if time.monotonic() > give_up_at:
            raise BadInput(f"Run {short_id(run_id)} is being worked on by another process.")
        await asyncio.sleep(_LOCK_POLL_S)
    try:
        yield
    finally:
        await lock.release()


@dataclass
class _Open:
    users: int = 0
    runs: "Runs | None" = None
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    closing: AsyncExitStack = field(default_factory=AsyncExitStack)


class SharedRuns:
    """Opens the runs of a database for the first user and closes them after the last.

    Each event loop has its own: open connections cannot be used from another loop.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._open: WeakKeyDictionary[asyncio.AbstractEventLoop, _Open] = WeakKeyDictionary()

    @asynccontextmanager
    async def keep_open(self) -> AsyncIterator[_Open]:
        """Keep runs that are opened meanwhile open until this block ends."""
        loop = asyncio.get_running_loop()
        here = self._open.setdefault(loop, _Open())
        here.users += 1
        try:
            yield here
        finally:
            here.users -= 1
            if here.users == 0:
                del self._open[loop]  # before anything is awaited: the next user opens them again
                await here.closing.aclose()
                await close_storage(self.settings.database)

    @asynccontextmanager
    async def open(self) -> AsyncIterator["Runs"]:
        """Open the runs for this block, or share those that are open."""
        from fathom.runs.executor import open_runs

        async with self.keep_open() as here:
            async with here.turn:
                if here.runs is None:
                    here.runs = await here.closing.enter_async_context(open_runs(self.settings))
            yield here.runs
