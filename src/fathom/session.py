"""One run, step by step: a program watches, steers and ends it.

See `Session`. All sessions of a loop share one open database.
"""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, cast

from langgraph.types import StateSnapshot

from fathom.budget.prices import describe_unpriced_models, find_unpriced_models, is_own_server
from fathom.concurrency import in_own_task, iterate_blocking, wait_for
from fathom.errors import BadInput, RunStopped
from fathom.events import Checkpoint, KeyFinding, Progress
from fathom.planning.forecast import load_past_runs, make_forecast
from fathom.report.rounds import key_findings
from fathom.request import ResearchRequest
from fathom.result import ResearchResult
from fathom.runs.control import SharedRuns
from fathom.runs.event_stream import StopSwitch, open_checkpoint
from fathom.runs.executor import NewRun, RunStart, config_in_snapshot, has_ended
from fathom.runs.folder import RUNS_FOLDER, ResearchFolder, open_folder
from fathom.runs.follow_up import FollowUpRequest, UpdateRequest
from fathom.runs.round_summary import spent_by_run
from fathom.state import Forecast, ReviewAnswer, RunConfig, RunState, short_id
from fathom.storage import open_storage
from fathom.storage.records import SignalWord

if TYPE_CHECKING:
    from fathom.runs.queue import QueuedRun

_SIGNAL_POLL_S = 0.3


class Session:
    """A run that goes from one checkpoint to the next: a plan to look at, a pause, the end.

    Nothing happens between two calls, and the run can be gone on with in any other way: by another session,
    `DeepResearcher.resume`, the command line or a server.

    >>> import asyncio
    >>> from fathom import DeepResearcher, ResearchRequest
    >>> async def ended_early():
    ...     request = ResearchRequest(query="How high is the tower?", docs=["papers"], review="off")
    ...     session = await DeepResearcher().start(request)
    ...     async for event in session.events():
    ...         if event.kind == "extraction started":
    ...             ending = asyncio.ensure_future(session.finalize())
    ...     return await ending
    >>> result = asyncio.run(ended_early())
    >>> result.status, result.metadata.stop
    ('extracts', "a person's word")
    """

    def __init__(
        self,
        shared: SharedRuns,
        run_id: str,
        start: RunStart,
        out: Path | None = None,
        config: RunConfig | None = None,
    ) -> None:
        self.id = run_id
        self.config = config or RunConfig()  # the configuration of the run
        self.is_complete = False
        self.waits_for: Checkpoint | None = None  # the plan or the pause where the run stands
        self._shared, self._start, self._out = shared, start, out
        self._folder: ResearchFolder | None = None
        self._turn = asyncio.Lock()
        self._halt = StopSwitch()

    @property
    def question(self) -> str:
        """The question of a new run; of a follow-up in words that stand alone. Empty once it has started."""
        start = self._start
        if isinstance(start, ResearchRequest):
            return start.query
        return start.question if isinstance(start, FollowUpRequest | UpdateRequest) else ""

    @property
    def is_reworded(self) -> bool:
        """Whether the question of a new follow-up differs from the user's in more than spelling."""
        return isinstance(self._start, FollowUpRequest) and self._start.is_reworded

    @property
    def unconfirmed_server(self) -> str:
        """The model server of the run, if it is neither on this network nor named in the settings."""
        server = self.config.base_url or ""
        return "" if server == self._shared.settings.base_url or is_own_server(server) else server

    @property
    def folder(self) -> Path | None:
        """The research folder, once one was opened."""
        return self._folder.path if self._folder else None

    async def open_folder(self, named: str | Path | None = None, parent: Path = RUNS_FOLDER) -> Path:
        """Keep the run's files in this folder: the named one, the one it has, or a new one in `parent`."""
        self._folder = await open_folder(self._shared.settings, self.id, named, parent)
        return self._folder.path

    def __repr__(self) -> str:
        stands = (
            "complete"
            if self.is_complete
            else self.waits_for.why
            if self.waits_for
            else "not at a checkpoint"
        )
        return f"Session({short_id(self.id)}, {stands})"

    def events(self, answer: ReviewAnswer | None = None) -> AsyncGenerator[Progress, None]:
        """Work to the next checkpoint or to the end, telling what happens; `answer` is for a review.

        Leaving the loop leaves the run where it stands.
        """
        return in_own_task(self._events(answer))

    async def _events(self, answer: ReviewAnswer | None) -> AsyncGenerator[Progress, None]:
        async with self._turn:
            if self.is_complete:
                return
            if answer and not self.waits_for:
                raise BadInput(f"Run {short_id(self.id)} is not waiting for an answer.")
            start, table = self._start, self.waits_for
            try:
                async with self._shared.open() as runs:
                    if self._out and not self._folder:
                        await self.open_folder(parent=self._out)
                    work = runs.work(self.id, answer or start, keep=self._folder, halt=self._halt)
                    async with aclosing(work) as events:
                        async for event in events:
                            self.waits_for = None
                            self._see(event)
                            yield event
            except BadInput:
                self.waits_for = table
                raise

    def queued(self, answer: ReviewAnswer | None = None, priority: int = 0) -> "QueuedRun":
        """The run as it is put into the queue, for a worker to begin or to go on with."""
        from fathom.runs.queue import QueuedRun

        start = self._start if isinstance(self._start, NewRun) else None
        return QueuedRun(self.id, start, priority, answer)

    async def checkpoint(self) -> Checkpoint | None:
        """What is on the table: where the run stands already, or the next checkpoint; None at the end."""
        return self.waits_for or await self.go_on()

    async def go_on(self, answer: ReviewAnswer | None = None) -> Checkpoint | None:
        """Answer a review, or end a pause, and work to the next checkpoint; None when the run is over.

        A review that is not answered is asked again.
        """
        async for _ in self.events(answer):
            pass
        return self.waits_for

    async def add_query(self, text: str) -> None:
        """One query more: for the plan on the table, or for the next one while the run works."""
        await self.signal("add", text)

    async def pause(self) -> None:
        """Pause the run after the current step, wherever it works."""
        await self.signal("pause")

    async def signal(self, word: SignalWord, text: str = "") -> None:
        """Send a control signal: pause, go, stop, or add with a query, wherever the run works."""
        if self.is_complete:
            raise BadInput(f"Run {short_id(self.id)} is over; there is nothing to {word}.")
        await open_storage(self._shared.settings.database).signals.give(self.id, word, text)

    async def wait_for_go(self) -> bool:
        """Wait for a go or stop signal from any process; False if `leave` was called."""
        signals = open_storage(self._shared.settings.database).signals
        while not self._halt.is_requested:
            if {signal.word for signal in await signals.pending(self.id)} & {"go", "stop"}:
                return True
            await asyncio.sleep(_SIGNAL_POLL_S)
        return False

    def leave(self) -> None:
        """End the step in hand and stop there; the run can go on later. Safe in a signal handler."""
        self._halt.request()

    async def accept(self, answer: ReviewAnswer | None) -> ReviewAnswer | None:
        """Return the answer to go on with; BadInput if the run waits for none.

        A finish needs no plan on the table: the run writes its report from what it knows, once it goes on.
        """
        if answer is None or self.waits_for:
            return answer
        if answer.action != "finish" or self.is_complete:
            raise BadInput(f"Run {short_id(self.id)} is not waiting for an answer.")
        async with self._shared.open() as runs:
            await runs.finish(self.id)
        return None

    async def finalize(self) -> ResearchResult:
        """Look no further and write the report; also while `events` is being listened to elsewhere."""
        if not self.is_complete:
            await self.signal("stop")
            async with self._turn:  # after the current work on the run has ended
                answer = ReviewAnswer(action="finish") if self.waits_for else None
            while not self.is_complete:
                await self.go_on(answer if self.waits_for else None)
                answer = ReviewAnswer(action="finish")
        return await self.result()

    async def result(self) -> ResearchResult:
        """The result; RunStopped while the run is not over."""
        if not self.is_complete:
            raise RunStopped(f"Run {self.id} is not over; go on with it, or finalize it.")
        async with self._shared.open() as runs:
            return await runs.result(self.id)

    async def state(self) -> RunState:
        """Everything the run knows."""
        async with self._shared.open() as runs:
            return cast(RunState, (await runs.snapshot(self.id)).values)

    async def key_findings(self) -> list[KeyFinding]:
        """The findings that were made or confirmed last."""
        state = await self.state()
        return [
            KeyFinding(statement=one.statement, tag=one.tag, confidence=one.confidence)
            for one in key_findings(state.get("findings", []), state.get("claims", []))
        ]

    async def write_files(self) -> ResearchResult:
        """The result, after the files of the research folder were brought up to date."""
        result, state = await self.result(), await self.state()
        if self._folder:
            await self._folder.keep(state, spent_by_run(state))
            await asyncio.to_thread(self._folder.write_report, result)
        return result

    async def forecast(self) -> Forecast:
        """Return what a new run would cost; no model is asked."""
        settings = self._shared.settings
        past = await load_past_runs(open_storage(settings.database))
        own = settings.with_allowed(self.config)
        return await asyncio.to_thread(make_forecast, own, own.usual(self.config), self.question, past)

    async def warn_unpriced(self) -> str:
        """A sentence about models without a price, which the usual budget does not hold back; else empty."""
        own = self._shared.settings.with_allowed(self.config)
        names = await asyncio.to_thread(find_unpriced_models, own, self.config)
        return describe_unpriced_models(own, names) if names else ""

    def restore(self, snapshot: StateSnapshot) -> None:
        """Take over the state of a run that was started elsewhere."""
        self.config = config_in_snapshot(snapshot)
        self.is_complete = has_ended(snapshot)
        self.waits_for = open_checkpoint(snapshot) or self.waits_for

    def _see(self, event: Progress) -> None:
        if event.kind != "started":  # what it begins with is saved with the first step
            self._start = None
        if event.is_last and isinstance(event.payload, Checkpoint):
            self.waits_for = event.payload
        self.is_complete = self.is_complete or event.kind == "completed"


class BlockingSession:
    """A blocking session: the same calls, without `await`.

    >>> from fathom import DeepResearcher, ResearchRequest, ReviewAnswer
    >>> request = ResearchRequest(query="How high is the tower?", docs=["papers"])
    >>> session = DeepResearcher().start_sync(request)
    >>> session.checkpoint().shown["queries"]
    ['How high is the tower?']
    >>> session.go_on(ReviewAnswer(action="approve")), session.is_complete
    (None, True)
    >>> session.result().status
    'extracts'
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    @property
    def id(self) -> str:
        """The run's id."""
        return self._session.id

    @property
    def is_complete(self) -> bool:
        """Whether the run is over."""
        return self._session.is_complete

    def events(self, answer: ReviewAnswer | None = None) -> Iterator[Progress]:
        """See `Session.events`."""
        return iterate_blocking(lambda: self._session.events(answer))

    checkpoint = wait_for(Session.checkpoint, "_session")
    go_on = wait_for(Session.go_on, "_session")
    add_query = wait_for(Session.add_query, "_session")
    pause = wait_for(Session.pause, "_session")  # from another thread than the one that listens
    finalize = wait_for(Session.finalize, "_session")
    result = wait_for(Session.result, "_session")
