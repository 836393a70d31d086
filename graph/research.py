"""The main graph."""

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Checkpointer

from fathom.graph.binding import Binder, with_settings
from fathom.graph.dependencies import DependencyFactory, EnvironmentDependencies
from fathom.graph.loop import add_loop, build_branches
from fathom.graph.routes import (
    route_after_intake,
    route_after_judge,
    route_after_planner,
    route_after_review,
    route_after_writer,
)
from fathom.graph.writing import build_writing
from fathom.nodes.intake import intake
from fathom.nodes.review import review
from fathom.state import ResearchInput, ResearchState, RunConfig

ResearchGraph = CompiledStateGraph[ResearchState, RunConfig, ResearchInput, ResearchState]


def build_graph(
    dependencies: DependencyFactory | None = None, checkpointer: Checkpointer = None
) -> ResearchGraph:
    """Build the research graph.

    `dependencies` makes the dependencies for a run configuration; by default from the environment.
    """
    bind = Binder(dependencies or EnvironmentDependencies())
    b: StateGraph[ResearchState, RunConfig, ResearchInput, ResearchState] = StateGraph(
        ResearchState, context_schema=RunConfig, input_schema=with_settings(ResearchInput)
    )
    b.add_node(
        "intake",
        bind(
            "intake",
            lambda s, d: intake(
                s,
                run_config=d.run_config,
                run_configs=d.run_configs,
                page_leases=d.page_leases,
                forecaster=d.forecaster,
            ),
        ),
        input_schema=with_settings(ResearchState),
    )
    add_loop(b, bind)  # planner, searcher, selector, reading, judge
    b.add_node(
        "review",
        bind("review", lambda s, d: review(s, run_config=d.run_config, signals=d.signals, budget=d.budget)),
    )
    b.add_node("branches", build_branches(bind))
    b.add_node("writer", build_writing(bind))

    b.add_edge(START, "intake")
    b.add_conditional_edges("intake", route_after_intake, ["planner", "searcher", "selector"])
    b.add_conditional_edges("planner", route_after_planner, ["review", "selector"])
    b.add_conditional_edges("review", route_after_review, ["planner", "searcher", "branches", "judge"])
    b.add_edge("branches", "judge")
    b.add_conditional_edges("judge", route_after_judge, ["planner", "branches", "writer", END])
    b.add_conditional_edges("writer", route_after_writer, ["planner", END])
    return b.compile(checkpointer=checkpointer, name="research")


graph = build_graph()
