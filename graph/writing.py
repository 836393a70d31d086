"""The report: outlined, written section by section at once, checked, published."""

from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from fathom.graph.kit import Kits, equip
from fathom.graph.routes import what_to_write
from fathom.nodes.check import check
from fathom.nodes.outline import outline
from fathom.nodes.publish import publish
from fathom.nodes.section import section
from fathom.state import Chapter, Knobs, Writing, WritingOutput


def build_writing(kits: Kits) -> CompiledStateGraph[Writing, Knobs, Writing, Any]:
    """The subgraph behind the writer."""
    b = StateGraph(Writing, context_schema=Knobs, output_schema=WritingOutput)
    b.add_node("outline", equip(outline, kits, "mind"))
    b.add_node("section", equip(section, kits, "mind"), input_schema=Chapter)
    b.add_node("check", equip(check, kits, "mind"))
    b.add_node("publish", publish)

    b.add_edge(START, "outline")
    b.add_conditional_edges("outline", what_to_write, ["section"])
    b.add_edge("section", "check")
    b.add_edge("check", "publish")
    b.add_edge("publish", END)
    return b.compile()
