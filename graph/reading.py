"""One page: fetched, read, its claims drawn and verified. No page waits for another."""

from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from fathom.graph.dependencies import DependencyFactory, equip
from fathom.graph.routes import at_once, was_fetched, was_known, was_read
from fathom.nodes.analyzer import analyzer
from fathom.nodes.compare import compare
from fathom.nodes.extractor import extractor
from fathom.state import Reading, ReadingOutput, RunConfig


def build_reading(kits: DependencyFactory) -> CompiledStateGraph[Reading, RunConfig, Reading, Any]:
    """The subgraph that a round sends every chosen hit to."""
    b = StateGraph(Reading, context_schema=RunConfig, output_schema=ReadingOutput)
    b.add_node("extractor", equip(extractor, kits, "reader", "pages", "clock"))
    b.add_node("analyzer", equip(analyzer, kits, "mind", "pages"))
    b.add_node("compare", equip(compare, kits, "pages"))

    b.add_conditional_edges(START, at_once(was_fetched), ["extractor", "analyzer"])
    b.add_conditional_edges("extractor", at_once(was_read), ["analyzer", "compare", END])
    b.add_conditional_edges("analyzer", at_once(was_known), ["compare", END])
    b.add_edge("compare", END)
    return b.compile()
