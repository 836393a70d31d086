"""Watching a run from its start to its report: told in words or shown, steered, reviewed and paused.

Does not know how a run is begun or where its answer on the command line came from.
"""

import argparse
import asyncio
import os
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from rich.console import Console

from fathom import SignalWord, events
from fathom.cli.review import ask_person
from fathom.cli.terminal import INTERRUPTED, Leaving
from fathom.cli.text import cut, describe_savings, plain, print_result, safe, wrap
from fathom.errors import BadInput, Refused, RunStopped
from fathom.events import Checkpoint, Progress, ReportKept, RoundCompleted
from fathom.runs.round_summary import round_summary
from fathom.session import Session
from fathom.state import ENOUGH, Direction, Judgement, ReviewAnswer, short_id
from fathom.text.messages import ENGLISH, Messages, messages_for
from fathom.text.normalization import escape_json

if TYPE_CHECKING:  # imported where there is a terminal to show it on
    from fathom.cli.live_view import Live

_SHORT_CELLS = 76


@dataclass
class _Count:
    """How far the reading of a round is, in the whole run or in one branch."""

    expected: int = 0
    pages: int = 0
    claims: int = 0

    @property
    def of(self) -> str:
        """Of how many; an update also reads the pages of before, and nobody said how many those are."""
        return f"/{self.expected}" if self.pages <= self.expected else ""


class EventWords:
    """Puts the events of a run into words; it remembers how far the reading of a round is."""

    def __init__(self, messages: Messages = ENGLISH) -> None:
        self._counts: dict[str, _Count] = {}
        self.messages = messages  # of the run's language, from its first event on
        self._thing = "claims"  # or passages, where no model draws and judges them

    def line(self, event: Progress) -> str:
        """One event in words; nothing if it is not worth a line."""
        if isinstance(event.payload, events.Started):
            self.messages = messages_for(event.payload.question, event.payload.run_config.language)
        if isinstance(event.payload, events.EffortSized) and event.payload.is_by_words:
            self._thing = "passages"
        words = self._words(event)
        branch = f"{event.branch} " if event.branch else ""
        place = self.messages("live.round", round=event.round, limit=event.limit)
        return f"[{event.elapsed_s:6.1f} s] {branch}{place}  {words}" if words else ""

    def _words(self, event: Progress) -> str:
        say = self.messages
        match event.payload:
            case events.EffortSized() as sized:
                return self._describe_effort(sized, event.limit)
            case events.BranchCompleted(direction=direction):
                return self._describe_branch(direction)
            case events.PlanGenerated() as plan:
                return self._describe_plan(plan)
            case events.SearchCompleted(query=query, hits=hits, lost=lost):
                failure = (
                    say("live.search_lost", why=_short(say.why_failed(lost[0]))) if lost and not hits else ""
                )
                return say("live.searched", count=hits, query=_short(query)) + failure
            case events.ExtractionStarted(pages=pages):
                self._counts[event.branch] = _Count(len(pages))
                return say("live.reading", pages=self._pages(len(pages)))
            case events.ContentExtracted() | events.AnalysisCompleted():
                return self._describe_page(event.payload, self._counts.setdefault(event.branch, _Count()))
            case events.SufficiencyEvaluated(judgement=judged):
                return self._describe_judgement(judged)
            case events.ReportStarted(sections=sections):
                return say("live.writing", count=len(sections))
            case events.Completed():
                return describe_savings(event.spent).removeprefix("; ")
            case _:
                return ""

    def count(self, count: int) -> str:
        """So many claims, or passages where no model draws and judges them."""
        return self.messages(f"live.{self._thing}", count=count)

    def _pages(self, count: int) -> str:
        return self.messages("live.pages", count=count)

    def _describe_branch(self, back: Direction) -> str:
        """What a branch brought, and where it would look next."""
        say = self.messages
        found = say("live.back", claims=self.count(back.claims), pages=self._pages(back.pages))
        onward = say("live.onward", leads=_short("; ".join(back.leads))) if back.leads else ""
        return f"{found}: {_short(back.text)}{onward}"

    def _describe_judgement(self, judged: Judgement) -> str:
        """What there is, and whether it goes on; a score only where a model judged."""
        say = self.messages
        rule = f"{say.name('rule', judged.stop)} ({say.because(judged)})"
        is_by_words = judged.is_by_words or self._thing == "passages"
        is_enough = judged.stop in ENOUGH and not is_by_words
        ending = say("live.enough" if is_enough else "live.end", why=rule) if judged.stop else ""
        score = "" if is_by_words else say("live.score", score=f"{judged.overall:.2f}")
        return f"{self.count(judged.claims)}{score}; {ending or say('live.going_on')}"

    def _describe_page(self, page: events.ContentExtracted | events.AnalysisCompleted, count: _Count) -> str:
        """A page that was read, or could not be, or whose claims were verified."""
        say = self.messages
        if isinstance(page, events.AnalysisCompleted):
            count.claims += page.claims
            return say(
                "live.drawn", claims=self.count(page.claims), title=_short(page.title), all=count.claims
            )
        count.pages += 1
        place = f"{count.pages}{count.of}"
        if page.lost and not page.chars:
            return say("live.unreadable", place=place, why=_short(say.why_failed(page.lost[0])))
        return say("live.read", place=place, title=_short(page.title or page.address))

    def _describe_effort(self, sized: events.EffortSized, limit: int) -> str:
        """The effort with the rounds it allows, and where branches will look."""
        say, effort = self.messages, sized.effort
        reasons = say.effort_reasons(effort.reasons)
        words = say(f"live.{effort.kind}", why=f" ({reasons})" if reasons else "", count=limit)
        where = "; ".join(f"{one.id} {one.text}" for one in sized.directions)
        branches = say("live.branches", count=len(sized.directions)) if where else ""
        return f"{words}{branches}: {_short(where)}" if where else words

    def _describe_plan(self, plan: events.PlanGenerated) -> str:
        say = self.messages
        way = describe_way(plan, say)
        how = f" ({way})" if way else ""
        asked = _short("; ".join(plan.queries))
        doing = say("live.searching", queries=asked) if asked else say("live.at_hand")
        return say("live.plan", how=how, count=len(plan.questions)) + f"; {doing}"


def describe_way(plan: events.PlanGenerated, say: Messages) -> str:
    """Return the kind of question and the thinking tool."""
    kinds = [say.name("kind", plan.effort.kind)] if plan.effort else []
    return ", ".join([*kinds, *([say.name("tool", plan.tool.name)] if plan.tool else [])])


def _short(text: str) -> str:
    return cut(plain(text), _SHORT_CELLS)


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
            lines = wrap(said, Console(stderr=True).width) if sys.stderr.isatty() else [safe(said)]
            print("\n" + "\n".join(lines), file=sys.stderr)
        return 4 if result.status == "failed" else 0


def print_waiting(run_id: str) -> int:
    """The last words of a run that waits for a person."""
    print(
        f"fathom: waiting for your answer: fathom resume {short_id(run_id)} --approve"
        ' | --edit "…" "…" | --feedback "…" | --add "…" | --finish',
        file=sys.stderr,
    )
    return 3
