"""One page: fetched, read, its claims drawn and verified. No page waits for another."""

from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from fathom.graph.binding import Binder
from fathom.graph.routes import route_after_analyzer, route_after_extractor, route_to_page
from fathom.nodes.analyzer import analyzer
from fathom.nodes.compare import compare
from fathom.nodes.extractor import extractor
from fathom.state import Reading, ReadingOutput, RunConfig


def build_reading(bind: Binder) -> CompiledStateGraph[Reading, RunConfig, Reading, Any]:
    """Build the subgraph that a round sends every chosen page to."""
    b = StateGraph(Reading, context_schema=RunConfig, output_schema=ReadingOutput)
    b.add_node(
        "extractor",
        bind("extractor", lambda s, d: extractor(s, reader=d.reader, pages=d.pages, clock=d.clock)),
    )
    b.add_node("analyzer", bind("analyzer", lambda s, d: analyzer(s, model=d.model, pages=d.pages)))
    b.add_node("compare", bind("compare", lambda s, d: compare(s, pages=d.pages)))

    b.add_conditional_edges(START, route_to_page, ["extractor", "analyzer"])
    b.add_conditional_edges("extractor", route_after_extractor, ["analyzer", "compare", END])
    b.add_conditional_edges("analyzer", route_after_analyzer, ["compare", END])
    b.add_edge("compare", END)
    return b.compile(name="reading")
