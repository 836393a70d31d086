"""Runs on a database: prepare, start, resume, read. One process works on a run at a time."""

import asyncio
import uuid
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path
from typing import Any, cast

from langgraph.constants import START
from langgraph.types import Command, StateSnapshot

from fathom.budget.prices import refuse_unenforceable_budget
from fathom.concurrency import share_paces
from fathom.errors import BadInput, ProviderError
from fathom.events import Completed, Progress
from fathom.graph import ResearchGraph, build_graph, graph, standard_dependencies
from fathom.llm.clients import model_clients
from fathom.planning.effort import apply_effort
from fathom.request import ResearchRequest
from fathom.result import ResearchResult, make_result
from fathom.runs import OPEN_STATUS, RunLine, find_run, open_status, remember_line, run_times
from fathom.runs.control import PausePoller, hold_run, pause_poller_of
from fathom.runs.event_stream import (
    RunRecorder,
    RunSegment,
    StopSwitch,
    finished_task_ids,
    graph_config,
    open_checkpoint,
    recorder_for,
    state_with_costs,
    stream_events,
)
from fathom.runs.follow_up import FinishedRun, FollowUpRequest, UpdateRequest, make_follow_up, make_update
from fathom.runs.telemetry import count_result, observe
from fathom.search.engines import local_engine
from fathom.search.local_index import ProgressCallback as IndexProgress
from fathom.settings import Settings
from fathom.settings.model_names import RECORDED
from fathom.state import ResearchState, ReviewAnswer, RunConfig, RunState, short_id
from fathom.storage import STORAGE_ERRORS, Storage, open_storage
from fathom.storage.checkpoints import Saver, checkpointer

NewRun = ResearchRequest | UpdateRequest | FollowUpRequest
RunStart = NewRun | ReviewAnswer | None


@dataclass(frozen=True)
class Runs:
    """All runs of one database."""

    settings: Settings
    storage: Storage  # everything except the checkpoints
    saver: Saver
    watch: PausePoller

    async def prepare_run(
        self, request: ResearchRequest, *, is_capped: bool = False, on_index: IndexProgress | None = None
    ) -> tuple[str, RunConfig]:
        """Validate the request; return a new id and configuration. Starts nothing.

        A budget set by the user, here or for several runs (`is_capped`), must be enforceable.
        `on_index` reports, from another thread, how many of the run's own documents are indexed.
        """
        run_config = await asyncio.to_thread(request.run_config, self.settings.run)  # it looks at folders
        await self._validate_dependencies(run_config)
        await self._validate_budget(request, run_config, is_capped=is_capped)
        await self._validate_documents(run_config, on_index)
        return str(uuid.uuid4()), run_config

    async def update(self, earlier_id: str) -> tuple[str, UpdateRequest]:
        """Return a new id and the input of a run that brings a finished one up to date."""
        snapshot = await self._finished(earlier_id)
        _, ended = await run_times(self.storage, earlier_id)
        request = make_update(earlier_id, cast(RunState, snapshot.values), ended.date())
        await self._validate_dependencies(request.run_config())
        return str(uuid.uuid4()), request

    async def follow_up(self, run_id: str, asked: ResearchRequest) -> tuple[str, FollowUpRequest]:
        """Return a new id and the input of a run that asks on in the thread of a finished one."""
        asked = await asyncio.to_thread(asked.with_full_paths)
        request = await self.make_follow_up(run_id, asked)
        config = request.run_config()
        if (config.model or "").startswith(RECORDED):
            raise BadInput(
                "The demo's replies answer its own question only. Ask on with --model none for passages of "
                "its documents, or with a model of yours."
            )
        await self._validate_dependencies(config)
        await self._validate_budget(asked, config)
        await self._validate_documents(config)
        new_id = str(uuid.uuid4())
        await self.storage.threads.follow(new_id, run_id)
        return new_id, request

    async def make_follow_up(self, run_id: str, asked: ResearchRequest) -> FollowUpRequest:
        """Return the input of a follow-up of a finished run."""
        threads = self.storage.threads
        followed = await self._past(run_id, await self._finished(run_id))
        thread = await threads.thread_of(run_id)
        if await threads.is_closed(thread):
            raise BadInput(f"The thread of run {short_id(run_id)} is closed; ask a new question instead.")
        others = [await self._past(one, await self.snapshot(one)) for one, _ in await threads.runs_of(thread)]
        past = [one for one in others if one and one.run != run_id]
        return make_follow_up(asked, [*past, *([followed] if followed else [])])

    async def _past(self, run_id: str, snapshot: StateSnapshot) -> FinishedRun | None:
        """Return a run of a thread, if it has ended with a report."""
        if not has_ended(snapshot):
            return None
        _, ended = await run_times(self.storage, run_id)
        return FinishedRun(run_id, cast(RunState, snapshot.values), ended)

    async def work(
        self,
        run_id: str,
        start: RunStart = None,
        *,
        keep: RunRecorder | None = None,
        halt: StopSwitch | None = None,
    ) -> AsyncGenerator[Progress, None]:
        """Start a run with its request, or resume it where it stands, and yield its events.

        The last event is `completed` or `checkpoint`: a review is due, somebody asked for a pause, or `halt`
        was requested. Control signals from any process take effect while it works.
        """
        async with hold_run(self.storage, run_id):
            segment = replace(
                await self._next_segment(run_id, start),
                keeper=recorder_for(self.storage, run_id, keep),
                spent_usd=partial(self.spent_usd, run_id),
            )
            dependencies = standard_dependencies(self.settings.with_allowed(segment.run_config))
            working = observe(build_graph(dependencies, self.saver), run_id, self.settings)
            await self.storage.signals.resumed(run_id)
            async with (
                self._keep_listed(segment),
                self.watch.over(run_id, segment.control),
                (halt or StopSwitch()).over(segment.control),
                aclosing(stream_events(working, segment)) as events,
            ):
                async for event in events:
                    await self._handle_end(run_id, event)
                    yield event

    async def _handle_end(self, run_id: str, event: Progress) -> None:
        """Tidy up after a round or a run that an event reports as completed."""
        if isinstance(event.payload, Completed):
            await self.storage.signals.ended(run_id)
            count_result(event.payload.result, self.settings)
        if event.kind in ("round completed", "completed"):
            await self.storage.checkpoints.thin(run_id)

    async def _next_segment(self, run_id: str, start: RunStart) -> RunSegment:
        """Return the input and the state with which the run starts or resumes."""
        if isinstance(start, NewRun):
            if isinstance(start, ResearchRequest):
                run_config = await asyncio.to_thread(start.run_config, self.settings.run)
                given: Any = {"question": start.query}
            else:
                run_config, given = start.run_config(), start.given()
            await self.remember_config(run_id, run_config)  # also for a run that is stopped at once
            return RunSegment(run_id, given, run_config)
        await self._refuse_conversation(run_id)
        stands = await self.snapshot(run_id, subgraphs=True)
        known = cast(ResearchState, {"question": "", **state_with_costs(stands)})
        answer = start or _answer_after_pause(stands)
        given = Command(resume=answer.model_dump()) if answer else None
        return RunSegment(run_id, given, config_in_snapshot(stands), known, finished_task_ids(stands))

    async def _refuse_conversation(self, run_id: str) -> None:
        """Refuse a thread of the chat graph: its next message continues it."""
        kept = await self.saver.aget_tuple(graph_config(run_id))
        if kept and "messages" in kept.checkpoint["channel_values"]:
            raise BadInput(
                f"Run {short_id(run_id)} is a conversation; answer it, or say more, where it was begun."
            )

    async def finish(self, run_id: str) -> None:
        """Make a stopped run write its report next, as if a person had chosen that in its last review."""
        snapshot = await self.snapshot(run_id)
        if not snapshot.values.get("questions"):
            raise BadInput(f"Run {short_id(run_id)} has nothing to write about yet.")
        judgements = snapshot.values.get("judgements", [])
        if judgements and judgements[-1].stop:
            return  # it is ending already
        async with hold_run(self.storage, run_id):
            await self.graph.aupdate_state(graph_config(run_id), {"is_finishing": True}, as_node="review")

    async def result(self, run_id: str) -> ResearchResult:
        """Return the result of a run that has a report.

        While the run continues, the state can be newer than the report.
        """
        snapshot = await self.snapshot(run_id)
        if "report" not in snapshot.values:
            raise _no_report_error(run_id)
        first, last = await run_times(self.storage, run_id)
        return make_result(run_id, snapshot.values, (last - first).total_seconds())  # type: ignore[arg-type]

    async def snapshot(self, run_id: str, *, subgraphs: bool = False) -> StateSnapshot:
        """Return the run's current state and its configuration; before the first step, its input."""
        stands = await self.graph.aget_state(graph_config(run_id), subgraphs=subgraphs)
        values = dict(stands.values)
        if START in stands.next:
            kept = await self.saver.aget_tuple(graph_config(run_id))
            values |= kept.checkpoint["channel_values"].get(START, {}) if kept else {}
        run_config = await self.config_of(values.get("run") or run_id)
        if run_config:
            effort = values.get("effort")
            values["run_config"] = apply_effort(run_config, effort) if effort else run_config
        return stands._replace(values=values)

    async def config_of(self, run: str) -> RunConfig | None:
        """Return the configuration stored under this name: a run's id, or the name in its state."""
        stored = await self.storage.runs.config_of(run)
        return RunConfig.model_validate_json(stored) if stored else None

    async def remember_config(self, run: str, run_config: RunConfig) -> None:
        """Store a configuration under a run's name."""
        await self.storage.runs.remember_config(run, run_config.model_dump_json())

    async def steps(self, run_id: str) -> AsyncIterator[StateSnapshot]:
        """Yield the state after each step, newest first."""
        async for snapshot in self.graph.aget_state_history(graph_config(run_id)):
            yield snapshot

    async def _finished(self, run_id: str) -> StateSnapshot:
        snapshot = await self.snapshot(run_id)
        if not has_ended(snapshot):
            raise _no_report_error(run_id)
        return snapshot

    async def find(self, name: str | None) -> str:
        """The full id of a run named by its first characters; the latest run without a name."""
        return await find_run(self.storage, name)

    async def line(self, run_id: str) -> RunLine:
        """A run as a list shows it."""
        line = await self.stored_line(run_id)
        return replace(line, status=line.status or await open_status(self.storage, run_id))

    async def stored_line(self, run_id: str) -> RunLine:
        """Return the line to store; the status is OPEN_STATUS while it depends on the run's lock."""
        snapshot = await self.snapshot(run_id)
        started, _ = await run_times(self.storage, run_id)
        question = str(snapshot.values.get("question", ""))
        earlier, known = snapshot.values.get("earlier"), snapshot.values.get("known")
        fork = snapshot.values.get("fork")
        return RunLine(
            id=run_id,
            status=_stored_status(snapshot),
            question=question,
            started=started,
            cost_usd=await self.spent_usd(run_id),
            rounds=len(snapshot.values.get("judgements", [])),
            updates=earlier.run if earlier else "",
            follows=known.turns[-1].run if known else "",
            forks=fork.run if fork else "",
        )

    async def spent_usd(self, run_id: str) -> float:
        """Return what a run has paid or reserved, including steps that never ended."""
        return await self.storage.costs.spent_usd(run_id)

    @asynccontextmanager
    async def _keep_listed(self, segment: RunSegment) -> AsyncIterator[None]:
        """Store the run's list entry before and after the work; if that fails, checkpoints have it."""
        with suppress(BadInput, *STORAGE_ERRORS):
            new = RunLine(segment.run_id, OPEN_STATUS, segment.question, datetime.now(UTC), 0.0)
            line = await self.stored_line(segment.run_id) if segment.before is not None else new
            await remember_line(self.storage, replace(line, status=OPEN_STATUS))
        try:
            yield
        finally:
            with suppress(BadInput, *STORAGE_ERRORS):
                await remember_line(self.storage, await self.stored_line(segment.run_id))

    async def _validate_dependencies(self, run_config: RunConfig) -> None:
        """Refuse a configuration with which no run can be built, such as an unknown model."""
        make_dependencies = standard_dependencies(self.settings.with_allowed(run_config))
        await asyncio.to_thread(make_dependencies, run_config)

    async def _validate_budget(
        self, asked: ResearchRequest, run_config: RunConfig, *, is_capped: bool = False
    ) -> None:
        """Refuse a budget set by the user that cannot be enforced: a model or engine has no price."""
        is_named = "budget_usd" in asked.said or "budget_usd" in self.settings.run.model_fields_set
        if is_named or is_capped:
            await asyncio.to_thread(
                refuse_unenforceable_budget, self.settings.with_allowed(run_config), run_config
            )

    async def _validate_documents(self, run_config: RunConfig, on_index: IndexProgress | None = None) -> None:
        """Refuse documents that do not exist or cannot be read, before the run instead of in its report."""
        for place in run_config.docs:
            if not await asyncio.to_thread(Path(place).exists):
                raise BadInput(f"There is no folder or file {place}.")
        engine = await asyncio.to_thread(local_engine, self.settings, run_config, on_index)
        try:
            if engine and not await engine.prepare():
                reasons = "; ".join(why for _, why in engine.unread[:3])
                raise BadInput(
                    f"{', '.join(run_config.docs)} has no document that can be read (Markdown, text, HTML,"
                    f" PDF, Python, reStructuredText, package metadata){': ' + reasons if reasons else ''}."
                )
        except ProviderError as error:
            raise BadInput(f"{error}.") from error

    @cached_property
    def graph(self) -> ResearchGraph:
        """The graph on this database, to read and change states; its nodes are not run."""
        return graph.copy({"checkpointer": self.saver})


@asynccontextmanager
async def open_runs(settings: Settings) -> AsyncIterator[Runs]:
    """Open the runs of the settings' database."""
    async with checkpointer(settings.database) as saver, model_clients():
        storage = open_storage(settings.database)
        share_paces(storage.paces)
        yield Runs(settings, storage, saver, pause_poller_of(storage))


def is_begun(snapshot: StateSnapshot) -> bool:
    """Whether a run has a checkpoint to resume; its configuration is stored before the first one."""
    return snapshot.created_at is not None


def is_unfinished(snapshot: StateSnapshot) -> bool:
    """Whether a run has work left.

    A finished task whose update is not applied yet is in `tasks`, not in `next`.
    """
    return bool(snapshot.next or snapshot.tasks)


def has_ended(snapshot: StateSnapshot) -> bool:
    """Whether a run has its report and no work left."""
    return "report" in snapshot.values and not is_unfinished(snapshot)


def _stored_status(snapshot: StateSnapshot) -> str:
    """Return the status as far as it does not depend on the run's lock."""
    if has_ended(snapshot):
        return str(snapshot.values["report"].status)
    if waits_for := open_checkpoint(snapshot):
        return "paused" if waits_for.why == "paused" else "waiting for review"
    return OPEN_STATUS


def _no_report_error(run_id: str) -> BadInput:
    return BadInput(f"Run {short_id(run_id)} has no report yet; go on with: fathom resume {short_id(run_id)}")


def config_in_snapshot(snapshot: StateSnapshot) -> RunConfig:
    """Return the configuration a run was started with."""
    run_config = snapshot.values.get("run_config")
    return run_config if isinstance(run_config, RunConfig) else RunConfig.model_validate(run_config or {})


def _answer_after_pause(snapshot: StateSnapshot) -> ReviewAnswer | None:
    """Resuming a pause without an answer approves the plan."""
    waits_for = open_checkpoint(snapshot)
    return ReviewAnswer(action="approve") if waits_for and waits_for.why == "paused" else None
