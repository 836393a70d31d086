"""What goes from the checkpoints by itself, and what stays for a resume, a fork and the history."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

from fathom.storage import open_storage
from fathom.storage.checkpoints import checkpointer, thin_runs
from fathom.storage.database import prepare_database
from fathom.storage.prune import KEEP_LATEST

AT: RunnableConfig = {"configurable": {"thread_id": "t"}}


@pytest.fixture
def database(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    prepare_database(tmp_path / "x.sqlite")
    with closing(sqlite3.connect(tmp_path / "x.sqlite")) as connection:
        yield connection


def add(connection: sqlite3.Connection, space: str, name: str, parent: str | None = None) -> None:
    words = "insert into checkpoints values ('t', ?, ?, ?, 'msgpack', x'80', x'7b7d')"
    connection.execute(words, (space, name, parent))


def write(connection: sqlite3.Connection, space: str, name: str, task: str, channel: str, idx: int) -> None:
    words = "insert into writes values ('t', ?, ?, ?, '', ?, ?, 'msgpack', x'80')"
    connection.execute(words, (space, name, task, idx, channel))


def names(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    words = "select checkpoint_ns, checkpoint_id from checkpoints order by 1, 2"
    return connection.execute(words).fetchall()


def test_a_step_of_the_run_ends_all_tasks_of_the_step_before(database: sqlite3.Connection) -> None:
    add(database, "", "1")
    for space in ("reading:a", "reading:b", "reading:b|extract:c"):
        add(database, space, "2")
        write(database, space, "2", "x", "pages", 0)
    add(database, "", "3", "1")
    assert names(database) == [("", "1"), ("", "3")]
    assert database.execute("select count(*) from writes").fetchone() == (0,)


def test_tasks_of_the_next_step_that_were_quicker_than_the_checkpoint_before_them_stay(
    database: sqlite3.Connection,
) -> None:
    add(database, "", "1")
    add(database, "reading:old", "2")
    add(database, "reading:next", "4")  # begun after checkpoint 3, and on disk before it
    write(database, "reading:next", "4", "x", "pages", 0)
    add(database, "", "3", "1")
    assert names(database) == [("", "1"), ("", "3"), ("reading:next", "4")]
    assert database.execute("select count(*) from writes").fetchone() == (1,)


def test_a_step_inside_a_task_ends_only_what_is_inside_that_task(database: sqlite3.Connection) -> None:
    add(database, "", "1")
    for space in ("branch:a", "branch:a|reading:x", "branch:b", "branch:b|reading:y"):
        add(database, space, "2")
    add(database, "branch:a", "3", "2")
    assert names(database) == [("", "1"), ("branch:a", "3"), ("branch:b", "2"), ("branch:b|reading:y", "2")]


def test_writes_stay_until_a_checkpoint_contains_them(database: sqlite3.Connection) -> None:
    add(database, "", "1")
    write(database, "", "1", "a", "pages", 0)
    add(database, "", "2", None)  # somebody else's line of history
    assert database.execute("select count(*) from writes").fetchone() == (1,)
    add(database, "", "3", "1")
    assert database.execute("select count(*) from writes").fetchone() == (0,)


def test_a_subgraph_with_a_memory_of_its_own_keeps_it(database: sqlite3.Connection) -> None:
    add(database, "chat", "1")
    add(database, "chat", "2", "1")
    add(database, "", "3")
    assert names(database) == [("", "3"), ("chat", "1"), ("chat", "2")]


def test_other_threads_are_left_alone(database: sqlite3.Connection) -> None:
    database.execute(
        "insert into checkpoints values ('u', 'reading:a', '1', null, 'msgpack', x'80', x'7b7d')"
    )
    add(database, "", "2")
    assert names(database) == [("", "2"), ("reading:a", "1")]


def test_output_of_a_task_that_failed_is_no_result(database: sqlite3.Connection) -> None:
    for task in ("a", "b"):
        write(database, "", "1", task, "words", 0)
    write(database, "", "1", "a", "__error__", -1)
    left = database.execute("select task_id, channel from writes order by 1").fetchall()
    assert left == [("a", "__error__"), ("b", "words")]


class Rounds(TypedDict, total=False):
    step: int
    judgements: list[int]


def step(state: Rounds) -> Rounds:
    """Five steps make a round."""
    number = state.get("step", 0) + 1
    judged = state.get("judgements", [])
    return {"step": number, "judgements": [*judged, number]} if number % 5 == 0 else {"step": number}


def machine(saver: Any, steps: int) -> Any:
    b = StateGraph(Rounds)
    b.add_node("step", step)
    b.add_edge(START, "step")
    b.add_conditional_edges("step", lambda s: END if s["step"] == steps else "step", [END, "step"])
    return b.compile(saver)


async def played(file: Path, steps: int) -> None:
    """A run of so many steps, never thinned."""
    async with checkpointer(file) as saver:
        await machine(saver, steps).ainvoke({}, {**AT, "recursion_limit": 1000})


async def kept_steps(graph: Any) -> list[int]:
    return [s.values.get("step", 0) async for s in graph.aget_state_history(AT)]


@pytest.mark.sqlite
async def test_rounds_that_are_long_over_keep_their_ends_only(tmp_path: Path) -> None:
    file = tmp_path / "x.sqlite"
    await played(file, 50)
    async with checkpointer(file) as saver:
        graph, checkpoints = machine(saver, 50), open_storage(file).checkpoints
        before = len(await checkpoints.steps_of("t"))
        gone = await checkpoints.thin("t")
        assert await checkpoints.thin("t") == 0
        steps = await kept_steps(graph)
        assert gone == before - len(steps)
        # Newest first: the latest steps, the ends of rounds, and the input.
        assert steps == [*range(50, 50 - KEEP_LATEST, -1), *range(40, -1, -5)]


@pytest.mark.parametrize("number", range(1, 9))
async def test_one_can_go_on_from_the_end_of_any_old_round(tmp_path: Path, number: int) -> None:
    file = tmp_path / "x.sqlite"
    await played(file, 50)
    async with checkpointer(file) as saver:
        graph, checkpoints = machine(saver, 50), open_storage(file).checkpoints
        await checkpoints.thin("t")
        (past,) = [s async for s in graph.aget_state_history(AT) if s.values.get("step") == 5 * number]
        assert past.values["judgements"] == [5 * n for n in range(1, number + 1)]
        again = await graph.ainvoke(None, past.config | {"recursion_limit": 100})
        assert again["judgements"] == list(range(5, 51, 5))
        assert await checkpoints.thin("t")
        assert 5 * number in await kept_steps(graph)


async def test_thinning_after_every_round_keeps_the_same_as_thinning_once(tmp_path: Path) -> None:
    ends = []
    for name, stops in (("once", [100]), ("often", range(7, 101, 7))):
        file = tmp_path / f"{name}.sqlite"
        async with checkpointer(file) as saver:
            checkpoints = open_storage(file).checkpoints
            for stop in stops:
                given: Rounds | None = None if await checkpoints.steps_of("t") else {}
                graph = machine(saver, 100)
                async for _ in graph.astream(given, AT, interrupt_after="*"):
                    pass
                while (await graph.aget_state(AT)).values["step"] < stop:
                    await graph.ainvoke(None, AT, interrupt_after="*")
                await checkpoints.thin("t")
            found = [s.values async for s in graph.aget_state_history(AT)]
        by_step = {state.get("step"): state for state in found}
        ends.append([by_step[5 * number] for number in range(1, 15)])
    assert ends[0] == ends[1]


@pytest.mark.sqlite
async def test_a_server_thins_every_long_run_and_leaves_short_ones_alone(tmp_path: Path) -> None:
    file = tmp_path / "x.sqlite"
    await played(file, 50)
    async with checkpointer(file) as saver:
        short: RunnableConfig = {"configurable": {"thread_id": "short"}}
        await machine(saver, 7).ainvoke({}, short)
        storage = open_storage(file)
        before = await storage.checkpoints.steps_of("short")
        await thin_runs(storage)
        assert len(await storage.checkpoints.steps_of("t")) == KEEP_LATEST + 9
        assert await storage.checkpoints.steps_of("short") == before
