"""The branches subgraph: a coordinator sends out branches, each a research loop in its own direction."""

from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from fathom.graph.binding import Binder
from fathom.graph.loop import add_loop
from fathom.graph.routes import route_after_branch_judge, route_after_branch_planner, route_after_coordinator
from fathom.nodes.coordinator import coordinator
from fathom.nodes.finish_branch import finish_branch
from fathom.state import BranchesOutput, BranchOutput, ResearchState, RunConfig

BranchGraph = CompiledStateGraph[ResearchState, RunConfig, ResearchState, Any]


def build_branches(bind: Binder) -> BranchGraph:
    """Build the subgraph that explores one level of directions: concurrent, sequential or handing off."""
    b = StateGraph(ResearchState, context_schema=RunConfig, output_schema=BranchesOutput)
    b.add_node(
        "coordinator",
        bind(
            "coordinator",
            lambda s, d: coordinator(s, run_config=d.run_config, signals=d.signals, budget=d.budget),
        ),
    )
    b.add_node("branch", build_branch(bind))

    b.add_edge(START, "coordinator")
    b.add_conditional_edges("coordinator", route_after_coordinator, ["branch", END])
    b.add_edge("branch", "coordinator")
    return b.compile(name="branches")


def build_branch(bind: Binder) -> BranchGraph:
    """Build the research loop of one direction, without review and report; every step is checkpointed."""
    b = StateGraph(ResearchState, context_schema=RunConfig, output_schema=BranchOutput)
    add_loop(b, bind)
    b.add_node("finish_branch", bind("finish_branch", lambda s, _: finish_branch(s)))

    b.add_edge(START, "planner")
    b.add_conditional_edges("planner", route_after_branch_planner, ["searcher", "selector", "judge"])
    b.add_conditional_edges("judge", route_after_branch_judge, ["planner", "finish_branch"])
    b.add_edge("finish_branch", END)
    return b.compile(name="branch")
