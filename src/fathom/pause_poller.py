"""Whether somebody wants to pause one of the runs that are being worked on: one look for all of them.

Does not know how a run is worked on; it only asks its control to let the current step be the last.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from weakref import WeakValueDictionary

from langgraph.runtime import RunControl

from fathom.control_signals import ControlSignals
from fathom.storage import STORAGE_ERRORS, Storage
from fathom.turns import PerLoop

_EVERY_S = 0.3


def watch_over(storage: Storage) -> "TimeBudget":
    """The one that looks after the runs of a database, for all who work on some of them in this loop."""
    return _watches().setdefault(storage.name, TimeBudget(ControlSignals(storage)))


class TimeBudget:
    """Looks a few times a second, as long as there is a run to look after."""

    def __init__(self, signals: ControlSignals) -> None:
        self._orders = signals
        self._controls: dict[str, RunControl] = {}
        self._looking: asyncio.Task[None] | None = None

    @contextmanager
    def over(self, run_id: str, control: RunControl) -> Iterator[None]:
        """Look after this run for as long as it is worked on."""
        self._controls[run_id] = control
        if self._looking is None:
            self._looking = asyncio.get_running_loop().create_task(self._look())
        try:
            yield
        finally:
            del self._controls[run_id]
            if not self._controls:
                self._looking.cancel()
                self._looking = None

    async def _look(self) -> None:
        while True:
            await asyncio.sleep(_EVERY_S)
            try:
                wanted = await self._orders.pausing()
            except STORAGE_ERRORS:  # somebody writes for a minute; the next look will do
                continue
            for run_id in wanted & self._controls.keys():
                self._controls[run_id].request_drain("paused")


_watches: PerLoop[WeakValueDictionary[str, TimeBudget]] = PerLoop(WeakValueDictionary)
