"""The whole machine on one screen."""

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Checkpointer

from fathom.graph.branch import build_branch
from fathom.graph.dependencies import DependencyFactory, equip, kits_from_environment
from fathom.graph.reading import build_reading
from fathom.graph.roles import add_roles
from fathom.graph.routes import (
    at_once,
    is_enough,
    is_going_on,
    one_or_many,
    what_is_at_hand,
    what_to_ask_again,
    what_to_read,
    what_to_recall,
    where_to_begin,
    which_branches,
    whom_to_ask,
)
from fathom.graph.writing import build_writing
from fathom.nodes.gather import gather
from fathom.nodes.lead import lead
from fathom.nodes.recall import recall
from fathom.nodes.recheck import recheck
from fathom.nodes.review import review
from fathom.state import ResearchInput, ResearchState, RunConfig

Research = CompiledStateGraph[ResearchState, RunConfig, ResearchInput, ResearchState]


def build(kits: DependencyFactory = kits_from_environment, checkpointer: Checkpointer = None) -> Research:
    """The compiled graph; `kits` says what a run with given knobs works with."""
    b: StateGraph[ResearchState, RunConfig, ResearchInput, ResearchState] = StateGraph(
        ResearchState, context_schema=RunConfig, input_schema=ResearchInput
    )
    b.add_node("lead", equip(lead, kits, "run_config", "page_leases", "forecaster"))
    add_roles(b, kits)
    b.add_node("recheck", equip(recheck, kits, "run_config", "page_leases"))
    b.add_node("recall", equip(recall, kits, "pages", "run_config"))
    b.add_node("review", equip(review, kits, "run_config", "signals", "budget"))
    b.add_node("reading", build_reading(kits))
    b.add_node("branch", build_branch(kits))
    b.add_node("gather", equip(gather, kits, "run_config", "signals", "budget"))
    b.add_node("writer", build_writing(kits))

    b.add_conditional_edges(START, at_once(where_to_begin), ["lead", "recheck"])
    b.add_conditional_edges("recheck", at_once(what_to_ask_again), ["searcher", "selector"])
    b.add_conditional_edges("lead", at_once(one_or_many), ["planner", "review"])
    b.add_conditional_edges("planner", at_once(what_is_at_hand), ["recall", "review"])
    b.add_conditional_edges("recall", at_once(what_to_recall), ["reading", "judge"])
    b.add_conditional_edges(
        "review", at_once(whom_to_ask), ["lead", "planner", "searcher", "branch", "judge"]
    )
    b.add_edge("searcher", "selector")
    b.add_conditional_edges("selector", at_once(what_to_read), ["reading", "judge"])
    b.add_edge("reading", "judge")
    b.add_edge("branch", "gather")
    b.add_conditional_edges("gather", at_once(which_branches), ["branch", "judge"])
    b.add_conditional_edges("judge", at_once(is_enough), ["planner", "branch", "writer", END])
    b.add_conditional_edges("writer", at_once(is_going_on), ["planner", END])
    return b.compile(checkpointer=checkpointer)


graph = build()
