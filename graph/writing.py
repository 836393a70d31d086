"""The report: outlined, written heading by heading at once, each sentence checked, published.

A chapter is one heading's way: written, checked, what failed written again once and checked again, settled.
"""

from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from fathom.graph.dependencies import DependencyFactory, equip
from fathom.graph.routes import at_once, is_carried, was_rewritten, what_to_write
from fathom.nodes.check import check
from fathom.nodes.outline import outline
from fathom.nodes.publish import publish
from fathom.nodes.rewrite import rewrite
from fathom.nodes.section import section
from fathom.nodes.settle import settle
from fathom.state import Chapter, ChapterOutput, RunConfig, Writing, WritingOutput


def build_writing(kits: DependencyFactory) -> CompiledStateGraph[Writing, RunConfig, Writing, Any]:
    """The subgraph behind the writer."""
    b = StateGraph(Writing, context_schema=RunConfig, output_schema=WritingOutput)
    b.add_node("outline", equip(outline, kits, "mind"))
    b.add_node("chapter", build_chapter(kits))
    b.add_node("publish", equip(publish, kits, "budget"))

    b.add_edge(START, "outline")
    b.add_conditional_edges("outline", at_once(what_to_write), ["chapter", "publish"])
    b.add_edge("chapter", "publish")
    b.add_edge("publish", END)
    return b.compile()


def build_chapter(kits: DependencyFactory) -> CompiledStateGraph[Chapter, RunConfig, Chapter, Any]:
    """The subgraph that every heading is sent to; no chapter waits for another."""
    b = StateGraph(Chapter, context_schema=RunConfig, output_schema=ChapterOutput)
    b.add_node("section", equip(section, kits, "mind"))
    b.add_node("check", equip(check, kits, "mind"))
    b.add_node("rewrite", equip(rewrite, kits, "mind"))
    b.add_node("settle", equip(settle, kits, "run_config"))

    b.add_edge(START, "section")
    b.add_edge("section", "check")
    b.add_conditional_edges("check", at_once(is_carried), ["rewrite", "settle"])
    b.add_conditional_edges("rewrite", at_once(was_rewritten), ["check", "settle"])
    b.add_edge("settle", END)
    return b.compile()
