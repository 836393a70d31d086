"""One works on a run at a time; whoever is just leaving is waited for a moment."""

import asyncio
import time
from pathlib import Path

import pytest
from langgraph.runtime import RunControl

from fathom.errors import BadInput
from fathom.runs.control import hold_run, pause_poller_of
from fathom.storage import Storage, open_storage


@pytest.fixture
def storage(tmp_path: Path) -> Storage:
    return open_storage(tmp_path / "fathom.sqlite")


RUN = "01234567-89ab-cdef-0123-456789abcdef"


async def test_who_works_is_not_waited_for_long(storage: Storage) -> None:
    began = time.monotonic()
    async with hold_run(storage, RUN):
        with pytest.raises(BadInput, match="01234567 is being worked on"):
            async with hold_run(storage, RUN):
                pass
    assert time.monotonic() - began < 10
    async with hold_run(storage, RUN):
        pass


async def test_who_leaves_is_waited_for_until_all_is_tidied_up(storage: Storage) -> None:
    order = []
    inside, left = asyncio.Event(), asyncio.Event()

    async def leave() -> None:
        async with hold_run(storage, RUN):
            try:
                inside.set()
                await asyncio.sleep(60)
            finally:
                left.set()
                await asyncio.sleep(0.2)
                order.append("left")

    leaving = asyncio.ensure_future(leave())
    await inside.wait()
    leaving.cancel()
    await left.wait()
    async with hold_run(storage, RUN):
        order.append("came")
    assert order == ["left", "came"]


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
    first, second = (
        pause_poller_of(open_storage(database)),
        pause_poller_of(open_storage(tmp_path / "fathom.sqlite")),
    )
    assert first is second
    assert pause_poller_of(open_storage(tmp_path / "another.sqlite")) is not first
    one, other = Told(), Told()
    async with second.over("other", other):
        async with first.over("one", one):
            await open_storage(database).signals.give("one", "pause")
            await asyncio.wait_for(one.heard.wait(), 10)
        assert not other.heard.is_set()
        await open_storage(database).signals.give("other", "pause")
        await asyncio.wait_for(other.heard.wait(), 10)
