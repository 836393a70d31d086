"""Runs that this server works on, and what any run tells, as a stream that can be taken up again.

Does not know HTTP routes. A run's events are in the `events.jsonl` of its folder, whoever works on it: the
number of a line is the event's id, so a reader who names the last one it saw misses nothing, also after the
server was restarted.
"""

import asyncio
import json
import logging
from collections import Counter
from collections.abc import AsyncGenerator, Coroutine, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from sse_starlette import JSONServerSentEvent, ServerSentEvent

from fathom.errors import BadInput, FathomError
from fathom.researcher import DeepResearcher
from fathom.runs import EVENTS
from fathom.state import ReviewAnswer

if TYPE_CHECKING:
    from fathom.events import Progress
    from fathom.runs.queue import RunQueue
    from fathom.session import Session
    from fathom.storage.postgres_server import EventTable

_GLANCE_S = 0.2
_COMPLETED = '{"kind":"completed",'
_log = logging.getLogger(__name__)


@dataclass(kw_only=True)
class LiveWork:
    """Work in the background; what ends it is told in one sentence, and to the operator in full."""

    advice: ClassVar[str] = "the run can go on"
    cancelled: ClassVar[str] = ""

    task: "asyncio.Task[None] | None" = None
    problem: str = ""  # why the work ended, if it was not meant to

    @property
    def is_working(self) -> bool:
        """Whether it is being worked on here."""
        return self.task is not None and not self.task.done()

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Begin the work."""
        self.task = asyncio.create_task(work)
        self.task.add_done_callback(self._note_end)

    def _note_end(self, task: "asyncio.Task[None]") -> None:
        error = None if task.cancelled() else task.exception()
        if task.cancelled():
            self.problem = self.cancelled
        elif isinstance(error, FathomError):
            self.problem = str(error)
        elif error:
            _log.error("Work ended with an error that was not foreseen.", exc_info=error)
            self.problem = f"Something went wrong inside Fathom ({type(error).__name__}); {self.advice}."


async def leave_work(known: Iterable[LiveWork], patience_s: float = 5) -> None:
    """Wait a moment for work that was told to end, and cancel what is late."""
    if tasks := [one.task for one in known if one.task and one.is_working]:
        _, late = await asyncio.wait(tasks, timeout=patience_s)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)


@dataclass(kw_only=True)
class LiveRun(LiveWork):
    """A run that this server has worked on."""

    session: "Session"
    folder: Path
    drafts: dict[str, str] = field(default_factory=dict)  # parts that are being written, which no file has
    changes: int = 0  # of drafts


class LiveRuns:
    """Works on runs in the background, each from one checkpoint to the next."""

    def __init__(self, researcher: DeepResearcher, folders: Path, events: "EventTable | None" = None) -> None:
        self._researcher, self._folders = researcher, folders
        self._events = events  # of all machines, where they share a database
        self.queue: RunQueue | None = None  # of workers who do what there is to do, instead of this server
        self._runs: dict[str, LiveRun] = {}
        self._stretches: Counter[str] = Counter()  # how often this server has begun to work on a run

    def find(self, run_id: str) -> LiveRun | None:
        """The run, if this server has worked on it."""
        return self._runs.get(run_id)

    async def work(self, session: "Session", answer: ReviewAnswer | None = None) -> None:
        """Begin to work on a run, or go on with it; returns when the work has begun."""
        known = self._runs.get(session.id)
        if known and known.is_working:
            raise BadInput("This run is being worked on already.")
        folder = await session.open_folder(parent=self._folders)
        live = self._runs[session.id] = LiveRun(session=session, folder=folder)
        self._stretches[session.id] += 1
        live.start(self._work(live, answer))

    async def resume(self, run_id: str, answer: ReviewAnswer | None = None) -> None:
        """Go on with a run that stands; a finish ends the search also where no plan is on the table."""
        if (known := self._runs.get(run_id)) and known.is_working:
            raise BadInput("This run is being worked on already.")
        session = await self._researcher.session(run_id)
        if session.is_complete:
            raise BadInput("This run is over; ask on, update it, or go another way from it.")
        await self.work(session, await session.accept(answer))

    async def close(self) -> None:
        """Leave every run after the step in hand."""
        at_work = [live for live in self._runs.values() if live.is_working]
        for live in at_work:
            live.session.leave()
            if self.queue and live.task:
                live.task.cancel()  # the workers go on
        await leave_work(at_work)

    async def _work(self, live: LiveRun, answer: ReviewAnswer | None) -> None:
        if self.queue:
            job = await self._researcher.enqueue(self.queue, live.session, answer)
            if await self.queue.wait_for(job) == "failed":
                live.problem = "The workers could not bring this run further; it can go on."
            return
        async for event in live.session.events(answer):
            _note_draft(live, event)

    async def stream(
        self, run_id: str, folder: Path | None, seen: int
    ) -> AsyncGenerator[ServerSentEvent, None]:
        """Everything a run tells after the first `seen` events, and how it stands; ends with the run."""
        place = (folder or Path()) / EVENTS
        lines = _SharedLines(self._events, run_id, seen) if self._events else _EventLines(place, seen)
        told, changes = "", 0
        while True:
            live = self._runs.get(run_id)
            standing = {
                "is_working": bool(live and live.is_working),
                "problem": live.problem if live else "",
                "stretch": self._stretches[run_id],  # work that began and ended between two glances is seen
            }
            for number, line in await lines.read():
                yield ServerSentEvent(line, id=str(number))
            if live and live.changes != changes:
                changes = live.changes
                yield JSONServerSentEvent(live.drafts, event="drafts")
            # After the events: whoever hears that the work has ended has heard everything it told.
            if (words := json.dumps(standing)) != told:
                told = words
                yield ServerSentEvent(words, event="standing")
            if lines.is_over and not standing["is_working"]:
                return
            await asyncio.sleep(_GLANCE_S)


class _EventLines:
    """The whole lines of a file that grows, after those that were seen."""

    def __init__(self, path: Path, seen: int) -> None:
        self._path, self._seen, self._number, self._at = path, seen, 0, 0
        self.is_over = False  # whether the last event says that the report is there: then nothing follows

    async def read(self) -> list[tuple[int, str]]:
        """What was added since; a line that is being written waits until it is whole."""
        return await asyncio.to_thread(self._read)

    def _read(self) -> list[tuple[int, str]]:
        try:
            with self._path.open("rb") as file:
                file.seek(self._at)
                body = file.read()
        except FileNotFoundError:
            return []
        whole, end, _ = body.rpartition(b"\n")
        if not end:
            return []
        self._at += len(whole) + 1
        found: list[tuple[int, str]] = []
        for line in whole.decode("utf-8", "replace").split("\n"):
            self._number += 1
            if self._number > self._seen:
                found.append((self._number, line))
        self.is_over = line.startswith(_COMPLETED)
        return found


class _SharedLines:
    """The same from a database that machines share: whoever works on the run, and wherever."""

    def __init__(self, events: "EventTable", run_id: str, seen: int) -> None:
        self._events, self._run_id, self._seen, self._number, self._last = events, run_id, seen, 0, 0
        self.is_over = False

    async def read(self) -> list[tuple[int, str]]:
        """What was told since."""
        found: list[tuple[int, str]] = []
        for last, line in await self._events.after(self._run_id, self._last):
            self._number, self._last = self._number + 1, last
            self.is_over = line.startswith(_COMPLETED)
            if self._number > self._seen:
                found.append((self._number, line))
        return found


def _note_draft(live: LiveRun, event: "Progress") -> None:
    """Remember a part of the report that is still being written; what is whole stands in the events."""
    told: dict[str, Any] = event.payload.model_dump(include={"title", "text", "is_whole"})
    if event.kind == "draft" and not told.get("is_whole", True):
        live.drafts[told["title"]] = told["text"]
        live.changes += 1
    elif event.kind in ("draft", "report section") and live.drafts.pop(told["title"], None) is not None:
        live.changes += 1
