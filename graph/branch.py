"""One branch: a loop of its own into one direction, without review and without a report."""

from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from fathom.graph.dependencies import DependencyFactory, equip
from fathom.graph.reading import build_reading
from fathom.graph.roles import add_roles
from fathom.graph.routes import at_once, has_looked_enough, what_to_search, what_to_study
from fathom.nodes.deliver import deliver
from fathom.state import BranchOutput, ResearchState, RunConfig


def build_branch(kits: DependencyFactory) -> CompiledStateGraph[ResearchState, RunConfig, ResearchState, Any]:
    """The subgraph that a direction is sent to; every step of it is checkpointed by itself."""
    b = StateGraph(ResearchState, context_schema=RunConfig, output_schema=BranchOutput)
    add_roles(b, kits)
    b.add_node("study", build_reading(kits))  # reading; a drawing cannot have that name twice
    b.add_node("deliver", equip(deliver, kits))

    b.add_edge(START, "planner")
    b.add_conditional_edges("planner", at_once(what_to_search), ["searcher", "judge"])
    b.add_edge("searcher", "selector")
    b.add_conditional_edges("selector", at_once(what_to_study), ["study", "judge"])
    b.add_edge("study", "judge")
    b.add_conditional_edges("judge", at_once(has_looked_enough), ["planner", "deliver"])
    b.add_edge("deliver", END)
    return b.compile()
