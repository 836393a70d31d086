"""The working time of a run; time in which it is stopped does not count.

It is stored in the database whenever a piece of work ends, so that a run that was paused or killed continues
with the time it has left.
"""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TypeVar

from fathom.budget import collect_receipts
from fathom.errors import OutOfTime
from fathom.storage import Storage

T = TypeVar("T")


@dataclass
class _Running:
    """A run that works in this process."""

    hands: int
    since: float
    before_s: float  # the stored time when the work started


_running: dict[tuple[str, str], _Running] = {}
_guard = threading.Lock()


@dataclass(frozen=True)
class TimeBudget:
    """The time limit of a run. Work in progress may end; `grace_s` are left for the report."""

    storage: Storage
    run: str
    limit_s: float
    grace_s: float

    @asynccontextmanager
    async def at_work(self) -> AsyncIterator[None]:
        """Count time while at least one user is active."""
        self._begin(await self.storage.runs.worked_s(self.run))
        try:
            yield
        finally:
            await asyncio.shield(self._leave(self._end()))

    def worked_s(self) -> float:
        """How long the run was worked on so far."""
        with _guard:
            running = _running.get(self._name)
            if running is None:
                return 0.0
            return running.before_s + (time.monotonic() - running.since if running.hands else 0.0)

    @property
    def is_late(self) -> bool:
        """Whether only the report may still be started."""
        return self.worked_s() >= self.limit_s

    def left_s(self, is_writing: bool) -> float:
        """Return how long something that starts now may take."""
        end_s = self.limit_s + (self.grace_s if is_writing else self.grace_s / 2)
        return max(0.0, end_s - self.worked_s())

    def half_s(self) -> float:
        """Return half of the time left for research."""
        return max(0.0, self.limit_s - self.worked_s()) / 2

    async def begun(self, call: Callable[[], Awaitable[T]]) -> T:
        """Await a call; raise OutOfTime if it is too late to start it, or if it takes too long."""
        if self.is_late:
            raise OutOfTime(f"the time of {self.limit_s:g} s is used up")
        with collect_receipts() as receipts:
            try:
                async with asyncio.timeout(self.left_s(is_writing=False)):
                    return await call()
            except TimeoutError:
                told = f"it had not ended when the time of {self.limit_s:g} s was used up"
                raise OutOfTime(told, await receipts.costs()) from None

    @property
    def _name(self) -> tuple[str, str]:
        return self.storage.name, self.run

    def _begin(self, kept_s: float) -> None:
        with _guard:
            running = _running.setdefault(self._name, _Running(0, time.monotonic(), kept_s))
            if not running.hands:
                running.since = time.monotonic()
            running.hands += 1

    def _end(self) -> float:
        """Return how long the run was worked on by now."""
        with _guard:
            running = _running[self._name]
            running.hands -= 1
            worked_s = running.before_s + time.monotonic() - running.since
            if not running.hands:
                running.before_s = worked_s
            return worked_s

    async def _leave(self, worked_s: float) -> None:
        """Store the time; until it is on disk, a new start finds it in memory."""
        await self.storage.runs.add_worked(self.run, worked_s)
        with _guard:
            if self._name in _running and not _running[self._name].hands:
                del _running[self._name]


def grace_s(limit_s: float) -> float:
    """How much longer the report may take: half as long as the limit, from half a minute to five."""
    return min(300.0, max(30.0, limit_s / 2))
