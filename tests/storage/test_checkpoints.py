"""What the saver keeps, what it forgets, and that one can still go back."""

import asyncio
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
from fakes.run_parts import Library, ScriptedModel, make_dependencies
from langgraph.graph import END, START, StateGraph
from langgraph.types import Send
from standins.prose import page
from standins.rows import rows_of
from typing_extensions import TypedDict

from fathom.errors import Refused
from fathom.graph import ResearchGraph, build_graph
from fathom.state import RunConfig, Section
from fathom.state.model_io import ModelResult
from fathom.storage.checkpoints import Saver, checkpointer

pytestmark = pytest.mark.whole

KNOBS = RunConfig(rounds=3, sources=6, threshold=1.0)
CONFIG: Any = {"configurable": {"thread_id": "t"}}
BOOKS = {f"https://shelf{n}.example/book": page(n, 1200) for n in range(24)}


class Striker(ScriptedModel):
    """A clerk that does not write before it is told to."""

    is_willing = False

    async def write(self, *words: Any) -> ModelResult[list[Section]]:
        """A section, or a refusal."""
        if not Striker.is_willing:
            raise Refused("I will not.")
        return await super().write(*words)


def rows(home: Path, words: str) -> list[Any]:
    return rows_of(home / "fathom.sqlite", words)


def graph_of(home: Path, saver: Saver, clerk: ScriptedModel | None = None) -> ResearchGraph:
    return build_graph(make_dependencies(home, Library(BOOKS), clerk or ScriptedModel(quotes=3)), saver)


async def worked(graph: ResearchGraph, given: Any) -> dict[str, Any]:
    state: dict[str, Any] = await graph.ainvoke(given, CONFIG, context=KNOBS, durability="async")
    return state


async def test_a_finished_run_leaves_its_own_checkpoints_and_nothing_of_its_branches(tmp_path: Path) -> None:
    async with checkpointer(tmp_path / "fathom.sqlite") as saver:
        await worked(graph_of(tmp_path, saver), {"question": "What?"})
    assert rows(tmp_path, "select distinct checkpoint_ns from checkpoints") == [("",)]
    assert rows(tmp_path, "select count(*) from writes") == [(0,)]
    # The input, the lead, three rounds of planner, review, searcher, selector, reading and judge, the writer.
    assert rows(tmp_path, "select count(*) from checkpoints") == [(3 + 3 * 6 + 1,)]


async def test_what_is_read_back_is_what_was_written(tmp_path: Path) -> None:
    async with checkpointer(tmp_path / "fathom.sqlite") as saver:
        state = await worked(graph_of(tmp_path, saver), {"question": "What?"})
    assert len(state["claims"]) == 54
    async with checkpointer(tmp_path / "fathom.sqlite") as saver:
        snapshot = await graph_of(tmp_path, saver).aget_state(CONFIG)
        history = [past async for past in graph_of(tmp_path, saver).aget_state_history(CONFIG)]
    assert snapshot.values == state
    assert history[0].values == state
    sizes = [len(past.values.get("claims", [])) for past in reversed(history)]
    assert sizes == sorted(sizes)
    assert set(sizes) == {0, 18, 36, 54}


async def test_one_can_go_back_to_an_earlier_round_and_go_on_from_there(tmp_path: Path) -> None:
    async with checkpointer(tmp_path / "fathom.sqlite") as saver:
        graph = graph_of(tmp_path, saver)
        ended = await worked(graph, {"question": "What?"})
        history = [past async for past in graph.aget_state_history(CONFIG)]
        past = next(p for p in history if p.next == ("planner",) and len(p.values.get("claims", [])) == 18)
        again = await graph.ainvoke(None, past.config, context=KNOBS)
    assert again["claims"] == ended["claims"]
    assert len(again["judgements"]) == 3
    assert again["report"].sections == ended["report"].sections


async def test_a_branch_that_failed_keeps_its_steps_until_it_is_done(tmp_path: Path) -> None:
    async with checkpointer(tmp_path / "fathom.sqlite") as saver:
        graph = graph_of(tmp_path, saver, Striker(quotes=3))
        Striker.is_willing = False
        with pytest.raises(Refused):
            await worked(graph, {"question": "What?"})
        inside = rows(tmp_path, "select distinct checkpoint_ns from checkpoints where checkpoint_ns > ''")
        assert {name.split(":")[0] for (name,) in inside} == {"writer"}
        # What a branch was told to do stands in the step that sent it out.
        told = rows(tmp_path, "select cast(metadata as text) from checkpoints where checkpoint_ns > ''")
        assert told
        Striker.is_willing = True
        state = await worked(graph, None)
    assert state["report"].sections
    assert rows(tmp_path, "select count(*) from checkpoints where checkpoint_ns > ''") == [(0,)]


async def test_a_forgotten_thread_leaves_nothing(tmp_path: Path) -> None:
    async with checkpointer(tmp_path / "fathom.sqlite") as saver:
        await worked(graph_of(tmp_path, saver), {"question": "What?"})
        await saver.adelete_thread("t")
    for table in ("checkpoints", "writes"):
        assert rows(tmp_path, f"select count(*) from {table}") == [(0,)]


async def listened(graph: Any, given: Any) -> None:
    """Work as a run does: whoever leaves waits until nobody works any more."""
    stream = graph.astream(given, CONFIG, stream_mode=["tasks", "values"], subgraphs=True, durability="async")
    async with aclosing(stream) as parts:
        async for _ in parts:
            pass


class Letter(TypedDict, total=False):
    words: str
    answer: str


async def test_a_step_that_is_cut_off_between_its_work_and_its_way_on_is_done_again(tmp_path: Path) -> None:
    at_the_fork, is_deaf = asyncio.Event(), True

    async def write(state: Letter) -> Letter:
        return {"words": "Dear all"}

    async def reply(state: Letter) -> Letter:
        return {"answer": f"{state['words']}!"}

    async def to_whom(state: Letter) -> list[Send]:
        at_the_fork.set()
        if is_deaf:
            await asyncio.Event().wait()
        return [Send("reply", state)]

    b = StateGraph(Letter)
    b.add_node("write", write)
    b.add_node("reply", reply)
    b.add_edge(START, "write")
    b.add_conditional_edges("write", to_whom, ["reply"])
    b.add_edge("reply", END)
    async with checkpointer(tmp_path / "fathom.sqlite") as saver:
        graph = b.compile(checkpointer=saver)
        begun = asyncio.ensure_future(listened(graph, {"words": ""}))
        await at_the_fork.wait()
        begun.cancel()
        with pytest.raises(asyncio.CancelledError):
            await begun
        is_deaf = False
        assert await graph.ainvoke(None, CONFIG) == {"words": "Dear all", "answer": "Dear all!"}
