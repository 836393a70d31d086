"""The roles of a round, and what each of them works with: the same in the whole run and in every branch."""

from typing import Any

from langgraph.graph import StateGraph

from fathom.graph.dependencies import DependencyFactory, equip
from fathom.nodes.judge import judge
from fathom.nodes.planner import planner
from fathom.nodes.searcher import searcher
from fathom.nodes.selector import selector
from fathom.state import Assignment


def add_roles(b: StateGraph[Any, Any, Any, Any], kits: DependencyFactory) -> None:
    """Who plans, searches, chooses and judges; the edges are drawn where the graph is built."""
    b.add_node("planner", equip(planner, kits, "mind", "engines", "reader", "run_config"))
    b.add_node("searcher", equip(searcher, kits, "engines", "run_config", "signals"), input_schema=Assignment)
    b.add_node("selector", equip(selector, kits, "run_config", "page_leases", "signals"))
    b.add_node(
        "judge", equip(judge, kits, "mind", "pages", "run_config", "clock", "signals", "budget", "watch")
    )
