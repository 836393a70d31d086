"""The research loop: plan, search, select, read, judge. The main graph and every branch share it."""

from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from fathom.graph.binding import Binder
from fathom.graph.routes import (
    route_after_branch_judge,
    route_after_branch_planner,
    route_after_coordinator,
    route_after_extractor,
    route_after_retry,
    route_after_selector,
    route_after_verifier,
    route_to_page,
    route_to_readings,
)
from fathom.nodes.analyzer import analyzer
from fathom.nodes.compare import compare
from fathom.nodes.coordinator import coordinator
from fathom.nodes.extractor import extractor
from fathom.nodes.finish_branch import finish_branch
from fathom.nodes.judge import judge
from fathom.nodes.planner import planner
from fathom.nodes.retry import retry
from fathom.nodes.searcher import searcher
from fathom.nodes.selector import selector
from fathom.nodes.verifier import verifier
from fathom.state import (
    Assignment,
    BranchesOutput,
    BranchOutput,
    PageOutput,
    Reading,
    ReadingOutput,
    ReadingRound,
    ResearchState,
    RunConfig,
)

BranchGraph = CompiledStateGraph[ResearchState, RunConfig, ResearchState, Any]


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


def build_reading(bind: Binder) -> CompiledStateGraph[ReadingRound, RunConfig, ReadingRound, Any]:
    """Build the subgraph that reads the chosen pages of a round."""
    b = StateGraph(ReadingRound, context_schema=RunConfig, output_schema=ReadingOutput)
    b.add_node("page", build_page(bind), input_schema=Reading)
    b.add_node(
        "verifier", bind("verifier", lambda s, d: verifier(s, model=d.model, pages=d.pages, trust=d.trust))
    )
    b.add_node("retry", bind("retry", lambda s, d: retry(s, model=d.model, pages=d.pages)))
    b.add_node("compare", bind("compare", lambda s, d: compare(s, pages=d.pages)))

    b.add_conditional_edges(START, route_to_readings, ["page"])
    b.add_edge("page", "verifier")
    b.add_conditional_edges("verifier", route_after_verifier, ["retry", "compare", END])
    b.add_conditional_edges("retry", route_after_retry, ["verifier", "compare", END])
    b.add_edge("compare", END)
    return b.compile(name="reading")


def build_page(bind: Binder) -> CompiledStateGraph[Reading, RunConfig, Reading, Any]:
    """Build the subgraph for one page; pages run concurrently."""
    b = StateGraph(Reading, context_schema=RunConfig, output_schema=PageOutput)
    b.add_node(
        "extractor",
        bind("extractor", lambda s, d: extractor(s, reader=d.reader, pages=d.pages, clock=d.clock)),
    )
    b.add_node(
        "analyzer", bind("analyzer", lambda s, d: analyzer(s, model=d.model, pages=d.pages, clock=d.clock))
    )

    b.add_conditional_edges(START, route_to_page, ["extractor", "analyzer"])
    b.add_conditional_edges("extractor", route_after_extractor, ["analyzer", END])
    b.add_edge("analyzer", END)
    return b.compile(name="page")


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
