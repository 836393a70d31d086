"""The reading subgraph: fetch and analyse each page of a round, then verify their claims together."""

from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from fathom.graph.binding import Binder
from fathom.graph.routes import (
    route_after_extractor,
    route_after_retry,
    route_after_verifier,
    route_to_page,
    route_to_readings,
)
from fathom.nodes.analyzer import analyzer
from fathom.nodes.compare import compare
from fathom.nodes.extractor import extractor
from fathom.nodes.retry import retry
from fathom.nodes.verifier import verifier
from fathom.state import PageOutput, Reading, ReadingOutput, ReadingRound, RunConfig


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
