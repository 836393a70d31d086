"""What LangSmith would show of a run: graphs, nodes, routers, model calls, searches and fetches."""

from collections import Counter
from pathlib import Path

from standins.killable_run import QUESTION, WORKING, Site
from standins.model import Model
from standins.recorder import Recorder
from standins.tavily import KEY

from fathom.graph import build_graph, standard_dependencies
from fathom.settings import load_settings
from fathom.state import RunConfig

GRAPHS = {"research", "reading", "page", "writer", "chapter"}
NODES = {
    "intake", "planner", "review", "searcher", "selector", "extractor", "analyzer", "verifier", "judge",
    "outline", "draft", "check", "settle", "edit", "confirm", "publish",
}  # fmt: skip
ROUTERS = {
    "route_after_intake",
    "route_after_planner",
    "route_after_review",
    "route_after_selector",
    "route_after_judge",
    "route_after_writer",
    "route_to_page",
    "route_after_extractor",
    "route_to_readings",
    "route_after_verifier",
    "route_after_outline",
    "route_after_check",
}


async def test_a_run_shows_its_graphs_nodes_routers_model_calls_searches_and_fetches(tmp_path: Path) -> None:
    recorder, site = Recorder(), Site()
    with Model(WORKING) as model:
        engine = {"tavily_api_key": KEY, "tavily_url": site.engine.url, "allow_private": True}
        settings = load_settings(home=tmp_path, base_url=model.base_url, **engine)
        graph = build_graph(standard_dependencies(settings))
        run_config = RunConfig(model="stand-in", rounds=1)
        await graph.ainvoke({"question": QUESTION}, {"callbacks": [recorder]}, context=run_config)
        asked = len(model.calls)
    site.stop()
    runs = {run.id: run for run in recorder.ended}
    names = Counter(run.name for run in runs.values())
    assert names.keys() >= GRAPHS
    assert names.keys() >= NODES
    assert names.keys() >= ROUTERS
    (root,) = [run for run in runs.values() if run.parent_run_id is None]
    assert root.name == "research"
    assert all(run.parent_run_id in runs for run in runs.values() if run is not root)
    calls = [run for run in runs.values() if run.run_type in {"llm", "chat_model"}]
    assert len(calls) == asked
    assert {run.extra["metadata"]["round"] for run in calls} == {1}
    assert {run.extra["metadata"]["langgraph_node"] for run in calls} <= NODES | {"rewrite"}
    searches = [run for run in runs.values() if run.run_type == "retriever"]
    assert len(searches) == len(site.engine.searches)
    assert {(run.name, run.extra["metadata"]["engine"]) for run in searches} == {("tavily", "tavily")}
    assert {run.extra["metadata"]["round"] for run in searches} == {1}
    assert all(run.extra["metadata"]["cost_usd"] > 0 for run in searches)
    fetches = [run for run in runs.values() if run.run_type == "tool"]
    assert {"is_reused", "langgraph_node"} <= fetches[0].extra["metadata"].keys()
    assert {run.extra["metadata"]["langgraph_node"] for run in fetches} <= {"extractor", "planner"}
    assert sum(not run.extra["metadata"]["is_reused"] for run in fetches) == sum(site.fetches.values())
    assert all(run.error is None and run.end_time for run in runs.values())
