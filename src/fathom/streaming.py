"""A run of the graph as a stream of events.

Does not know databases of runs or the command line.
"""

import sqlite3
from collections.abc import AsyncIterator
from typing import Any, cast

from langchain_core.runnables import RunnableConfig

from fathom.errors import ProviderError, RunStopped
from fathom.events import Checkpoint, Completed, Failed, Progress, Started
from fathom.graph import Research
from fathom.ids import short_id
from fathom.progress import Teller
from fathom.state import Knobs, ResearchState

_AT_ONCE = 10


async def worked(
    graph: Research, run_id: str, given: Any, knobs: Knobs, before: ResearchState | None = None
) -> AsyncIterator[Progress]:
    """Run the graph until it ends or waits, telling what happens; RunStopped when it can go no further.

    `before` is the state of a run that goes on.
    """
    known: ResearchState = before or {}
    teller = Teller(run_id, knobs, known.get("charges", []), _round(known))
    question = str(given["question"]) if isinstance(given, dict) else known.get("question", "")
    yield teller.event(Started(question=question, knobs=knobs, is_resumed=before is not None))
    last: Progress | None = None
    state: ResearchState = known
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
                state = state if place else cast(ResearchState, task)
                if is_written and not place:  # the state as it is once the report is in it
                    yield teller.kept(state)
                    is_written = False
                continue
            is_written = is_written or (task["name"] == "writer" and "result" in task)
            for interrupt in task.get("interrupts", []):
                last = teller.event(Checkpoint(why="review", shown=dict(interrupt["value"])))
            for event in teller.events(place, task):
                yield event
    except (ProviderError, sqlite3.Error) as error:
        stopped = _stopped(error)
        yield teller.event(Failed(error=str(stopped), how_to_go_on=f"fathom resume {short_id(run_id)}"))
        raise stopped from error
    yield last or teller.event(_completed(state))


def _stopped(error: Exception) -> RunStopped:
    if isinstance(error, sqlite3.Error):
        return RunStopped(f"The database could not be written: {error}.")
    return RunStopped(f"{error}")


def _round(state: ResearchState) -> int:
    """The round a run is in: the one after the last that was judged, or that one if it was the last."""
    judgements = state.get("judgements", [])
    return len(judgements) + (not judgements or judgements[-1].stop is None)


def _completed(state: ResearchState) -> Completed:
    judgements = state.get("judgements", [])
    last = judgements[-1] if judgements else None
    return Completed(
        status=state["report"].status if "report" in state else "",
        score=last.overall if last else 0.0,
        because=f"{last.stop} ({last.because})" if last and last.stop else "",
    )


def config_of(run_id: str) -> RunnableConfig:
    """How LangGraph is told which run is meant."""
    return {"configurable": {"thread_id": run_id}, "max_concurrency": _AT_ONCE}
