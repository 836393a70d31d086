"""Seeing a run through: shown while it works, steered, reviewed, paused, and reported in the end.

Does not know how a run is begun or where its answer on the command line came from.
"""

import argparse
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import cast

from rich.console import Console

from fathom.cli.keys import Key
from fathom.cli.leaving import INTERRUPTED, Leaving
from fathom.cli.live import Live, can_show
from fathom.cli.output import print_result
from fathom.cli.reviewing import ask_person
from fathom.cli.screen import JsonLines, Lines, Quiet, View
from fathom.errors import Refused, RunStopped
from fathom.events import Checkpoint, Progress, ReportKept
from fathom.ids import short_id
from fathom.report.folder import ResearchFolder
from fathom.report.past_rounds import spent_of
from fathom.runs import Runs, Start
from fathom.state import ResearchState


@dataclass
class Watched:
    """One run that somebody watches."""

    runs: Runs
    run_id: str
    folder: ResearchFolder
    arguments: argparse.Namespace
    leaving: Leaving

    def __post_init__(self) -> None:
        self.view: View = self._view()

    def _view(self) -> View:
        if self.arguments.json:
            return JsonLines()
        if self.arguments.quiet:
            return Quiet()
        console = Console(stderr=True)
        if self.arguments.plain or not can_show(console):
            return Lines()
        live = Live(console, self._press, sys.stdin.isatty())
        live.keys = (("Ctrl-C", "leave; nothing is lost"),)
        self.leaving.give_back = live.give_back
        return live

    def _press(self, key: Key) -> None:
        if key.text == "q":
            self.leaving.request()

    async def until_over(self, start: Start) -> int:
        """Work until the report is there, asking a person where the run does; the exit code."""
        self.leaving.run = short_id(self.run_id)
        self.view.begin(self.run_id)
        try:
            return await self._stretches(start)
        except RunStopped as error:
            self.view.close()
            print(f"fathom: {error} Nothing is lost; {self.leaving.way_on()}", file=sys.stderr)
            return 2 if await self._was_bad_input(error) else 1
        finally:
            self.view.set_aside()

    async def _stretches(self, start: Start) -> int:
        while True:
            end = await self._worked(self.runs.work(self.run_id, start, keep=self.folder))
            if end is None:
                self.view.close()
                return await self.reported()
            if end.why == "review":
                start = self._reviewed(end)
                if start is None:
                    return waiting(self.run_id)
            else:
                self.view.close()
                print(f"fathom: {self.leaving.last_words()}", file=sys.stderr)
                return INTERRUPTED

    def _reviewed(self, end: Checkpoint) -> Start:
        self.view.set_aside()
        return None if self.arguments.json else ask_person(end.shown)

    async def _worked(self, events: AsyncIterator[Progress]) -> Checkpoint | None:
        """Show what happens; where the run stands, or None at its end.

        A report is on disk as soon as it is written: a run without an end has one after every round.
        """
        end = None
        async for event in events:
            self.view.tell(event)
            if isinstance(event.payload, ReportKept):
                self.leaving.written = self.folder.path / "report.md"
            if isinstance(event.payload, Checkpoint):
                end = event.payload
        return end

    async def _was_bad_input(self, error: RunStopped) -> bool:
        """Whether a run was refused before anything was done: no such model, key or address."""
        is_refused = isinstance(error.__cause__, Refused)
        return is_refused and not (await self.runs.snapshot(self.run_id)).values.get("questions")

    async def reported(self) -> int:
        """The report of a run that is over: on standard output, and in its files."""
        result = await self.runs.result(self.run_id)
        state = cast(ResearchState, (await self.runs.snapshot(self.run_id)).values)
        await self.folder.keep(state, spent_of(state))
        self.folder.write_report(result)
        if not self.arguments.json:
            print_result(result, self.arguments.format)
        if not (self.arguments.quiet or self.arguments.json):
            print(f"\nWritten to {self.folder.path / 'report.md'} and the files beside it", file=sys.stderr)
        return 4 if result.status == "failed" else 0


def waiting(run_id: str) -> int:
    """The last words of a run that waits for a person."""
    print(
        f"fathom: waiting for your answer: fathom resume {short_id(run_id)} --approve"
        ' | --edit "…" "…" | --feedback "…" | --add "…" | --finish',
        file=sys.stderr,
    )
    return 3
