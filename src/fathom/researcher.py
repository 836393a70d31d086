"""Fathom from Python: see `DeepResearcher`."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from fathom.archive import RunArchive
from fathom.concurrency import collect_events, in_own_task, iterate_blocking, run_blocking, wait_for
from fathom.errors import BadInput, RunStopped
from fathom.request import ResearchRequest
from fathom.settings import Settings, load_settings
from fathom.state import Forecast, ReviewAnswer, Role, RunConfig
from fathom.storage import open_storage

# Imported inside the methods that need it: the import takes a second, and listing runs does not need it.
if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from fathom.audit import AuditEvent, AuditResult
    from fathom.audit.auditor import AuditRequest
    from fathom.evaluation import EvalResult
    from fathom.evaluation.evaluator import EvalRequest
    from fathom.events import Progress
    from fathom.result import ResearchResult
    from fathom.runs.batch import BatchQuestion, BatchStop, QuestionOutcome
    from fathom.runs.executor import RunStart
    from fathom.runs.queue import RunQueue
    from fathom.runs.watch import WatchOutcome
    from fathom.session import BlockingSession, Session
    from fathom.storage.records import Watch


class DeepResearcher(RunArchive):
    """Researches questions; every run is kept and can be resumed.

    >>> from fathom import DeepResearcher, ResearchRequest
    >>> request = ResearchRequest(query="How high is the tower?", docs=["papers"])
    >>> result = DeepResearcher().research_sync(request)
    >>> result.status
    'extracts'
    >>> [citation.title for citation in result.citations]
    ['The tower']

    In a coroutine, `await` the same without `_sync`; as a context manager it keeps its database open.

    >>> import asyncio
    >>> async def researched():
    ...     async with DeepResearcher() as researcher:
    ...         return await researcher.research(request)
    >>> asyncio.run(researched()).report == result.report
    True

    `out` is a folder in which every run gets a research folder of its own. `model` is the name of a model or
    any LangChain chat model, and `models` has others for single roles (plan, read, verify, judge, outline,
    write, check): `DeepResearcher(model=ChatAnthropic(…), models={"verify": "openai:gpt-4.1"})`.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        out: Path | str | None = None,
        model: "BaseChatModel | str | None" = None,
        models: "Mapping[Role, BaseChatModel | str] | None" = None,
    ) -> None:
        own = settings or load_settings()
        super().__init__(own.with_chat_models(model, models) if model is not None or models else own)
        self._out = Path(out) if out is not None else None

    async def research(self, request: ResearchRequest) -> "ResearchResult":
        """The result of one question; raises RunStopped, with the run's id, when it must be resumed.

        A run whose task is cancelled stands where it is, and can be resumed too.
        """
        async with self._shared.open():  # opened once for all of it
            result = await self._work_to_end(await self.begin(request))
        return result.model_copy(update={"output_format": request.output_format})

    def stream(self, request: ResearchRequest) -> "AsyncGenerator[Progress, None]":
        """Research a question and yield its progress; the last event is `completed` or `checkpoint`.

        Leaving the loop leaves the run where it stands.

        >>> import asyncio
        >>> from fathom import DeepResearcher, ResearchRequest
        >>> async def listened():
        ...     request = ResearchRequest(query="How high is the tower?", docs=["papers"])
        ...     return [event async for event in DeepResearcher().stream(request)]
        >>> events = asyncio.run(listened())
        >>> [event.kind for event in events][:4]
        ['started', 'effort sized', 'plan generated', 'search started']
        >>> events[-1].kind, events[-1].payload.status
        ('completed', 'extracts')
        """
        return in_own_task(self._stream(request))

    async def _stream(self, request: ResearchRequest) -> "AsyncGenerator[Progress, None]":
        session = await self.begin(request)
        async with aclosing(session.events()) as events:
            async for event in events:
                yield event

    async def start(self, request: ResearchRequest) -> "Session":
        """A session: the run goes from checkpoint to checkpoint, and shows every plan unless told otherwise.

        >>> import asyncio
        >>> from fathom import DeepResearcher, ResearchRequest, ReviewAnswer
        >>> async def steered():
        ...     request = ResearchRequest(query="How high is the tower?", docs=["papers"])
        ...     session = await DeepResearcher().start(request)
        ...     table = await session.checkpoint()
        ...     await session.add_query("tower height in metres")
        ...     while not session.is_complete:
        ...         await session.go_on(ReviewAnswer(action="approve"))
        ...     return table.shown["round"], await session.result()
        >>> number, result = asyncio.run(steered())
        >>> number, "tower height in metres" in [query.text for query in result.asked]
        (1, True)
        """
        return await self.begin(request if "review" in request.said else request.with_config(review="rounds"))

    async def begin(
        self, request: ResearchRequest, *, on_index: Callable[[int, int], None] | None = None
    ) -> "Session":
        """A session on a new run that is reviewed only if the request says so.

        `on_index` is told, in another thread, how many of how many changed documents are read.
        """
        async with self._shared.open() as runs:
            run_id, config = await runs.prepare_run(request, on_index=on_index)
        return self._session(run_id, request, config)

    async def begin_demo(self, language: str = "en") -> "Session":
        """A session on the demo, in English ("en") or Korean ("ko"): its model's replies are recorded."""
        from fathom.demo import demo_request

        return await self.begin(demo_request(language))

    async def session(self, run_id: str | None = None) -> "Session":
        """Return a session on any run, by the first characters of its id, or on the latest."""
        async with self._shared.open() as runs:
            full = await runs.find(run_id)
            snapshot = await runs.snapshot(full)
        session = self._session(full, None)
        session.restore(snapshot)
        return session

    async def resume(self, run_id: str, answer: ReviewAnswer | None = None) -> "ResearchResult":
        """Go on after any stop, a crash included; `answer` is for a run that waits for review.

        >>> from fathom import DeepResearcher, ResearchRequest, ReviewAnswer
        >>> request = ResearchRequest(query="How high is the tower?", docs=["papers"], review="plan")
        >>> events = list(DeepResearcher().stream_sync(request))
        >>> events[-1].payload.why
        'review'
        >>> answer = ReviewAnswer(action="edit", queries=["height of the tower"])
        >>> result = DeepResearcher().resume_sync(events[0].run_id, answer)
        >>> [query.text for query in result.asked if query.id != "scout"]
        ['height of the tower']
        """
        session = await self.session(run_id)
        return await self._work_to_end(session, answer) if not session.is_complete else await session.result()

    async def update(self, run_id: str) -> "ResearchResult":
        """The report of a finished run brought up to date, as a new run: what changed stands at its top."""
        return await self._work_to_end(await self.begin_update(run_id))

    async def begin_update(self, run_id: str | None = None) -> "Session":
        """A session on an update of a run, of the latest without an id."""
        async with self._shared.open() as runs:
            new_id, start = await runs.update(await runs.find(run_id))
        return self._session(new_id, start, start.run_config())

    async def watch(self, run_id: str, every: str, *, webhook: str = "") -> "Watch":
        """Have a finished report brought up to date every so often (7d, 12h), by a worker or `run_watches`.

        What changed is written to `digest.md` in the update's folder, and posted to the webhook if its host
        is one of `settings.webhook_hosts`.
        """
        from fathom.runs.watch import make_watch

        async with self._shared.open() as runs:
            full = await runs.find(run_id)
            await runs.result(full)  # refuses a run without a report
            made = make_watch(full, every, webhook, self.settings.webhook_hosts, time.time())
            await runs.storage.watches.put(made)
        return made

    async def watches(self) -> "list[Watch]":
        """Every watched report, the next that is due first."""
        async with self._shared.open() as runs:
            return await runs.storage.watches.every()

    async def unwatch(self, run_id: str) -> None:
        """Watch a report no longer."""
        async with self._shared.open() as runs:
            if not await runs.storage.watches.drop(await runs.find(run_id)):
                raise BadInput(f"Run {run_id} is not watched.")

    async def run_watches(self, now: "Callable[[], float]" = time.time) -> "list[WatchOutcome]":
        """Bring every watched report up to date that is due."""
        from fathom.runs.watch import run_due

        async with self._shared.open() as runs:
            known = set(await runs.storage.checkpoints.run_ids())

            async def update(watch: "Watch") -> "tuple[ResearchResult, Path | None]":
                if watch.updating in known:  # an earlier update was cut off
                    session = await self.session(watch.updating)
                else:
                    session = await self.begin_update(watch.latest)
                    await runs.storage.watches.begin(watch.run, session.id)
                done = await session.result() if session.is_complete else await self._work_to_end(session)
                return done, session.folder

            hosts = self.settings.webhook_hosts
            return [outcome async for outcome in run_due(runs.storage, update, now, hosts)]

    async def follow_up(self, run_id: str, question: str | ResearchRequest) -> "ResearchResult":
        """A later question in the thread of a finished run, as a new run.

        What the thread knows is used first, and only what it leaves open is searched for. What a request
        sets holds; all else is as it was for the run before.

        >>> from fathom import DeepResearcher, ResearchRequest
        >>> request = ResearchRequest(query="How high is the tower?", docs=["papers"])
        >>> first = DeepResearcher().research_sync(request)
        >>> second = DeepResearcher().follow_up_sync(first.run_id, "Where is the tower of 48 metres?")
        >>> second.asked, [turn.question for turn in second.thread]
        ([], ['How high is the tower?'])
        >>> [query.status for query in DeepResearcher().thread_sync(second.run_id).queries]
        ['completed', 'completed']
        """
        result = await self._work_to_end(await self.ask(run_id, question))
        form = "markdown" if isinstance(question, str) else question.output_format
        return result.model_copy(update={"output_format": form})

    async def ask(self, run_id: str, question: str | ResearchRequest) -> "Session":
        """A session on a follow-up, to listen to or to steer."""
        asked = ResearchRequest(query=question) if isinstance(question, str) else question
        async with self._shared.open() as runs:
            new_id, start = await runs.follow_up(await runs.find(run_id), asked)
        return self._session(new_id, start, start.run_config())

    async def fork(self, run_id: str, direction: str, *, after_round: int | None = None) -> "ResearchResult":
        """Another way from the end of a round, the last unless said, as a new run: nothing is paid again.

        >>> from fathom import DeepResearcher, ResearchRequest
        >>> request = ResearchRequest(query="How high is the tower?", docs=["papers"], rounds=1)
        >>> first = DeepResearcher().research_sync(request)
        >>> second = DeepResearcher().fork_sync(first.run_id, "Who built it?")
        >>> second.fork.round, "Who built it?" in [query.text for query in second.asked]
        (1, True)
        """
        return await self._work_to_end(await self.begin_fork(run_id, direction, after_round=after_round))

    async def begin_fork(
        self, run_id: str, direction: str, *, after_round: int | None = None, more_rounds: int | None = None
    ) -> "Session":
        """A session on a fork; `more_rounds` are those it may have, else what was left, two at least."""
        from fathom.runs.follow_up import fork_run

        async with self._shared.open() as runs:
            new_id = await fork_run(runs, await runs.find(run_id), after_round, direction, more_rounds)
        return await self.session(new_id)

    async def forecast(self, request: ResearchRequest) -> Forecast:
        """Return what a question would cost; nothing is searched, read or asked, and no run starts."""
        return await (await self.begin(request)).forecast()

    async def batch(
        self,
        questions: "Sequence[str | ResearchRequest | BatchQuestion]",
        out: Path | str,
        *,
        at_once: int = 4,
        total_usd: float | None = None,
        on_event: "Callable[[BatchQuestion, Progress], None] | None" = None,
        on_change: "Callable[[Mapping[str, QuestionOutcome]], None] | None" = None,
        stop: "BatchStop | None" = None,
        by_workers: bool = False,
        priority: int = 0,
    ) -> "list[QuestionOutcome]":
        """Research many questions, a few at a time, into folders below `out`.

        The same call again goes on: what has a report is not run again. `total_usd` is the most that all may
        cost together, and `stop` ends them after the steps in hand. `by_workers`: they are put into the queue
        of the database, those of a higher `priority` first, and workers on any machine answer them.

        >>> from fathom import DeepResearcher, ResearchRequest
        >>> request = ResearchRequest(query="How high is the tower?", docs=["papers"])
        >>> [outcome.status for outcome in DeepResearcher().batch_sync([request], "towers")]
        ['extracts']
        """
        from fathom.runs.batch import Batch, BatchStop, number_questions, work_on_batch

        async with self._shared.open() as runs:
            batch = Batch(
                runs,
                Path(out),
                on_event or (lambda *_: None),
                on_change or (lambda _: None),
                stop or BatchStop(),
                at_once,
                total_usd,
            )
            if by_workers:
                from fathom.runs.queue import QueuedBatch

                batch = QueuedBatch(**vars(batch), priority=priority)
            return await work_on_batch(batch, number_questions(questions))

    async def submit(self, request: ResearchRequest, *, priority: int = 0) -> str:
        """Put a run into the queue of the database, for a worker on any machine; return its id.

        `follow` tells what happens to it. A run of a higher priority is begun sooner.
        """
        from fathom.runs.queue import open_queue

        async with open_queue(self.settings) as queue, self._shared.open():
            session = await self.begin(await asyncio.to_thread(request.with_full_paths))
            await self.enqueue(queue, session, priority=priority)
            return session.id

    async def submit_run(self, run_id: str, answer: ReviewAnswer | None = None, *, priority: int = 0) -> str:
        """Have a worker go on with a run that was begun anywhere; `answer` is for a plan on the table."""
        from fathom.runs.queue import open_queue

        async with open_queue(self.settings) as queue, self._shared.open():
            session = await self.session(run_id)
            await self.enqueue(queue, session, answer, priority=priority)
            return session.id

    async def enqueue(
        self, queue: "RunQueue", session: "Session", answer: ReviewAnswer | None = None, *, priority: int = 0
    ) -> int:
        """Put the run of a session into a queue that is open; return the number of its job."""
        from fathom.runs import remember_queued

        if session.question:
            await remember_queued(open_storage(self.settings.database), session.id, session.question)
        return await queue.put(session.queued(answer, priority))

    async def work(self, at_once: int = 8, *, stop: "BatchStop | None" = None) -> None:
        """Be a worker: bring runs from the queue of the database to their ends, until `stop` is requested.

        Watched reports that are due are brought up to date too.
        """
        from fathom.runs.batch import BatchStop
        from fathom.runs.queue import work_on_queue
        from fathom.runs.watch import keep_watching

        watching = asyncio.create_task(keep_watching(self.run_watches))
        try:
            await work_on_queue(self._shared, at_once, stop or BatchStop())
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)

    async def forecast_batch(
        self,
        questions: "Sequence[str | ResearchRequest | BatchQuestion]",
        out: Path | str,
        *,
        at_once: int = 4,
        total_usd: float | None = None,
    ) -> Forecast:
        """What the questions that have no report in `out` yet would cost together."""
        from fathom.runs.batch import add_forecasts, list_unanswered, number_questions

        sessions = []
        async with self._shared.open() as runs:
            for one in await asyncio.to_thread(list_unanswered, number_questions(questions), Path(out)):
                run_id, config = await runs.prepare_run(one.request, is_capped=total_usd is not None)
                sessions.append(self._session(run_id, one.request, config))
            return add_forecasts([await session.forecast() for session in sessions], at_once, total_usd)

    async def audit(self, report: "str | AuditRequest") -> "AuditResult":
        """A report by anybody, checked against what it cites: a file, an address, or a whole request.

        >>> from pathlib import Path
        >>> from fathom import AuditRequest, DeepResearcher, RunConfig
        >>> said = "# Towers\\n\\nThe tower is 52 metres high [1].\\n\\n## Sources\\n\\n[1] tower.md"
        >>> _ = Path("report.md").write_text(said)
        >>> request = AuditRequest(report="report.md", run_config=RunConfig(docs=["papers"]))
        >>> result = DeepResearcher().audit_sync(request)
        >>> [verdict.verdict for verdict in result.verdicts], result.has_alarms
        (['contradicted'], True)
        """
        async for event in self.stream_audit(report):
            result = event.result
        assert result is not None
        return result

    def stream_audit(self, report: "str | AuditRequest") -> "AsyncGenerator[AuditEvent, None]":
        """The same, telling how far it is; the last event is `completed` and has the result."""
        return in_own_task(self._stream_audit(report))

    async def _stream_audit(self, report: "str | AuditRequest") -> "AsyncGenerator[AuditEvent, None]":
        from fathom.audit.auditor import AuditRequest, audit_report

        request = AuditRequest(report=report) if isinstance(report, str) else report
        work = partial(audit_report, self.settings, request)
        async with self._shared.open(), aclosing(collect_events(work)) as events:
            async for event in events:
                yield event

    async def forecast_audit(self, report: "str | AuditRequest") -> Forecast:
        """Return what an audit would cost; its sources are not read, and no model is asked."""
        from fathom.audit.auditor import AuditRequest, forecast_audit

        request = AuditRequest(report=report) if isinstance(report, str) else report
        return await forecast_audit(self.settings, request)

    async def evaluate(
        self, request: "EvalRequest", tell: "Callable[[str], None]" = lambda _: None
    ) -> "EvalResult":
        """Reports on tasks, ours and others', scored, audited and compared; `tell` hears how far it is."""
        from fathom.evaluation.evaluator import evaluate

        async with self._shared.open():
            return await evaluate(self.settings, request, self.research, tell)

    async def forecast_evaluation(self, request: "EvalRequest") -> Forecast:
        """What an evaluation would cost."""
        from fathom.evaluation.evaluator import forecast_evaluation

        async with self._shared.open():
            return await forecast_evaluation(self.settings, request, self.forecast)

    def stream_sync(self, request: ResearchRequest) -> "Iterator[Progress]":
        """`stream` for a plain `for`; leaving the loop leaves the run where it stands."""
        return iterate_blocking(lambda: self.stream(request))

    def start_sync(self, request: ResearchRequest) -> "BlockingSession":
        """Blocking version of `start`."""
        from fathom.session import BlockingSession

        return BlockingSession(run_blocking(lambda: self.start(request)))

    research_sync = wait_for(research)
    resume_sync = wait_for(resume)
    update_sync = wait_for(update)
    follow_up_sync = wait_for(follow_up)
    watch_sync = wait_for(watch)
    watches_sync = wait_for(watches)
    unwatch_sync = wait_for(unwatch)
    run_watches_sync = wait_for(run_watches)
    fork_sync = wait_for(fork)
    forecast_sync = wait_for(forecast)
    batch_sync = wait_for(batch)
    submit_sync = wait_for(submit)
    forecast_batch_sync = wait_for(forecast_batch)
    audit_sync = wait_for(audit)
    forecast_audit_sync = wait_for(forecast_audit)
    evaluate_sync = wait_for(evaluate)
    forecast_evaluation_sync = wait_for(forecast_evaluation)

    def _session(self, run_id: str, start: "RunStart", config: RunConfig | None = None) -> "Session":
        from fathom.session import Session

        return Session(self._shared, run_id, start, self._out, config)

    async def _work_to_end(self, session: "Session", answer: ReviewAnswer | None = None) -> "ResearchResult":
        table = await session.go_on(answer)
        if table is None:
            return await session.result()
        if table.why == "review":
            raise RunStopped(
                f"Run {session.id} waits for review; answer with resume(run_id, ReviewAnswer(…))."
            )
        raise RunStopped(f"Run {session.id} is {table.why}; go on with resume(run_id).")
