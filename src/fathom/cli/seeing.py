"""Seeing a run through: shown while it works, steered, reviewed, paused, and reported in the end.

Does not know how a run is begun or where its answer on the command line came from.
"""

import argparse
import asyncio
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import partial

from rich.console import Console

from fathom.cli.leaving import INTERRUPTED, Leaving
from fathom.cli.live import Live, can_show
from fathom.cli.output import print_result
from fathom.cli.reviewing import ask_person
from fathom.cli.screen import JsonLines, Lines, Quiet, View
from fathom.cli.steering import Steering
from fathom.errors import BadInput, Refused, RunStopped
from fathom.events import Checkpoint, Progress, ReportKept
from fathom.ids import short_id
from fathom.report.messages import ENGLISH
from fathom.report.rerender import describe_ledger
from fathom.session import Session
from fathom.state import ReviewAnswer
from fathom.storage.records import SignalWord


@dataclass
class Watched:
    """One run that somebody watches."""

    session: Session
    arguments: argparse.Namespace
    leaving: Leaving

    def __post_init__(self) -> None:
        self.steering = Steering(self._give, self.leaving.request)
        self.view: View = self._view()
        self._given: set[asyncio.Task[object]] = set()

    def _view(self) -> View:
        if self.arguments.json:
            return JsonLines()
        if self.arguments.quiet:
            return Quiet()
        console = Console(stderr=True)
        if self.arguments.plain or not can_show(console):
            return Lines()
        live = Live(console, lambda key: self.steering.press(key, live), sys.stdin.isatty())
        live.keys = self.steering.keys() if sys.stdin.isatty() else (("Ctrl-C", "leave; nothing is lost"),)
        self.leaving.give_back = live.give_back
        return live

    def _give(self, word: SignalWord, text: str) -> None:
        """Leave an order; the run hears it like one from another terminal."""
        task: asyncio.Task[object] = asyncio.create_task(self.session.signal(word, text))
        self._given.add(task)
        task.add_done_callback(self._was_given)

    def _was_given(self, task: "asyncio.Task[object]") -> None:
        self._given.discard(task)
        if isinstance(error := task.exception(), BadInput):
            self.view.notice(str(error))

    async def until_over(self, answer: ReviewAnswer | None = None) -> int:
        """Work until the report is there, asking a person where the run does; the exit code."""
        self.leaving.run = short_id(self.session.id)
        self.leaving.ask = partial(self._asked_to_leave, asyncio.get_running_loop())
        if isinstance(self.view, Live):
            self.view.board.recall(await self.session.state())
        self.view.begin(self.session.id)
        try:
            return await self._stretches(answer)
        except RunStopped as error:
            self.view.close()
            print(f"fathom: {error} Nothing is lost; {self.leaving.way_on()}", file=sys.stderr)
            return 2 if await self._was_bad_input(error) else 1
        finally:
            self.view.set_aside()
            self.leaving.ask = None

    def _asked_to_leave(self, loop: asyncio.AbstractEventLoop) -> None:
        """Called in a signal's handler, where nothing may be printed: it might be in the middle of a line."""
        self.session.leave()
        words = "Finishing the step in hand; once more leaves at once. Nothing is lost."
        loop.call_soon_threadsafe(self.view.notice, words)

    async def _stretches(self, answer: ReviewAnswer | None) -> int:
        while True:
            end = await self._worked(self.session.events(answer))
            if end is None:
                self.view.close()
                return await self.reported()
            if end.why == "review":
                answer = self._reviewed(end)
                if answer is None:
                    return waiting(self.session.id)
            elif end.why == "paused" and await self._until_go():
                answer = None
            else:
                self.view.close()
                print(f"fathom: {self.leaving.last_words()}", file=sys.stderr)
                return INTERRUPTED

    def _reviewed(self, end: Checkpoint) -> ReviewAnswer | None:
        self.view.set_aside()
        return None if self.arguments.json else ask_person(end.shown)

    async def _until_go(self) -> bool:
        """Wait until somebody says go, here or in another terminal; False when they leave instead."""
        self._paused(True)
        way_on = f"fathom control {short_id(self.session.id)} go"
        self.view.notice(f"Paused; go on with p, or from anywhere: {way_on}")
        if not await self.session.wait_for_go():
            return False
        self._paused(False)
        return True

    def _paused(self, is_paused: bool) -> None:
        self.steering.is_paused = is_paused
        if isinstance(self.view, Live) and sys.stdin.isatty():
            self.view.keys = self.steering.keys()

    async def _worked(self, events: AsyncIterator[Progress]) -> Checkpoint | None:
        """Show what happens; where the run stands, or None at its end.

        A report is on disk as soon as it is written: a run without an end has one after every round.
        """
        end = None
        async for event in events:
            self.view.tell(event)
            if isinstance(event.payload, ReportKept) and self.session.folder:
                self.leaving.written = self.session.folder / "report.md"
            if isinstance(event.payload, Checkpoint):
                end = event.payload
        return end

    async def _was_bad_input(self, error: RunStopped) -> bool:
        """Whether a run was refused before anything was done: no such model, key or address."""
        is_refused = isinstance(error.__cause__, Refused)
        return is_refused and not (await self.session.state()).get("questions")

    async def reported(self) -> int:
        """The report of a run that is over: on standard output, and in its files."""
        result = await self.session.write_files()
        if not self.arguments.json:
            print_result(result, self.arguments.format)
        if not (self.arguments.quiet or self.arguments.json):
            written = self.session.folder / "report.md" if self.session.folder else ""
            how_sure = describe_ledger(result, ENGLISH)
            print(f"\nReport: {how_sure}. Written to {written} and the files beside it", file=sys.stderr)
        return 4 if result.status == "failed" else 0


def waiting(run_id: str) -> int:
    """The last words of a run that waits for a person."""
    print(
        f"fathom: waiting for your answer: fathom resume {short_id(run_id)} --approve"
        ' | --edit "…" "…" | --feedback "…" | --add "…" | --finish',
        file=sys.stderr,
    )
    return 3
