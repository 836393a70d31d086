"""The ways a run is shown that are one line after another: plain lines, JSON lines, or nothing at all.

Does not know how events come about. The view that stays in its place is live.py's.
"""

import sys
from dataclasses import dataclass, field
from typing import Protocol

from fathom.cli.cells import safe
from fathom.cli.telling import Telling
from fathom.events import Progress, RoundCompleted
from fathom.ids import short_id
from fathom.runs.round_summary import round_summary


class View(Protocol):
    """Whatever shows a run: told what happens, set aside while a person is asked something, closed."""

    def begin(self, run_id: str) -> None:
        """The run has a name now."""

    def tell(self, event: Progress) -> None:
        """Something happened."""

    def notice(self, words: str) -> None:
        """Something to say that is no event."""

    def set_aside(self) -> None:
        """Give the terminal back for a while."""

    def close(self) -> None:
        """The end; what there is to say now are plain lines."""


class Quiet:
    """Shows nothing."""

    def begin(self, run_id: str) -> None:
        """Nothing."""

    def tell(self, event: Progress) -> None:
        """Nothing."""

    def notice(self, words: str) -> None:
        """Nothing."""

    def set_aside(self) -> None:
        """Nothing to set aside."""

    def close(self) -> None:
        """Nothing to close."""


@dataclass
class Lines(Quiet):
    """Says what a run is doing on standard error, one line a step."""

    _telling: Telling = field(default_factory=Telling)

    def begin(self, run_id: str) -> None:
        """The first line: how to come back."""
        name = short_id(run_id)
        self.notice(f"run {name}; if it stops, go on with: fathom resume {name}")

    def tell(self, event: Progress) -> None:
        """One event, as a line if it is worth one."""
        if words := self._telling.line(event):
            self.notice(words)
        if isinstance(event.payload, RoundCompleted) and not event.branch:
            for line in round_summary(event.payload, event.spent):
                self.notice(f"  {line}")

    def notice(self, words: str) -> None:
        """A line."""
        print(safe(words), file=sys.stderr, flush=True)


class JsonLines(Quiet):
    """Every event as one line of JSON on standard output, for programs; nothing else is printed there."""

    def tell(self, event: Progress) -> None:
        """One line; the report is in the last ones."""
        print(event.model_dump_json(), flush=True)
