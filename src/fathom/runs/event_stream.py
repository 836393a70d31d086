"""A run of the graph as a stream of events, and the journal that keeps them: a file, or a shared table.

A repeated step emits the same events again: the journal recognizes them by content and leaves them out.
"""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphDrained
from langgraph.runtime import RunControl
from langgraph.types import StateSnapshot

from fathom.errors import FathomError, ProviderError, RunStopped
from fathom.events import Checkpoint, CheckpointReason, Failed, Progress, ReportDraft, Spent, Started
from fathom.graph import ResearchGraph
from fathom.report.rounds import review_details
from fathom.runs.control import LOST
from fathom.runs.event_mapper import EventMapper
from fathom.state import Cost, ResearchState, RunConfig, RunState, short_id
from fathom.state.records import merge_records
from fathom.storage import STORAGE_ERRORS, Storage
from fathom.storage.database import describe_database_error
from fathom.storage.files import append_lines, read_whole_lines
from fathom.text.normalization import escape_json

if TYPE_CHECKING:
    from fathom.storage.postgres_server import EventTable

_StreamPart = tuple[tuple[str, ...], str, Any]  # where, in which mode, what
_EXPECTED_ERRORS: tuple[type[Exception], ...] = (FathomError, *STORAGE_ERRORS)  # anything else is a bug
_LISTENER_LEFT = "left"  # the drain reason when the listener has left
_MAX_CONCURRENCY = 100  # searches, pages and calls have bounds of their own, in the settings


class RunRecorder(Protocol):
    """Records the events and states of a run while it works."""

    async def tell(self, event: Progress) -> None:
        """Record an event, in order, before it is yielded."""

    async def keep(self, state: RunState, spent: Spent) -> None:
        """Record the state after a judged round or a written report."""


class StopSwitch:
    """A request to stop after the current steps, with everything saved; for one run, or for many.

    Safe to call from any thread or signal handler, before and during the work.
    """

    def __init__(self) -> None:
        self._controls: set[RunControl] = set()
        self.is_requested = False

    def request(self) -> None:
        """Stop after the current steps."""
        self.is_requested = True
        for control in tuple(self._controls):
            control.request_drain("stopped")

    @asynccontextmanager
    async def over(self, control: RunControl) -> AsyncIterator[None]:
        """Direct the request to this work, also one made before."""
        self._controls.add(control)
        if self.is_requested:
            control.request_drain("stopped")
        try:
            yield
        finally:
            self._controls.discard(control)


@dataclass(frozen=True)
class RunSegment:
    """The work on a run from start or resume to the next stop: its input, control and recorder."""

    run_id: str
    given: Any
    run_config: RunConfig
    before: ResearchState | None = None  # of a resumed run
    done: frozenset[str] = frozenset()  # tasks of the current step that have ended already
    control: RunControl = field(default_factory=RunControl)
    keeper: RunRecorder | None = None
    spent_usd: Callable[[], Awaitable[float]] | None = None  # from the database; else from the events

    @property
    def question(self) -> str:
        """The run's question."""
        known: ResearchState = self.before or {}
        return str(self.given["question"]) if isinstance(self.given, dict) else known.get("question", "")


async def stream_events(graph: ResearchGraph, segment: RunSegment) -> AsyncGenerator[Progress, None]:
    """Run the graph until it ends or waits and yield events; raise RunStopped when it cannot continue.

    The last event is `completed`, `checkpoint` or, before RunStopped, `failed`.
    """
    known: ResearchState = segment.before or {}
    mapper = EventMapper(
        segment.run_id, segment.run_config, known.get("costs", []), _current_round(known), segment.done
    )
    try:
        async with aclosing(_task_events(graph, segment, mapper)) as told:
            try:
                async for events in told:
                    # Record all events of a task before yielding any, so a listener who leaves loses none.
                    for event in events:
                        await _record_event(segment.keeper, event)
                    for event in events:
                        yield event
            except GeneratorExit:
                segment.control.request_drain(_LISTENER_LEFT)  # no new step starts
                async for events in _drain_events(told):
                    for event in events:
                        await _record_event(segment.keeper, event)
                raise
    except _EXPECTED_ERRORS as error:
        stopped = _error_for_caller(error)
        way_on = f"fathom resume {short_id(segment.run_id)}"
        code = error.code if isinstance(error, FathomError) else stopped.code
        failed = mapper.event(Failed(error=str(stopped), how_to_go_on=way_on, code=code))
        if stopped is not error:  # else it may be the keeper itself that cannot write
            await _record_event(segment.keeper, failed)
        yield failed
        if stopped is error:
            raise
        raise stopped from error


async def _task_events(
    graph: ResearchGraph, segment: RunSegment, mapper: EventMapper
) -> AsyncGenerator[list[Progress], None]:
    """Yield events as they come, those of one task together."""
    is_resumed = segment.before is not None
    yield [
        mapper.event(Started(question=segment.question, run_config=segment.run_config, is_resumed=is_resumed))
    ]
    last: Progress | None = None
    state: ResearchState = segment.before or {}
    is_judged, is_written = await _find_unsaved(graph, segment)
    is_before = is_judged or is_written  # then the first state is the one before that update
    try:
        async with aclosing(_graph_stream(graph, segment)) as parts:
            async for place, mode, task in parts:
                if mode == "messages":
                    yield list(mapper.drafts(*task))
                    continue
                if mode == "values":
                    if place:
                        continue
                    state = cast(ResearchState, task)
                    if is_before:
                        is_before = False
                        continue
                    if segment.keeper and (is_judged or is_written):
                        await _write_or_stop(segment.keeper.keep(mapper.with_config(state), mapper.spent))
                    if is_judged:
                        yield [mapper.event(Checkpoint(why="round"))]
                    if is_written:  # the state that contains the report
                        yield [mapper.kept(state)]
                    is_judged = is_written = False
                    continue
                if "result" in task and not place:
                    is_judged = is_judged or task["name"] == "judge"
                    is_written = is_written or task["name"] == "writer"
                for interrupt in task.get("interrupts", []):
                    last = mapper.event(_checkpoint_of(interrupt["value"]))
                yield list(mapper.events(place, task))
    except GraphDrained as drained:
        if drained.reason == _LISTENER_LEFT:
            return
        if drained.reason == LOST:
            raise RunStopped(f"Run {short_id(segment.run_id)} was taken over by another process.") from None
        why: CheckpointReason = "stopped" if drained.reason == "stopped" else "paused"
        spent_usd = await segment.spent_usd() if segment.spent_usd else mapper.spent.usd
        shown = review_details(state, segment.run_config, spent_usd, why=why) if state.get("question") else {}
        last = mapper.event(Checkpoint(why=why, shown=shown))
    yield [last or mapper.completed(state)]


async def _drain_events(told: AsyncGenerator[list[Progress], None]) -> AsyncGenerator[list[Progress], None]:
    """Drain the events of steps already checkpointed; a resumed run does not emit them again. Never waits."""
    with suppress(TimeoutError, StopAsyncIteration):
        while True:
            async with asyncio.timeout(0):
                events = await anext(told)
            yield events


async def _find_unsaved(graph: ResearchGraph, segment: RunSegment) -> tuple[bool, bool]:
    """Return whether a judgement and a report are finished but not applied to the state yet."""
    if segment.before is None:
        return False, False
    stands = await graph.aget_state(graph_config(segment.run_id))
    ready = {task.name for task in stands.tasks if task.result is not None}
    return "judge" in ready, "writer" in ready


async def _graph_stream(graph: ResearchGraph, segment: RunSegment) -> AsyncGenerator[_StreamPart, None]:
    """Stream from LangGraph; tasks instead of updates, which would hide the steps inside subgraphs."""
    stream = graph.astream(
        segment.given,
        graph_config(segment.run_id),
        context=segment.run_config,
        stream_mode=["tasks", "values", "messages"],
        subgraphs=True,
        durability="async",
        control=segment.control,
    )
    # Leaving early ends the work and waits until all tasks have stopped.
    async with aclosing(cast(AsyncGenerator[_StreamPart, None], stream)) as parts:
        async for part in parts:
            yield part


async def _record_event(keeper: RunRecorder | None, event: Progress) -> None:
    """Record an event; of a growing draft only the complete one."""
    if keeper and not (isinstance(event.payload, ReportDraft) and not event.payload.is_whole):
        await _write_or_stop(keeper.tell(event))


async def _write_or_stop(work: Awaitable[None]) -> None:
    """Await a recorder; raise RunStopped if its files cannot be written."""
    try:
        await work
    except OSError as error:
        raise RunStopped(f"The research folder cannot be written: {error}.") from error


def open_checkpoint(snapshot: StateSnapshot) -> Checkpoint | None:
    """Return the review or the pause at which a run waits, if it does."""
    return _checkpoint_of(snapshot.interrupts[0].value) if snapshot.interrupts else None


def _checkpoint_of(shown: Mapping[str, Any]) -> Checkpoint:
    return Checkpoint(why="paused" if shown.get("why") == "paused" else "review", shown=dict(shown))


def _error_for_caller(error: Exception) -> FathomError:
    """Return the error to raise: RunStopped where a provider or the disk failed, since the run can resume."""
    if isinstance(error, ProviderError):
        return RunStopped(f"{error}")
    if isinstance(error, FathomError):
        return error
    return RunStopped(f"The database could not be written: {describe_database_error(error)}.")


def _current_round(state: ResearchState) -> int:
    """Return the current round: the one after the last judged round, or that one if the run stopped there."""
    judgements = state.get("judgements", [])
    return len(judgements) + (not judgements or judgements[-1].stop is None)


def graph_config(run_id: str) -> RunnableConfig:
    """Return the LangGraph configuration that names the run."""
    return {"configurable": {"thread_id": run_id}, "max_concurrency": _MAX_CONCURRENCY}


def finished_task_ids(snapshot: StateSnapshot) -> frozenset[str]:
    """Return the finished tasks of the current step, which a resume does not repeat."""
    found: set[str] = set()
    for task in snapshot.tasks:
        if task.result is not None:
            found.add(task.id)
        if isinstance(task.state, StateSnapshot):
            found |= finished_task_ids(task.state)
    return frozenset(found)


def state_with_costs(snapshot: StateSnapshot) -> ResearchState:
    """Return the current state, with the costs of finished tasks whose updates are not applied yet."""
    paid = merge_records(snapshot.values.get("costs", []), list(_task_costs(snapshot)))
    return cast(ResearchState, {**snapshot.values, **({"costs": paid} if paid else {})})


def _task_costs(snapshot: StateSnapshot) -> Iterator[Cost]:
    for task in snapshot.tasks:
        if task.result is not None:
            yield from task.result.get("costs", [])
        elif isinstance(task.state, StateSnapshot):
            yield from task.state.values.get("costs", [])
            yield from _task_costs(task.state)


class ToldEvents:
    """The events that are in the journal already, by content."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._before: Counter[str] = Counter()
        self.last_round: Progress | None = None  # the last round that was completed, in the whole run
        for line in lines:
            self._know(line)

    def line_if_new(self, event: Progress) -> str:
        """Return an event as JSON, or nothing if it was recorded: each record excuses one repetition."""
        line = escape_json(event.model_dump_json())
        name = _event_digest(json.loads(line))
        is_always_new = event.kind == "started" or event.is_last  # each happens again when the work goes on
        if self._before[name] > 0 and not is_always_new:
            self._before[name] -= 1
            return ""
        self._note(event)
        return line

    def _know(self, line: str) -> None:
        try:
            self._before[_event_digest(json.loads(line))] += 1
            if '"round completed"' in line:
                self._note(Progress.model_validate_json(line))
        except (ValueError, TypeError, KeyError):  # not one of our lines
            return

    def _note(self, event: Progress) -> None:
        if event.kind == "round completed" and not event.branch:
            self.last_round = event


class EventJournal(ToldEvents):
    """A file of events; those it contains when opened are not added again."""

    def __init__(self, path: Path) -> None:
        super().__init__(read_whole_lines(path).splitlines())
        self._path = path

    def add(self, event: Progress) -> bool:
        """Append an event unless it was recorded before; return whether it is new."""
        line = self.line_if_new(event)
        if line:
            append_lines(self._path, line + "\n")
        return bool(line)


@dataclass
class SharedJournal:
    """Writes events into the database that machines share, and hands everything on; see `RunRecorder`."""

    events: "EventTable"
    run_id: str
    other: RunRecorder | None
    _told: ToldEvents | None = None

    async def tell(self, event: Progress) -> None:
        """Store an event unless it was recorded before."""
        if self._told is None:
            self._told = ToldEvents(body for _, body in await self.events.after(self.run_id, 0))
        if line := self._told.line_if_new(event):
            await self.events.add(self.run_id, line)
        if self.other:
            await self.other.tell(event)

    async def keep(self, state: RunState, spent: Spent) -> None:
        """Hand the state on: the checkpoints have it."""
        if self.other:
            await self.other.keep(state, spent)


def recorder_for(storage: Storage, run_id: str, other: RunRecorder | None) -> RunRecorder | None:
    """Return the recorder of a run's events; with PostgreSQL it stores them in the database too."""
    return SharedJournal(storage.events, run_id, other) if storage.events else other


def _event_digest(told: dict[str, Any]) -> str:
    """Return a hash of an event's content, without its time and costs."""
    said = [told["kind"], told["branch"], told["round"], told["payload"]]
    return sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()
