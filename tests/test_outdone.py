"""A write that a checkpoint comes right behind is saved with it; any other is saved after a moment."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

from fathom.outdone import Outdone
from fathom.store import checkpointer

PLACE = ("thread", "", "checkpoint")
CONFIG: Any = {"configurable": {"thread_id": "t"}}


async def test_a_write_is_outdone_by_the_checkpoint_that_comes_behind_it() -> None:
    outdone = Outdone()
    write = asyncio.ensure_future(outdone.within_a_moment(PLACE, "task"))
    await asyncio.sleep(0)
    assert outdone.by_next(("thread", "branch:1", "checkpoint")) == []
    assert outdone.by_next(PLACE) == ["task"]
    assert await write
    assert outdone.by_next(PLACE) == []


async def test_a_write_that_no_checkpoint_comes_behind_is_to_be_saved() -> None:
    outdone = Outdone()
    assert not await outdone.within_a_moment(PLACE, "task")
    assert outdone.by_next(PLACE) == []


async def test_whoever_comes_first_of_the_checkpoint_and_the_waiting_write_has_it() -> None:
    outdone = Outdone()
    write = asyncio.ensure_future(outdone.within_a_moment(PLACE, "task"))
    await asyncio.sleep(0)
    # The moment is over, but whoever waits has not been told yet.
    loop = asyncio.get_running_loop()
    until = loop.time() + 0.1
    while loop.time() < until:
        pass
    assert outdone.by_next(PLACE) == ["task"]
    assert await write


class Halves(TypedDict, total=False):
    left: str
    right: str


async def test_what_one_task_wrote_is_kept_while_another_is_still_at_work(tmp_path: Path) -> None:
    at_work = asyncio.Event()

    async def left(state: Halves) -> Halves:
        return {"left": "done"}

    async def right(state: Halves) -> Halves:
        at_work.set()
        await asyncio.Event().wait()
        return {"right": "never"}

    b = StateGraph(Halves)
    b.add_node("left", left)
    b.add_node("right", right)
    b.add_edge(START, "left")
    b.add_edge(START, "right")
    b.add_edge("left", END)
    b.add_edge("right", END)
    async with checkpointer(tmp_path / "fathom.sqlite") as saver:
        graph = b.compile(checkpointer=saver)
        working = asyncio.ensure_future(graph.ainvoke({"left": ""}, CONFIG, durability="async"))
        await at_work.wait()
        await asyncio.sleep(0.5)
        with closing(sqlite3.connect(tmp_path / "fathom.sqlite")) as connection:
            assert ("left",) in connection.execute("select channel from writes").fetchall()
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)
