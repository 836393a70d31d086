"""The research loop: plan, search, select, read, judge. The main graph and every branch share it."""

from typing import Any

from langgraph.graph import StateGraph

from fathom.graph.binding import Binder
from fathom.graph.reading import build_reading
from fathom.graph.routes import route_after_selector
from fathom.nodes.judge import judge
from fathom.nodes.planner import planner
from fathom.nodes.searcher import searcher
from fathom.nodes.selector import selector
from fathom.state import Assignment


def add_loop(b: StateGraph[Any, Any, Any, Any], bind: Binder) -> None:
    """Add the nodes of a round and the edges from searcher to judge.

    The caller adds the edges between planner and searcher, and after the judge.
    """
    b.add_node(
        "planner",
        bind(
            "planner",
            lambda s, d: planner(
                s,
                model=d.model,
                engines=d.engines,
                reader=d.reader,
                run_config=d.run_config,
                clock=d.clock,
            ),
        ),
    )
    b.add_node(
        "searcher",
        bind(
            "searcher",
            lambda s, d: searcher(s, engines=d.engines, run_config=d.run_config, signals=d.signals),
        ),
        input_schema=Assignment,
    )
    b.add_node(
        "selector",
        bind(
            "selector",
            lambda s, d: selector(
                s, run_config=d.run_config, page_leases=d.page_leases, signals=d.signals, pages=d.pages
            ),
        ),
    )
    b.add_node("reading", build_reading(bind))
    b.add_node(
        "judge",
        bind(
            "judge",
            lambda s, d: judge(
                s,
                model=d.model,
                pages=d.pages,
                run_config=d.run_config,
                clock=d.clock,
                signals=d.signals,
                budget=d.budget,
                time_budget=d.time_budget,
            ),
        ),
    )

    b.add_edge("searcher", "selector")
    b.add_conditional_edges("selector", route_after_selector, ["reading", "judge"])
    b.add_edge("reading", "judge")
