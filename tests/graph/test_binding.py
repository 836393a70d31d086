"""Each graph works with the dependencies it was built with, and every run with its own configuration."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from fakes.run_parts import Library, ScriptedModel, make_dependencies
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from standins.prose import page

from fathom.budget import Budget
from fathom.errors import BadInput
from fathom.graph import build_graph
from fathom.graph.binding import Binder, resolve_run_config
from fathom.graph.dependencies import standard_dependencies
from fathom.settings import load_settings
from fathom.state import ResearchState, RunConfig

CONFIG = RunConfig(rounds=1, sources=2)


def library_of(name: str) -> Library:
    return Library({f"https://{name}{n}.example/book": page(n, 600) for n in range(2)})


async def test_runs_at_once_work_each_with_the_dependencies_of_their_graph(tmp_path: Path) -> None:
    async def hosts(name: str) -> set[str]:
        graph = build_graph(make_dependencies(tmp_path, library_of(name), ScriptedModel(quotes=1)))
        state: Any = await graph.ainvoke({"question": f"What of {name}?"}, context=CONFIG)
        return {page.address.removeprefix("https://").split(".")[0][:-1] for page in state["pages"]}

    assert list(await asyncio.gather(hosts("one"), hosts("two"))) == [{"one"}, {"two"}]


async def test_every_run_has_the_budget_of_its_own_configuration(tmp_path: Path) -> None:
    budgets: list[float] = []

    async def payer(state: ResearchState, *, budget: Budget) -> ResearchState:
        budgets.append(budget.budget_usd)
        return {}

    bind = Binder(standard_dependencies(load_settings(home=tmp_path)))
    b = StateGraph(ResearchState, context_schema=RunConfig)
    b.add_node("payer", bind("payer", lambda s, d: payer(s, budget=d.budget)))
    b.add_edge(START, "payer")
    b.add_edge("payer", END)
    graph = b.compile()
    for usd in (1.0, 0.01):
        await graph.ainvoke({"question": "What?"}, context=RunConfig(budget_usd=usd))
    assert budgets == [1.0, 0.01]


async def test_settings_in_the_input_are_refused_in_one_sentence_and_are_in_no_form(tmp_path: Path) -> None:
    graph = build_graph(
        make_dependencies(tmp_path, library_of("one"), ScriptedModel(quotes=1)), InMemorySaver()
    )
    assert graph.get_input_jsonschema()["properties"].keys() == {"question"}
    thread: Any = {"configurable": {"thread_id": "one"}}
    given: Any = {"question": "What of one?", "depth": "standard", "model": "none"}
    with pytest.raises(BadInput) as caught:
        await graph.ainvoke(given, thread, context=CONFIG)
    told = "Settings of a run belong into the context, not into the input: depth, model."
    assert str(caught.value) == told
    state: Any = await graph.ainvoke({"question": "What of one?"}, thread, context=CONFIG)
    assert state["pages"]
    assert not {"depth", "model"} & state.keys()


def test_what_a_caller_sets_overrides_what_is_stored_field_by_field() -> None:
    settled = RunConfig(rounds=3, sources=8, language="ko")
    stored = settled.model_dump_json()
    assert resolve_run_config(None, stored) == resolve_run_config(RunConfig(), stored) == settled
    found = resolve_run_config(RunConfig(rounds=5, sources=None), stored)
    assert (found.rounds, found.sources, found.language) == (5, 8, "ko")
    assert resolve_run_config(RunConfig(rounds=2), None).rounds == 2


@pytest.mark.parametrize("given", [{"queries": 3}, {"strategy": "tree"}, {"queries": 3, "strategy": "tree"}])
async def test_settings_that_are_called_as_parts_of_the_state_are_refused_too(
    tmp_path: Path, given: dict[str, Any]
) -> None:
    graph: Any = build_graph(make_dependencies(tmp_path, library_of("one"), ScriptedModel(quotes=1)))
    with pytest.raises(BadInput, match=f"not into the input: {', '.join(given)}"):
        await graph.ainvoke({"question": "What?", **given}, context=CONFIG)


async def test_a_thread_is_used_for_one_question(tmp_path: Path) -> None:
    graph = build_graph(
        make_dependencies(tmp_path, library_of("one"), ScriptedModel(quotes=1)), InMemorySaver()
    )
    thread: Any = {"configurable": {"thread_id": "one"}}
    await graph.ainvoke({"question": "What?"}, thread, context=CONFIG)
    with pytest.raises(BadInput, match="begin a new thread"):
        await graph.ainvoke({"question": "And why?"}, thread, context=CONFIG)
