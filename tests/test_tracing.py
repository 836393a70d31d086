"""What callbacks see of a run: its parent, its input, what became known later, and its end."""

import pytest
from langchain_core.runnables import RunnableLambda
from standins.recorder import traced_in_a_graph

from fathom.tracing import TracedRun


async def test_a_search_is_a_child_of_the_node_that_asked() -> None:
    async def work() -> None:
        async with TracedRun("retriever", "brave", "tides", engine="brave", round=2) as run:
            assert run.is_heard
            run.output = [{"page_content": "High water.", "address": "https://a.example/"}]
            run.note(results=1, cost_usd=0.005, is_reused=False, nothing=None)

    recorder = await traced_in_a_graph(work)
    search = recorder.named("brave")
    assert (search.run_type, search.inputs) == ("retriever", {"query": "tides"})
    assert search.parent_run_id == recorder.named("asker").id
    assert search.outputs is not None
    (document,) = search.outputs["documents"]
    assert (document.page_content, document.metadata) == ("High water.", {"address": "https://a.example/"})
    told = search.extra["metadata"]
    assert {name: told[name] for name in ("engine", "round", "results", "cost_usd", "is_reused")} == {
        "engine": "brave",
        "round": 2,
        "results": 1,
        "cost_usd": 0.005,
        "is_reused": False,
    }
    assert told["usage_metadata"] == {"total_cost": 0.005}
    assert told["langgraph_node"] == "asker"
    assert "nothing" not in told


async def test_what_is_called_inside_is_a_child_of_it_and_what_follows_is_not() -> None:
    async def work() -> None:
        async with TracedRun("tool", "fetch", "https://a.example/") as run:
            async with TracedRun("chain", "robots", {"host": "a.example"}) as inner:
                inner.output = {"is_allowed": True}
            await RunnableLambda(lambda x: x, name="inside").ainvoke("x")
            run.output = "200"
        await RunnableLambda(lambda x: x, name="after").ainvoke("x")

    recorder = await traced_in_a_graph(work)
    fetch = recorder.named("fetch")
    assert (fetch.run_type, fetch.outputs) == ("tool", {"output": "200"})
    assert recorder.named("robots").parent_run_id == recorder.named("inside").parent_run_id == fetch.id
    assert recorder.named("robots").outputs == {"is_allowed": True}
    assert recorder.named("after").parent_run_id == recorder.named("asker").id


async def test_metadata_of_a_run_is_not_that_of_its_children() -> None:
    async def work() -> None:
        async with TracedRun("chain", "outer", "x", engine="brave"), TracedRun("tool", "inner", "x"):
            pass

    assert "engine" not in (await traced_in_a_graph(work)).named("inner").extra["metadata"]


async def test_an_error_is_told_and_goes_on() -> None:
    async def work() -> None:
        with pytest.raises(ValueError, match="no route"):
            async with TracedRun("retriever", "brave", "tides") as run:
                run.note(cost_usd=0.0)
                raise ValueError("no route")

    search = (await traced_in_a_graph(work)).named("brave")
    assert search.error is not None
    assert "no route" in search.error
    assert search.extra["metadata"]["cost_usd"] == 0.0


async def test_nobody_listens_outside_of_a_graph_and_without_callbacks() -> None:
    heard: list[bool] = []

    async def work(_: str) -> None:
        async with TracedRun("tool", "fetch", "x") as run:
            run.note(status=200)
            heard.append(run.is_heard)

    await work("x")
    await RunnableLambda(work).ainvoke("x")
    assert heard == [False, False]
