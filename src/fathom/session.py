"""One run, step by step: looked at, steered and ended by the program that began it.

Does not know the command line. See `Session`.
"""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from pathlib import Path

from langgraph.types import StateSnapshot

from fathom.blocking import iterated, waited
from fathom.control_signals import ControlSignals
from fathom.errors import BadInput, RunStopped
from fathom.events import Checkpoint, Progress
from fathom.ids import short_id
from fathom.places import open_folder
from fathom.result import ResearchResult
from fathom.runs import Start, is_unfinished
from fathom.sharing import Shared
from fathom.state import ReviewAnswer
from fathom.streaming import asked_in


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
    ('complete', "a person's word")
    """

    def __init__(self, shared: Shared, run_id: str, start: Start, out: Path | None = None) -> None:
        self.id = run_id
        self.is_complete = False
        self._shared, self._start, self._out = shared, start, out
        self._table: Checkpoint | None = None
        self._turn = asyncio.Lock()

    def __repr__(self) -> str:
        stands = "complete" if self.is_complete else self._table.why if self._table else "not at a checkpoint"
        return f"Session({short_id(self.id)}, {stands})"

    async def events(self, answer: ReviewAnswer | None = None) -> AsyncGenerator[Progress, None]:
        """Work to the next checkpoint or to the end, telling what happens; `answer` is for a review."""
        async with self._turn:
            if self.is_complete:
                return
            if answer and not self._table:
                raise BadInput(f"Run {short_id(self.id)} is not waiting for an answer.")
            start, table = self._start, self._table
            try:
                async with self._shared.runs() as runs:
                    keep = await open_folder(runs.settings, self.id, parent=self._out) if self._out else None
                    async with aclosing(runs.work(self.id, answer or start, keep=keep)) as events:
                        async for event in events:
                            self._table = None
                            self._see(event)
                            yield event
            except BadInput:
                self._table = table
                raise

    async def checkpoint(self) -> Checkpoint | None:
        """What is on the table: where the run stands already, or the next checkpoint; None at the end."""
        return self._table or await self.go_on()

    async def go_on(self, answer: ReviewAnswer | None = None) -> Checkpoint | None:
        """Answer a review, or end a pause, and work to the next checkpoint; None when the run is over.

        A review that is not answered is asked again.
        """
        async for _ in self.events(answer):
            pass
        return self._table

    async def add_query(self, text: str) -> None:
        """One query more: for the plan on the table, or for the next one while the run works."""
        await self._order("add", text)

    async def pause(self) -> None:
        """Have whoever works on the run stop after the current step."""
        await self._order("pause")

    async def finalize(self) -> ResearchResult:
        """Look no further and write the report; also while `events` is being listened to elsewhere."""
        if not self.is_complete:
            await self._order("stop")
            async with self._turn:  # whoever works on the run now gets to its end first
                answer = ReviewAnswer(action="finish") if self._table else None
            while not self.is_complete:
                await self.go_on(answer if self._table else None)
                answer = ReviewAnswer(action="finish")
        return await self.result()

    async def result(self) -> ResearchResult:
        """The result; RunStopped while the run is not over."""
        if not self.is_complete:
            raise RunStopped(f"Run {self.id} is not over; go on with it, or finalize it.")
        async with self._shared.runs() as runs:
            return await runs.result(self.id)

    async def _order(self, word: str, text: str = "") -> None:
        if self.is_complete:
            raise BadInput(f"Run {short_id(self.id)} is over; there is nothing to {word}.")
        await ControlSignals(self._shared.settings.database).give(self.id, word, text)

    def sees(self, snapshot: StateSnapshot) -> None:
        """Take notice of where a run stands that was begun elsewhere."""
        self.is_complete = not is_unfinished(snapshot) and "report" in snapshot.values
        if snapshot.interrupts:
            self._table = asked_in(dict(snapshot.interrupts[0].value))

    def _see(self, event: Progress) -> None:
        if event.kind != "started":  # what it begins with is saved with the first step
            self._start = None
        if isinstance(event.payload, Checkpoint):
            self._table = event.payload
        self.is_complete = self.is_complete or event.kind == "completed"


class BlockingSession:
    """A session for those who wait: the same calls, without `await`.

    >>> from fathom import DeepResearcher, ResearchRequest, ReviewAnswer
    >>> request = ResearchRequest(query="How high is the tower?", docs=["papers"])
    >>> session = DeepResearcher().start_sync(request)
    >>> session.checkpoint().shown["queries"]
    ['How high is the tower']
    >>> session.go_on(ReviewAnswer(action="approve")), session.is_complete
    (None, True)
    >>> session.result().status
    'complete'
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
        return iterated(lambda: self._session.events(answer))

    def checkpoint(self) -> Checkpoint | None:
        """See `Session.checkpoint`."""
        return waited(self._session.checkpoint)

    def go_on(self, answer: ReviewAnswer | None = None) -> Checkpoint | None:
        """See `Session.go_on`."""
        return waited(lambda: self._session.go_on(answer))

    def add_query(self, text: str) -> None:
        """See `Session.add_query`."""
        waited(lambda: self._session.add_query(text))

    def pause(self) -> None:
        """See `Session.pause`; from another thread than the one that listens."""
        waited(self._session.pause)

    def finalize(self) -> ResearchResult:
        """See `Session.finalize`."""
        return waited(self._session.finalize)

    def result(self) -> ResearchResult:
        """See `Session.result`."""
        return waited(self._session.result)
