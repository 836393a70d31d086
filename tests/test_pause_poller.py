"""One look a moment for all runs that are worked on in a process, however they were opened."""

import asyncio
from pathlib import Path

from langgraph.runtime import RunControl

from fathom.control_signals import ControlSignals
from fathom.pause_poller import watch_over
from fathom.storage import open_storage


class Told(RunControl):
    """A control that says when it was asked to let the step be the last."""

    def __init__(self) -> None:
        super().__init__()
        self.heard = asyncio.Event()

    def request_drain(self, reason: str = "shutdown") -> None:
        """Take notice."""
        self.heard.set()


async def test_all_who_open_a_database_have_its_runs_looked_after_by_one(tmp_path: Path) -> None:
    database = tmp_path / "fathom.sqlite"
    first, second = watch_over(open_storage(database)), watch_over(open_storage(tmp_path / "fathom.sqlite"))
    assert first is second
    assert watch_over(open_storage(tmp_path / "another.sqlite")) is not first
    one, other = Told(), Told()
    with second.over("other", other):
        with first.over("one", one):
            await ControlSignals(open_storage(database)).give("one", "pause")
            await asyncio.wait_for(one.heard.wait(), 10)
        assert not other.heard.is_set()
        await ControlSignals(open_storage(database)).give("other", "pause")
        await asyncio.wait_for(other.heard.wait(), 10)
