"""Runs that wait for a worker: a queue in the database, and workers on any number of machines.

Procrastinate keeps the queue, and knows by heartbeats which workers are gone. Does not know the command line.
A worker may be killed at any moment: what it was doing is taken over by another, from the last checkpoint.
"""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

from fathom.budget.cost_log import to_nano
from fathom.errors import BadInput, FathomError, RunStopped
from fathom.request import ResearchRequest
from fathom.runs.batch import Batch, BatchQuestion, BatchStop, QuestionOutcome
from fathom.runs.event_stream import StopSwitch
from fathom.runs.executor import is_unfinished
from fathom.runs.repository import remember_queued
from fathom.runs.shared import SharedRuns
from fathom.settings.database_address import DatabaseAddress
from fathom.settings.settings import Settings
from fathom.state import ReviewAnswer, short_hash
from fathom.storage import open_storage

if TYPE_CHECKING:
    from procrastinate import App

_HEARTBEAT_S = 5.0
_STALLED_S = 20.0  # a worker that was not heard of for so long is taken for gone
_POLL_S = 0.5
_AWAY_S = 2.0  # until a server that could not be asked is asked again
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
    request: ResearchRequest | None = None  # of a run that was not begun
    priority: int = 0  # the higher, the sooner
    answer: ReviewAnswer | None = None  # to the plan on the table


@asynccontextmanager
async def open_queue(settings: Settings) -> AsyncIterator["RunQueue"]:
    """Open the queue for those who put runs into it."""
    address = queue_address(settings)
    await open_storage(address).runs.shapes()  # makes the tables, or says in one sentence why not
    app = _make_app(address)
    async with app.open_async():
        yield RunQueue(app)


@dataclass(frozen=True)
class RunQueue:
    """The runs that wait or are worked on."""

    app: "App"

    async def put(self, run: QueuedRun) -> int:
        """Put a run in, unless it waits there already; return the number of its job."""
        from procrastinate.exceptions import AlreadyEnqueued

        job = self.app.configure_task(
            _TASK, queue=_QUEUE, priority=run.priority, lock=run.run_id, queueing_lock=run.run_id
        )
        said = json.loads(run.request.model_dump_json(exclude_unset=True)) if run.request else None
        answer = run.answer.model_dump(mode="json") if run.answer else None
        try:
            return await job.defer_async(run=run.run_id, request=said, answer=answer)
        except AlreadyEnqueued:
            found = await self.app.job_manager.list_jobs_async(lock=run.run_id)
            return max(job.id for job in found if job.id is not None)

    async def finished(self, jobs: Sequence[int]) -> dict[int, str]:
        """Return which of these jobs are over, and how they ended."""
        words = (
            "select id, status::text from procrastinate_jobs"
            " where id = any(%(jobs)s) and status::text = any(%(over)s)"
        )
        rows = await self.app.connector.execute_query_all_async(words, jobs=list(jobs), over=list(_OVER))
        return {int(row["id"]): str(row["status"]) for row in rows}


async def work_on_queue(settings: Settings, at_once: int, stop: BatchStop) -> None:
    """Work on what waits, `at_once` runs at a time, until `stop` is requested; a server may be away."""
    from procrastinate.exceptions import ConnectorException

    logging.getLogger("procrastinate").setLevel(
        logging.CRITICAL
    )  # what matters is told here, in one sentence
    address, shared = queue_address(settings), SharedRuns(settings)
    worker = _Worker(shared, stop)
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
        raise RunStopped("Only a worker works on the queue.")

    app = App(connector=PsycopgConnector(conninfo=address.url.get_secret_value(), min_size=1, max_size=4))
    again = RetryStrategy(max_attempts=_MOST_TRIES, linear_wait=2, retry_exceptions={FathomError})
    app.task(name=_TASK, queue=_QUEUE, retry=again)(research or nobody)
    return app


async def _take_over(app: "App") -> None:
    """Put back what workers had in hand that are gone."""
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
    """Works on one run a job, from where it stands to where it ends or waits for somebody."""

    shared: SharedRuns
    stop: BatchStop
    _halts: set[StopSwitch] = field(default_factory=set)

    async def research(
        self, run: str, request: dict[str, Any] | None = None, answer: dict[str, Any] | None = None
    ) -> None:
        """Bring a run to its end, or to a plan that a person wants to see."""
        async with self.shared.open() as runs:
            snapshot = await runs.snapshot(run)
            is_over = "report" in snapshot.values and not is_unfinished(snapshot)
            if is_over or (snapshot.interrupts and not answer):
                return
            is_new = "run_config" not in snapshot.values  # also when it was stopped before its first step
            if is_new and request is None:
                raise BadInput(f"There is no run {run}.")
            left = await runs.storage.batches.left(run) if runs.storage.batches else None
            if is_new and left is not None and left <= 0:
                return  # nothing is left for it: it is not begun
            halt = StopSwitch()
            self._halts.add(halt)
            try:
                asked = ReviewAnswer.model_validate(answer) if snapshot.interrupts and answer else None
                start = ResearchRequest(**request) if is_new and request else asked
                async for _ in runs.work(run, start, halt=halt):
                    pass
            finally:
                self._halts.discard(halt)
        if halt.is_requested:
            raise RunStopped(f"Run {run} was left by its worker; another one goes on with it.")

    async def work(self, app: "App", at_once: int) -> None:
        """Work on what waits until somebody wants the worker to end, or the server is away."""
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
        """When somebody wants the worker to end, end the steps in hand and give the runs back."""
        while not self.stop.is_requested:  # noqa: ASYNC110 - a signal handler asks, in any thread
            await asyncio.sleep(_POLL_S)
        for halt in self._halts:
            halt.request()
        working.cancel()


class _Finishing:
    """Waits for many jobs with one look at the database."""

    def __init__(self, queue: RunQueue) -> None:
        self._queue = queue
        self._jobs: dict[int, asyncio.Event] = {}
        self._looking: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._looking = asyncio.create_task(self._look())
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._looking:
            self._looking.cancel()
            await asyncio.gather(self._looking, return_exceptions=True)

    async def wait_for(self, run: QueuedRun, stop: BatchStop) -> None:
        """Put a run into the queue and wait until a worker is done with it, or until nobody wants to wait."""
        job = await self._queue.put(run)
        over = self._jobs.setdefault(job, asyncio.Event())
        while not over.is_set() and not stop.is_requested:
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(over.wait(), _POLL_S)

    async def _look(self) -> None:
        from procrastinate.exceptions import ConnectorException

        while True:
            waiting = [job for job, over in self._jobs.items() if not over.is_set()]
            with suppress(ConnectorException):  # the server is away for a moment
                for job in await self._queue.finished(waiting) if waiting else ():
                    self._jobs[job].set()
            await asyncio.sleep(_POLL_S)


@dataclass(frozen=True)
class QueuedBatch(Batch):
    """Questions that workers answer; `total_usd` holds for all of them together, in the database."""

    priority: int = 0
    finishing: _Finishing | None = None

    async def work(self, asked: Sequence[BatchQuestion], known: Mapping[str, str]) -> list[QuestionOutcome]:
        """Every question brought as far as workers bring it, in the order of the file."""
        runs, batches = await self.prepare(asked, known), self.runs.storage.batches
        if self.total_usd is not None and batches:
            name = short_hash("batch", *sorted(runs.values()))
            await batches.open(name, to_nano(self.total_usd), list(runs.values()))
        async with open_queue(self.runs.settings) as queue, _Finishing(queue) as finishing:
            waiting = replace(self, total_usd=None, at_once=max(1, len(asked)), finishing=finishing)
            return await Batch.work(waiting, asked, runs)

    async def _work_on(self, one: BatchQuestion, begun: QuestionOutcome, start: Any) -> QuestionOutcome:
        assert self.finishing is not None
        if start is not None:
            await remember_queued(self.runs.storage, begun.run_id, one.request.query)
        await self.finishing.wait_for(QueuedRun(begun.run_id, one.request, self.priority), self.stop)
        snapshot = await self.runs.snapshot(begun.run_id)
        if "report" in snapshot.values and not is_unfinished(snapshot):
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
