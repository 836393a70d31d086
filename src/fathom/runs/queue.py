"""Runs that wait for a worker: a queue in the database, and workers on any number of machines.

Procrastinate keeps the queue and detects dead workers by heartbeats. If a worker is killed, another one
resumes its runs from the last checkpoint.
"""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from fathom.errors import BadInput, FathomError, RunStopped
from fathom.request import ResearchRequest
from fathom.runs import remember_queued
from fathom.runs.batch import Batch, BatchQuestion, QuestionOutcome
from fathom.runs.control import SharedRuns
from fathom.runs.event_stream import StopSwitch
from fathom.runs.executor import NewRun, Runs, RunStart, has_ended, is_begun
from fathom.runs.follow_up import FollowUpRequest, UpdateRequest
from fathom.settings import Settings
from fathom.settings.database_address import DatabaseAddress
from fathom.state import ReviewAnswer, short_hash
from fathom.storage import open_storage
from fathom.storage.records import to_nano

if TYPE_CHECKING:
    from procrastinate import App

_HEARTBEAT_S = 5.0
_STALLED_S = 20.0  # a worker without a heartbeat for this long counts as dead
_POLL_S = 0.5
_AWAY_S = 2.0  # wait before asking an unreachable server again
_MOST_TRIES = 8
_OVER = ("succeeded", "failed", "aborted", "cancelled")
_TASK, _QUEUE = "fathom.research", "fathom"
_log = logging.getLogger(__name__)


def queue_address(settings: Settings) -> DatabaseAddress:
    """Return the server that keeps the queue, or BadInput."""
    if not isinstance(settings.database, DatabaseAddress):
        raise BadInput("Workers need PostgreSQL: set FATHOM_DATABASE=postgresql://USER:PASSWORD@HOST/NAME.")
    return settings.database


@dataclass(frozen=True)
class QueuedRun:
    """A run that a worker is to begin, or to go on with."""

    run_id: str
    start: NewRun | None = None  # of a run that has not started
    priority: int = 0  # the higher, the sooner
    answer: ReviewAnswer | None = None  # to the plan on the table

    def words(self) -> dict[str, Any]:
        """Return the job's arguments; the state of earlier runs is in the database."""
        told: dict[str, Any] = {"run": self.run_id}
        asked = self.start.asked if isinstance(self.start, FollowUpRequest) else self.start
        if isinstance(asked, ResearchRequest):
            told["request"] = json.loads(asked.model_dump_json(exclude_unset=True))
        if isinstance(self.start, FollowUpRequest):
            told["follows"] = self.start.known.turns[-1].run
        if isinstance(self.start, UpdateRequest):
            told["updates"] = self.start.earlier.run
        if self.answer:
            told["answer"] = self.answer.model_dump(mode="json")
        return told


@asynccontextmanager
async def open_queue(settings: Settings) -> AsyncIterator["RunQueue"]:
    """Open the queue for adding runs."""
    address = queue_address(settings)
    await open_storage(address).runs.shapes()  # makes the tables, or says in one sentence why not
    app = _make_app(address)
    async with app.open_async():
        queue = RunQueue(app)
        looking = asyncio.create_task(queue.look())
        try:
            yield queue
        finally:
            looking.cancel()
            await asyncio.gather(looking, return_exceptions=True)


class RunQueue:
    """The runs that wait or are worked on; many are waited for with one look at the database."""

    def __init__(self, app: "App") -> None:
        self._app = app
        self._waiting: dict[int, asyncio.Future[str]] = {}

    async def put(self, run: QueuedRun) -> int:
        """Put a run in, unless it waits there already; return the number of its job."""
        from procrastinate.exceptions import AlreadyEnqueued

        job = self._app.configure_task(
            _TASK, queue=_QUEUE, priority=run.priority, lock=run.run_id, queueing_lock=run.run_id
        )
        try:
            return await job.defer_async(**run.words())
        except AlreadyEnqueued:
            found = await self._app.job_manager.list_jobs_async(lock=run.run_id)
            return max(job.id for job in found if job.id is not None)

    async def wait_for(self, job: int) -> str:
        """Return how a job ended, once no worker has it in hand any more."""
        over = self._waiting.setdefault(job, asyncio.get_running_loop().create_future())
        return await asyncio.shield(over)

    async def look(self) -> None:
        """Look for jobs that have ended, until this is cancelled."""
        from procrastinate.exceptions import ConnectorException

        words = "select id, status::text from procrastinate_jobs where id = any(%(jobs)s)"
        while True:
            await asyncio.sleep(_POLL_S)
            if not self._waiting:
                continue
            with suppress(ConnectorException):  # the server is away for a moment
                found = self._app.connector.execute_query_all_async(words, jobs=list(self._waiting))
                for row in await found:
                    if row["status"] in _OVER:
                        self._waiting.pop(int(row["id"])).set_result(str(row["status"]))


async def work_on_queue(shared: SharedRuns, at_once: int, stop: StopSwitch) -> None:
    """Work on queued runs, `at_once` at a time, until `stop` is requested; reconnects to the server."""
    from procrastinate.exceptions import ConnectorException

    logging.getLogger("procrastinate").setLevel(logging.CRITICAL)  # we log what matters ourselves
    address, worker = queue_address(shared.settings), _Worker(shared, stop)
    async with shared.open():
        while not stop.is_requested:
            app = _make_app(address, worker.research)
            try:
                async with app.open_async():
                    await worker.work(app, at_once)
            except ConnectorException as error:
                _log.warning("The queue cannot be reached: %s", address.hide(str(error.__cause__ or error)))
            if not stop.is_requested:
                await asyncio.sleep(_AWAY_S)


def _make_app(address: DatabaseAddress, research: Callable[..., Any] | None = None) -> "App":
    from procrastinate import App, PsycopgConnector, RetryStrategy

    async def nobody(**_: Any) -> None:
        raise RunStopped("Queued runs need a worker; start one with: fathom worker")

    app = App(connector=PsycopgConnector(conninfo=address.url.get_secret_value(), min_size=1, max_size=4))
    again = RetryStrategy(max_attempts=_MOST_TRIES, linear_wait=2, retry_exceptions={FathomError})
    app.task(name=_TASK, queue=_QUEUE, retry=again)(research or nobody)
    return app


async def _take_over(app: "App") -> None:
    """Queue the jobs of dead workers again."""
    from procrastinate.exceptions import ConnectorException

    while True:
        with suppress(ConnectorException):  # another worker was quicker, or the server is away for a moment
            for job in await app.job_manager.get_stalled_jobs(
                queue=_QUEUE, seconds_since_heartbeat=_STALLED_S
            ):
                _log.warning("Run %s is taken over: its worker is gone.", job.task_kwargs.get("run"))
                await app.job_manager.retry_job(job)
        await asyncio.sleep(_HEARTBEAT_S)


@dataclass
class _Worker:
    """Works on one run per job, until it ends or waits for an answer."""

    shared: SharedRuns
    stop: StopSwitch

    async def research(
        self,
        run: str,
        request: dict[str, Any] | None = None,
        answer: dict[str, Any] | None = None,
        follows: str = "",
        updates: str = "",
    ) -> None:
        """Work on a run until it ends or waits for a review."""
        async with self.shared.open() as runs:
            snapshot = await runs.snapshot(run)
            if has_ended(snapshot) or (snapshot.interrupts and not answer):
                return
            is_new = not is_begun(snapshot)  # also when it was stopped before its first step
            if is_new and request is None and not updates:
                raise BadInput(f"There is no run {run}.")
            left = await runs.storage.batches.left(run) if runs.storage.batches else None
            if is_new and left is not None and left <= 0:
                return  # the batch's budget is used up: do not start it
            start: RunStart = ReviewAnswer.model_validate(answer) if snapshot.interrupts else None
            if is_new:
                start = await _start_of(runs, request, follows, updates)
            async for _ in runs.work(run, start, halt=self.stop):
                pass
        if self.stop.is_requested:
            raise RunStopped(f"Run {run} was left by its worker; another one goes on with it.")

    async def work(self, app: "App", at_once: int) -> None:
        """Work on queued runs until the worker should stop or the server is unreachable."""
        working = asyncio.create_task(
            app.run_worker_async(
                queues=[_QUEUE],
                concurrency=at_once,
                install_signal_handlers=False,
                fetch_job_polling_interval=_POLL_S,
                update_heartbeat_interval=_HEARTBEAT_S,
                stalled_worker_timeout=_STALLED_S,
            )
        )
        helping = [asyncio.create_task(_take_over(app)), asyncio.create_task(self._wait_for_stop(working))]
        try:
            with suppress(asyncio.CancelledError):
                await working
        finally:
            for task in helping:
                task.cancel()
            await asyncio.gather(*helping, return_exceptions=True)

    async def _wait_for_stop(self, working: "asyncio.Task[None]") -> None:
        """On a stop request, which every run hears, finish the current steps and release the runs."""
        while not self.stop.is_requested:  # noqa: ASYNC110 - a signal handler asks, in any thread
            await asyncio.sleep(_POLL_S)
        working.cancel()


async def _start_of(runs: Runs, request: dict[str, Any] | None, follows: str, updates: str) -> NewRun:
    """Return the start of a run."""
    if updates:
        return (await runs.update(updates))[1]
    asked = ResearchRequest(**request or {})
    return await runs.make_follow_up(follows, asked) if follows else asked


@dataclass(frozen=True)
class QueuedBatch(Batch):
    """Questions that workers answer; `total_usd` holds for all of them together, in the database."""

    priority: int = 0
    queue: RunQueue | None = None

    async def work(self, asked: Sequence[BatchQuestion], known: Mapping[str, str]) -> list[QuestionOutcome]:
        """Every question brought as far as workers bring it, in the order of the file."""
        runs, batches = await self.prepare(asked, known), self.runs.storage.batches
        if self.total_usd is not None and batches:
            name = short_hash("batch", *sorted(runs.values()))
            await batches.open(name, to_nano(self.total_usd), list(runs.values()))
        async with open_queue(self.runs.settings) as queue:
            waiting = replace(self, total_usd=None, at_once=max(1, len(asked)), queue=queue)
            return await Batch.work(waiting, asked, runs)

    async def _work_on(self, one: BatchQuestion, begun: QuestionOutcome, start: Any) -> QuestionOutcome:
        assert self.queue is not None
        if start is not None:
            await remember_queued(self.runs.storage, begun.run_id, one.request.query)
        job = await self.queue.put(QueuedRun(begun.run_id, one.request, self.priority))
        waiting = asyncio.ensure_future(self.queue.wait_for(job))
        while not waiting.done() and not self.stop.is_requested:  # a signal handler asks, in any thread
            await asyncio.wait([waiting], timeout=_POLL_S)
        waiting.cancel()
        snapshot = await self.runs.snapshot(begun.run_id)
        if has_ended(snapshot):
            return await self._report(begun)
        spent = await self.runs.spent_usd(begun.run_id)
        if snapshot.interrupts:
            return replace(begun, status="waiting for review", cost_usd=spent)
        batches = self.runs.storage.batches
        left = await batches.left(begun.run_id) if batches else None
        why = (
            "the total budget is used up" if left is not None and left <= 0 else "no worker has ended it yet"
        )
        return replace(
            begun, status="stopped" if snapshot.values else "not started", because=why, cost_usd=spent
        )
