"""A run of the graph as a stream of events.

Does not know databases of runs or the command line.
"""

import sqlite3
from collections.abc import AsyncIterator
from typing import Any, cast

from langchain_core.runnables import RunnableConfig

from fathom.errors import ProviderError, RunStopped
from fathom.graph import Research
from fathom.progress import Progress, Teller
from fathom.state import Knobs, ResearchState

_AT_ONCE = 10


async def worked(graph: Research, run_id: str, given: Any, knobs: Knobs) -> AsyncIterator[Progress]:
    """Run the graph until it ends or waits, telling what happens; RunStopped when it can go no further."""
    teller = Teller(run_id, knobs.max_rounds)
    last: Progress | None = None
    yield teller.event("started", {})
    try:
        # Tasks and not updates: of a subgraph, updates tell only what it brings back in the end.
        stream = graph.astream(
            given,
            config_of(run_id),
            context=knobs,
            stream_mode=["tasks", "values"],
            subgraphs=True,
            durability="async",
        )
        is_written = False
        async for part in stream:
            place, mode, task = cast(tuple[tuple[str, ...], str, dict[str, Any]], part)
            if mode == "values":
                if is_written and not place:  # the state as it is once the report is in it
                    yield teller.kept(cast(ResearchState, task))
                    is_written = False
                continue
            is_written = is_written or (task["name"] == "writer" and "result" in task)
            for interrupt in task.get("interrupts", []):
                last = teller.event("checkpoint", dict(interrupt["value"]))
            for event in teller.events(place, task):
                yield event
    except ProviderError as error:
        raise RunStopped(f"{error}") from error
    except sqlite3.Error as error:
        raise RunStopped(f"The database could not be written: {error}.") from error
    yield last or teller.event("completed", {})


def config_of(run_id: str) -> RunnableConfig:
    """How LangGraph is told which run is meant."""
    return {"configurable": {"thread_id": run_id}, "max_concurrency": _AT_ONCE}
