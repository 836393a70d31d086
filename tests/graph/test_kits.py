"""One compiled graph for all runs: each works with its own kits, and with no other's."""

import asyncio
from pathlib import Path
from typing import Any

from kits import Clerk, Library, kits_of
from langgraph.graph import END, START, StateGraph
from standins.prose import page

from fathom.budget.budget import Budget
from fathom.graph import build, working_with
from fathom.graph.dependencies import equip, standard_dependencies
from fathom.settings import load_settings
from fathom.state import ResearchState, RunConfig

KNOBS = RunConfig(rounds=1, sources=2)


def library_of(name: str) -> Library:
    return Library({f"https://{name}{n}.example/book": page(n, 600) for n in range(2)})


async def test_runs_of_one_graph_at_once_work_each_with_its_own_kits(tmp_path: Path) -> None:
    graph = build(kits_of(tmp_path, library_of("usual"), Clerk(quotes=1)))

    async def hosts(name: str | None) -> set[str]:
        config = working_with(kits_of(tmp_path, library_of(name), Clerk(quotes=1))) if name else None
        state: Any = await graph.ainvoke({"question": f"What of {name}?"}, config, context=KNOBS)
        return {page.address.removeprefix("https://").split(".")[0][:-1] for page in state["pages"]}

    found = await asyncio.gather(hosts("one"), hosts("two"), hosts(None))
    assert list(found) == [{"one"}, {"two"}, {"usual"}]


async def test_what_comes_over_a_network_under_that_name_is_not_taken(tmp_path: Path) -> None:
    usual = library_of("usual")
    graph = build(kits_of(tmp_path, usual, Clerk(quotes=1)))
    (name,) = working_with(kits_of(tmp_path, library_of("other"), Clerk()))["configurable"]
    await graph.ainvoke({"question": "What?"}, {"configurable": {name: "other"}}, context=KNOBS)
    assert len(usual.read) == 2


async def test_knobs_that_are_changed_and_given_again_count_as_they_are_then(tmp_path: Path) -> None:
    budgets: list[float] = []

    async def payer(state: ResearchState, *, budget: Budget) -> ResearchState:
        budgets.append(budget.budget_usd)
        return {}

    b = StateGraph(ResearchState, context_schema=RunConfig)
    b.add_node("payer", equip(payer, standard_dependencies(load_settings(home=tmp_path)), "budget"))
    b.add_edge(START, "payer")
    b.add_edge("payer", END)
    graph = b.compile()
    given: Any = {"question": "What?", "run_config": {}}
    for usd in (1.0, 0.01):
        given["run_config"]["budget_usd"] = usd
        await graph.ainvoke(given)
    assert budgets == [1.0, 0.01]
