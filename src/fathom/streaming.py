"""A run of the graph as a stream of events.

Does not know databases of runs or the command line.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphDrained
from langgraph.runtime import RunControl
from langgraph.types import StateSnapshot

from fathom.errors import FathomError, ProviderError, RunStopped
from fathom.events import Checkpoint, Completed, Failed, Progress, Spent, Started, Why
from fathom.graph import Research
from fathom.ids import short_id
from fathom.progress import EventMapper
from fathom.report.rounds import on_the_table
from fathom.state import Cost, ResearchState, RunConfig, RunState
from fathom.state.reducers import merged
from fathom.storage import STORAGE_ERRORS

_Part = tuple[tuple[str, ...], str, dict[str, Any]]  # where, in which mode, what
_TOLD: tuple[type[Exception], ...] = (FathomError, *STORAGE_ERRORS)  # anything else is a bug
_LEFT = "left"  # why the work ends when nobody listens any more
_AT_ONCE = 100  # searches, pages and calls have bounds of their own, in the settings


class Keeper(Protocol):
    """Whoever writes down what a run tells and knows, while it works."""

    async def tell(self, event: Progress) -> None:
        """One event, in its order, before anybody else hears of it."""

    async def keep(self, state: RunState, spent: Spent) -> None:
        """The state as it is after a judged round or a written report."""


class Halt:
    """One wish to stop where the run stands: the step in hand ends, everything is kept.

    Safe to call from any thread, a signal handler included, before the work begins and while it lasts.
    """

    def __init__(self) -> None:
        self._control: RunControl | None = None
        self.is_requested = False

    def request(self) -> None:
        """Stop after the current step."""
        self.is_requested = True
        if self._control:
            self._control.request_drain("stopped")

    def reach(self, control: RunControl) -> None:
        """From now on the wish goes to this work."""
        self._control = control
        if self.is_requested:
            control.request_drain("stopped")


@dataclass(frozen=True)
class RunSegment:
    """A stretch of work on one run: what it begins with, who may stop it and who writes it down."""

    run_id: str
    given: Any
    run_config: RunConfig
    before: ResearchState | None = None  # of a run that goes on
    done: frozenset[str] = frozenset()  # tasks of the current step that have ended already
    control: RunControl = field(default_factory=RunControl)
    keeper: Keeper | None = None
    spent_usd: Callable[[], Awaitable[float]] | None = None  # by the book; else by what the run knows itself

    @property
    def question(self) -> str:
        """What the run is about."""
        known: ResearchState = self.before or {}
        return str(self.given["question"]) if isinstance(self.given, dict) else known.get("question", "")


async def worked(graph: Research, leg: RunSegment) -> AsyncGenerator[Progress, None]:
    """Run the graph until it ends or waits, telling what happens; RunStopped when it can go no further.

    The last event is `completed`, `checkpoint` or, before RunStopped, `failed`.
    """
    known: ResearchState = leg.before or {}
    teller = EventMapper(leg.run_id, leg.run_config, known.get("costs", []), _round(known), leg.done)
    try:
        async with aclosing(_told(graph, leg, teller)) as told:
            try:
                async for events in told:
                    # All that one task tells is written down before anybody hears of it: whoever leaves in
                    # between leaves nothing untold.
                    for event in events:
                        await _noted(leg.keeper, event)
                    for event in events:
                        yield event
            except GeneratorExit:
                leg.control.request_drain(_LEFT)  # nothing new begins
                async for events in _happened(told):
                    for event in events:
                        await _noted(leg.keeper, event)
                raise
    except _TOLD as error:
        stopped = _stopped(error)
        way_on = f"fathom resume {short_id(leg.run_id)}"
        failed = teller.event(Failed(error=str(stopped), how_to_go_on=way_on))
        if stopped is not error:  # else it may be the keeper itself that cannot write
            await _noted(leg.keeper, failed)
        yield failed
        if stopped is error:
            raise
        raise stopped from error


async def _told(
    graph: Research, leg: RunSegment, teller: EventMapper
) -> AsyncGenerator[list[Progress], None]:
    """The events as they come, those of one task together."""
    is_resumed = leg.before is not None
    yield [teller.event(Started(question=leg.question, run_config=leg.run_config, is_resumed=is_resumed))]
    last: Progress | None = None
    state: ResearchState = leg.before or {}
    is_judged, is_written = await _unkept(graph, leg)
    is_before = is_judged or is_written  # the first state is then the one without what was ready
    try:
        async with aclosing(_parts(graph, leg)) as parts:
            async for place, mode, task in parts:
                if mode == "values":
                    if place:
                        continue
                    state = cast(ResearchState, task)
                    if is_before:
                        is_before = False
                        continue
                    if leg.keeper and (is_judged or is_written):
                        await _written(leg.keeper.keep(teller.with_config(state), teller.spent))
                    if is_written:  # the state as it is once the report is in it
                        yield [teller.kept(state)]
                    is_judged = is_written = False
                    continue
                if "result" in task and not place:
                    is_judged = is_judged or task["name"] == "judge"
                    is_written = is_written or task["name"] == "writer"
                for interrupt in task.get("interrupts", []):
                    last = teller.event(asked_in(dict(interrupt["value"])))
                yield list(teller.events(place, task))
    except GraphDrained as drained:
        if drained.reason == _LEFT:
            return
        why: Why = "stopped" if drained.reason == "stopped" else "paused"
        spent_usd = await leg.spent_usd() if leg.spent_usd else teller.spent.usd
        last = teller.event(Checkpoint(why=why, shown=_shown(state, leg.run_config, spent_usd, why)))
    yield [last or teller.event(_completed(state))]


async def _happened(told: AsyncGenerator[list[Progress], None]) -> AsyncGenerator[list[Progress], None]:
    """What branches have done, and saved, while the last events were written down and listened to.

    Nobody would tell it when the run goes on. What does not come at once has not happened, and is cut off.
    """
    with suppress(TimeoutError, StopAsyncIteration):
        while True:
            async with asyncio.timeout(0):
                events = await anext(told)
            yield events


async def _unkept(graph: Research, leg: RunSegment) -> tuple[bool, bool]:
    """Whether a judgement, or a report, was ready when the last listener left, but not yet in the state."""
    if leg.before is None:
        return False, False
    stands = await graph.aget_state(config_of(leg.run_id))
    ready = {task.name for task in stands.tasks if task.result is not None}
    return "judge" in ready, "writer" in ready


async def _parts(graph: Research, leg: RunSegment) -> AsyncGenerator[_Part, None]:
    """What LangGraph tells; tasks and not updates: of a subgraph, those tell only what it brings back."""
    stream = graph.astream(
        leg.given,
        config_of(leg.run_id),
        context=leg.run_config,
        stream_mode=["tasks", "values"],
        subgraphs=True,
        durability="async",
        control=leg.control,
    )
    # Whoever stops listening ends the work, and waits until nobody works any more.
    async with aclosing(cast(AsyncGenerator[_Part, None], stream)) as parts:
        async for part in parts:
            yield part


async def _noted(keeper: Keeper | None, event: Progress) -> None:
    if keeper:
        await _written(keeper.tell(event))


async def _written(work: Awaitable[None]) -> None:
    """What a keeper writes; a disk that is full stops nothing that is saved already."""
    try:
        await work
    except OSError as error:
        raise RunStopped(f"The research folder cannot be written: {error}.") from error


def asked_in(shown: dict[str, Any]) -> Checkpoint:
    """The checkpoint of an interrupt: somebody is asked, or wanted a pause."""
    return Checkpoint(why="paused" if shown.get("why") == "paused" else "review", shown=shown)


def _shown(state: ResearchState, run_config: RunConfig, spent_usd: float, why: str) -> dict[str, Any]:
    return on_the_table(state, run_config, spent_usd, why=why) if state.get("question") else {}


def _stopped(error: Exception) -> FathomError:
    """What the caller is told: where a provider or the disk failed, that the run stands and can go on."""
    if isinstance(error, ProviderError):
        return RunStopped(f"{error}")
    if isinstance(error, FathomError):
        return error
    return RunStopped(f"The database could not be written: {error}.")


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


def ended_tasks(snapshot: StateSnapshot) -> frozenset[str]:
    """The tasks of the current step that have ended: they do not run again, and nobody tells them again."""
    found: set[str] = set()
    for task in snapshot.tasks:
        if task.result is not None:
            found.add(task.id)
        if isinstance(task.state, StateSnapshot):
            found |= ended_tasks(task.state)
    return frozenset(found)


def known_in(snapshot: StateSnapshot) -> ResearchState:
    """The state a run stands in, with what the ended tasks of the current step have paid already."""
    paid = merged(snapshot.values.get("costs", []), list(_paid_in(snapshot)))
    return cast(ResearchState, {**snapshot.values, **({"costs": paid} if paid else {})})


def _paid_in(snapshot: StateSnapshot) -> Iterator[Cost]:
    for task in snapshot.tasks:
        if task.result is not None:
            yield from task.result.get("costs", [])
        elif isinstance(task.state, StateSnapshot):
            yield from task.state.values.get("costs", [])
            yield from _paid_in(task.state)
