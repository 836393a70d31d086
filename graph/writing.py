"""The writing subgraph: outline, write, check every sentence, edit, publish.

A chapter is what one author writes in one go and one checker reads: the whole report, unless it is very long.
"""

from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from fathom.graph.binding import Binder
from fathom.graph.routes import route_after_check, route_after_outline, route_after_rewrite
from fathom.nodes.check import check
from fathom.nodes.confirm import confirm
from fathom.nodes.draft import draft
from fathom.nodes.edit import edit
from fathom.nodes.outline import outline
from fathom.nodes.publish import publish
from fathom.nodes.rewrite import rewrite
from fathom.nodes.settle import settle
from fathom.state import Chapter, ChapterOutput, RunConfig, Writing, WritingOutput


def build_writing(bind: Binder) -> CompiledStateGraph[Writing, RunConfig, Writing, Any]:
    """Build the writing subgraph."""
    b = StateGraph(Writing, context_schema=RunConfig, output_schema=WritingOutput)
    b.add_node("outline", bind("outline", lambda s, d: outline(s, model=d.model, run_config=d.run_config)))
    b.add_node("chapter", build_chapter(bind))
    b.add_node("edit", bind("edit", lambda s, d: edit(s, model=d.model)))
    b.add_node(
        "confirm",
        bind(
            "confirm",
            lambda s, d: confirm(s, model=d.model, pages=d.pages, run_config=d.run_config, trust=d.trust),
        ),
    )
    b.add_node("publish", bind("publish", lambda s, d: publish(s, budget=d.budget, run_config=d.run_config)))

    b.add_edge(START, "outline")
    b.add_conditional_edges("outline", route_after_outline, ["chapter", "edit", "publish"])
    b.add_edge("chapter", "edit")
    b.add_edge("edit", "confirm")
    b.add_edge("confirm", "publish")
    b.add_edge("publish", END)
    return b.compile(name="writer")


def build_chapter(bind: Binder) -> CompiledStateGraph[Chapter, RunConfig, Chapter, Any]:
    """Build the subgraph for one chapter; chapters run concurrently."""
    b = StateGraph(Chapter, context_schema=RunConfig, output_schema=ChapterOutput)
    b.add_node("draft", bind("draft", lambda s, d: draft(s, model=d.model, pages=d.pages)))
    b.add_node(
        "check",
        bind(
            "check",
            lambda s, d: check(s, model=d.model, pages=d.pages, run_config=d.run_config, trust=d.trust),
        ),
    )
    b.add_node("rewrite", bind("rewrite", lambda s, d: rewrite(s, model=d.model, pages=d.pages)))
    b.add_node("settle", bind("settle", lambda s, d: settle(s, run_config=d.run_config)))

    b.add_edge(START, "draft")
    b.add_edge("draft", "check")
    b.add_conditional_edges("check", route_after_check, ["rewrite", "settle"])
    b.add_conditional_edges("rewrite", route_after_rewrite, ["check", "settle"])
    b.add_edge("settle", END)
    return b.compile(name="chapter")
