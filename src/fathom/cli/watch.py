"""Watching a run from its start to its report: shown as it works, steered, reviewed and paused.

Does not know how a run is begun or where its answer on the command line came from.
"""

import argparse
import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Self

from rich.console import Console

from fathom import SignalWord
from fathom.cli.board import EventWords
from fathom.cli.review import ask_person
from fathom.cli.terminal import INTERRUPTED, Leaving
from fathom.cli.text import print_result, safe
from fathom.errors import BadInput, Refused, RunStopped
from fathom.events import Checkpoint, Progress, ReportKept, RoundCompleted
from fathom.runs.round_summary import round_summary
from fathom.session import Session
from fathom.state import ReviewAnswer, short_id
from fathom.text.messages import messages_for
from fathom.text.normalization import escape_json

if TYPE_CHECKING:  # the live view is imported where there is a terminal to show it on
    from rich.progress import Progress as Bar

    from fathom.cli.live_view import Live


class Quiet:
    """Shows nothing; what every view of a run can be told."""

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


@dataclass
class Lines(Quiet):
    """Says what a run is doing on standard error, one line a step."""

    _words: EventWords = field(default_factory=EventWords)

    def begin(self, run_id: str) -> None:
        """The first line: how to come back."""
        name = short_id(run_id)
        self.notice(self._words.messages("live.begin", name=name))

    def tell(self, event: Progress) -> None:
        """One event, as a line if it is worth one."""
        if words := self._words.line(event):
            self.notice(words)
        if isinstance(event.payload, RoundCompleted) and not event.branch:
            for line in round_summary(event.payload, event.spent, self._words.messages):
                self.notice(f"  {line}")

    def notice(self, words: str) -> None:
        """A line."""
        print(safe(words), file=sys.stderr, flush=True)


class JsonLines(Quiet):
    """Every event as one line of JSON on standard output, for programs; nothing else is printed there."""

    def tell(self, event: Progress) -> None:
        """One line; the report is in the last ones."""
        print(escape_json(event.model_dump_json()), flush=True)


_PATIENCE_S = 1.0
_SAY_EVERY_S = 5.0


class IndexProgress:
    """Told how many of how many files are read: a bar at a terminal, else a line at times."""

    def __init__(self, *, is_quiet: bool = False) -> None:
        self._is_quiet = is_quiet
        self._say_at = time.monotonic() + _PATIENCE_S
        self._bar: Bar | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar:
            self._bar.stop()

    def __call__(self, done: int, total: int) -> None:
        """Show it, if somebody has waited long enough."""
        if self._bar:
            self._bar.update(self._bar.task_ids[0], completed=done, total=total)
        elif not self._is_quiet and time.monotonic() >= self._say_at:
            self._begin(done, total)

    def _begin(self, done: int, total: int) -> None:
        if not sys.stderr.isatty():
            self._say_at = time.monotonic() + _SAY_EVERY_S
            print(f"reading the documents: {done:,} of {total:,}", file=sys.stderr, flush=True)
            return
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
        from rich.progress import Progress as Bar

        columns = TextColumn("reading the documents"), BarColumn(), MofNCompleteColumn()
        bar = Bar(*columns, console=Console(stderr=True), transient=True)
        bar.add_task("", completed=done, total=total)
        bar.start()
        self._bar = bar


def can_show(console: Console) -> bool:
    """Whether standard error is a terminal that a picture can stand on."""
    if not console.is_terminal or console.is_dumb_terminal:
        return False
    try:
        return min(os.get_terminal_size(sys.stderr.fileno())) > 0
    except (OSError, ValueError):
        return False


@dataclass
class Watcher:
    """One run that somebody watches."""

    session: Session
    arguments: argparse.Namespace
    leaving: Leaving

    def __post_init__(self) -> None:
        self.say = messages_for(self.session.question, self.session.config.language)
        self.live: Live | None = None
        self.view: Quiet | Live = self._view()
        self._given: set[asyncio.Task[object]] = set()

    def _view(self) -> "Quiet | Live":
        if self.arguments.json:
            return JsonLines()
        if self.arguments.quiet:
            return Quiet()
        console = Console(stderr=True)
        if self.arguments.plain or not can_show(console):
            return Lines(EventWords(self.say))
        from fathom.cli.live_view import Live

        live = self.live = Live(console, self._give, self.leaving.request)
        self.leaving.give_back = live.give_back
        return live

    def _give(self, word: SignalWord, text: str) -> None:
        """Leave an order; the run hears it like one from another terminal."""
        task: asyncio.Task[object] = asyncio.create_task(self.session.signal(word, text))
        self._given.add(task)
        task.add_done_callback(self._finish_order)

    def _finish_order(self, task: "asyncio.Task[object]") -> None:
        self._given.discard(task)
        if isinstance(error := task.exception(), BadInput):
            self.view.notice(str(error))

    async def work_to_end(self, answer: ReviewAnswer | None = None) -> int:
        """Work until the report is there, asking a person where the run does; the exit code."""
        self.leaving.run = short_id(self.session.id)
        self.leaving.ask = partial(self._leave, asyncio.get_running_loop())
        if self.live:
            self.live.board.recall(await self.session.state(), await self.session.key_findings())
        self.view.begin(self.session.id)
        try:
            return await self._work_and_ask(answer)
        except RunStopped as error:
            self.view.close()
            print(safe(f"fathom: {error} Nothing is lost; {self.leaving.way_on()}"), file=sys.stderr)
            return 2 if await self._was_bad_input(error) else 1
        finally:
            self.view.set_aside()
            self.leaving.ask = None

    def _leave(self, loop: asyncio.AbstractEventLoop) -> None:
        """Called in a signal's handler, where nothing may be printed: it might be in the middle of a line."""
        self.session.leave()
        loop.call_soon_threadsafe(self.view.notice, self.say("view.leaving"))

    async def _work_and_ask(self, answer: ReviewAnswer | None) -> int:
        while True:
            end = await self._show_events(self.session.events(answer))
            if end is None:
                self.view.close()
                return await self.print_report()
            if end.why == "review":
                answer = self._review(end)
                if answer is None:
                    return print_waiting(self.session.id)
            elif end.why == "paused" and await self._wait_for_go():
                answer = None
            else:
                self.view.close()
                print(f"fathom: {self.leaving.last_words()}", file=sys.stderr)
                return INTERRUPTED

    def _review(self, end: Checkpoint) -> ReviewAnswer | None:
        self.view.set_aside()
        return None if self.arguments.json else ask_person(end.shown)

    async def _wait_for_go(self) -> bool:
        """Wait until somebody says go, here or in another terminal; False when they leave instead."""
        self._mark_paused(True)
        self.view.notice(self.say("view.paused", name=short_id(self.session.id)))
        if not await self.session.wait_for_go():
            return False
        self._mark_paused(False)
        return True

    def _mark_paused(self, is_paused: bool) -> None:
        if self.live:
            self.live.is_paused = is_paused

    async def _show_events(self, events: AsyncIterator[Progress]) -> Checkpoint | None:
        """Show what happens; where the run stands, or None at its end.

        A report is on disk as soon as it is written: a run without an end has one after every round.
        """
        end = None
        async for event in events:
            self.view.tell(event)
            if isinstance(event.payload, ReportKept) and self.session.folder:
                self.leaving.written = self.session.folder / "report.md"
            if event.is_last and isinstance(event.payload, Checkpoint):
                end = event.payload
        return end

    async def _was_bad_input(self, error: RunStopped) -> bool:
        """Whether a run was refused before anything was done: no such model, key or address."""
        is_refused = isinstance(error.__cause__, Refused)
        return is_refused and not (await self.session.state()).get("questions")

    async def print_report(self) -> int:
        """The report of a run that is over: on standard output, and in its files."""
        result = await self.session.write_files()
        if self.arguments.to:
            await asyncio.to_thread(result.save, self.arguments.to)
        elif not self.arguments.json:
            print_result(result, self.arguments.format)
        if not (self.arguments.quiet or self.arguments.json):
            written = self.session.folder / "report.md" if self.session.folder else ""
            written = f"{self.arguments.to}, {written}" if self.arguments.to else written
            words = messages_for(result.question, self.session.config.language)
            said = words("live.written", how=result.describe(), place=written)
            print(f"\n{said}", file=sys.stderr)
        return 4 if result.status == "failed" else 0


def print_waiting(run_id: str) -> int:
    """The last words of a run that waits for a person."""
    print(
        f"fathom: waiting for your answer: fathom resume {short_id(run_id)} --approve"
        ' | --edit "…" "…" | --feedback "…" | --add "…" | --finish',
        file=sys.stderr,
    )
    return 3
