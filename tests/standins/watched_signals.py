"""A watch over runs that tells when it has seen an order, so that a test need not guess how long that takes.

Does not know what becomes of the order.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from langgraph.runtime import RunControl

from fathom.runs.control import PausePoller
from fathom.storage import Storage


class Noticing(PausePoller):
    """Looks as ever; `seen` is set once it has asked a run to stand still."""

    def __init__(self, storage: Storage) -> None:
        super().__init__(storage)
        self.seen = asyncio.Event()

    @asynccontextmanager
    async def over(self, run_id: str, control: RunControl) -> AsyncIterator[None]:
        """Look after this run for as long as it is worked on."""
        async with super().over(run_id, _Told(control, self.seen)):
            yield


class _Told(RunControl):
    """Passes a wish on, and tells that there was one."""

    def __init__(self, control: RunControl, seen: asyncio.Event) -> None:
        super().__init__()
        self._control, self._seen = control, seen

    def request_drain(self, reason: str = "shutdown") -> None:
        self._control.request_drain(reason)
        self._seen.set()
