"""The journal of a run's events: a file, or a table that machines share.

A repeated step emits the same events again: they are recognized by content and left out.
"""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fathom.events import Progress, Spent
from fathom.runs.event_stream import RunRecorder
from fathom.state import RunState
from fathom.storage import Storage
from fathom.storage.files import append_lines, read_whole_lines
from fathom.text.json_lines import escape_json

if TYPE_CHECKING:
    from fathom.storage.postgres_tables import EventTable


class ToldEvents:
    """The events that are in the journal already, by content."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._before: Counter[str] = Counter()
        self.last_round: Progress | None = None  # the last round that was completed, in the whole run
        for line in lines:
            self._know(line)

    def is_new(self, event: Progress, line: str) -> bool:
        """Whether an event is new; each recorded event excuses one repetition."""
        name = _event_digest(json.loads(line))
        is_always_new = event.kind == "started" or event.is_last  # each happens again when the work goes on
        if self._before[name] > 0 and not is_always_new:
            self._before[name] -= 1
            return False
        self._note(event)
        return True

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
        line = escape_json(event.model_dump_json())
        is_new = self.is_new(event, line)
        if is_new:
            append_lines(self._path, line + "\n")
        return is_new


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
        line = escape_json(event.model_dump_json())
        if self._told.is_new(event, line):
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
