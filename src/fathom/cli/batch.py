"""`fathom batch`: many questions from a file, one progress, one table.

Does not know how a question is worked on.
"""

import argparse
import asyncio
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TextIO

from rich.cells import cell_len
from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from fathom import BatchQuestion, BatchStop, DeepResearcher, QuestionOutcome, read_questions
from fathom.cli.arguments import read_request, read_settings
from fathom.cli.run import choose_local_model, print_forecast
from fathom.cli.terminal import INTERRUPTED, SUSPEND, EndSignals, Leaving, run_until_interrupted
from fathom.cli.text import cut, plain, safe
from fathom.errors import BadInput
from fathom.events import Progress
from fathom.settings import Settings
from fathom.state import short_id
from fathom.text.messages import format_count
from fathom.text.normalization import dump_json

_MOST_AT_ONCE = 100
_AGAIN = "run the same command again to go on"
_WIDE = 160
_LEAST_QUESTION = 30
_HEAD = ("LINE", "STATUS", "SCORE", "SOURCES", "COST", "TIME", "REPORT")
_SETTLED = frozenset({"not started", "running"})


def batch(arguments: argparse.Namespace) -> int:
    """Bring every question of a file to its end."""
    if not 1 <= arguments.at_once <= _MOST_AT_ONCE:
        raise BadInput(f"--at-once should be from 1 to {_MOST_AT_ONCE}.")
    if arguments.budget_total is not None and not arguments.budget_total >= 0:
        raise BadInput("--budget-total should be 0 or more.")
    choose_local_model(arguments)
    questions = read_questions(_read_file(arguments.file), read_request(arguments))
    settings = read_settings(arguments)
    name = "batch" if arguments.file == "-" else Path(arguments.file).stem
    folder = Path(arguments.out or Path("runs") / name)
    if arguments.dry_run:
        forecast = DeepResearcher(settings).forecast_batch(
            questions, folder, at_once=arguments.at_once, total_usd=arguments.budget_total
        )
        print_forecast(asyncio.run(forecast), arguments)
        return 0
    work = partial(_work, settings, questions, folder, arguments)
    return run_until_interrupted(work, f"interrupted; nothing is lost, {_AGAIN}")


def _read_file(name: str) -> str:
    try:
        return sys.stdin.read() if name == "-" else Path(name).read_text("utf-8")
    except OSError as error:
        raise BadInput(f"{name} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise BadInput(f"{name} is no text in UTF-8.") from None


async def _work(
    settings: Settings,
    questions: Sequence[BatchQuestion],
    folder: Path,
    arguments: argparse.Namespace,
    leaving: Leaving,
) -> int:
    stop = BatchStop()
    with BatchView(arguments.quiet) as view:
        leaving.ask, leaving.give_back = stop.request, view.close
        outcomes = await DeepResearcher(settings).batch(
            questions,
            folder,
            at_once=arguments.at_once,
            total_usd=arguments.budget_total,
            on_event=view.tell,
            on_change=view.note,
            stop=stop,
            by_workers=arguments.workers,
            priority=arguments.priority,
        )
    code = _print_outcomes(outcomes, arguments)
    return INTERRUPTED if stop.is_requested and code else code


def _print_outcomes(outcomes: Sequence[QuestionOutcome], arguments: argparse.Namespace) -> int:
    if arguments.json:
        print(dump_json(_summary(outcomes), 2))
    else:
        _print_table(outcomes)
    for one in outcomes:
        if one.error:
            raise one.error
        if not one.has_report:
            way = f"fathom resume {short_id(one.run_id)}" if one.status == "waiting for review" else _AGAIN
            why = f"{one.status}{f': {one.because}' if one.because else ''}".rstrip(".")
            print(safe(f"fathom: line {one.number} {why}; {way}"), file=sys.stderr)
    return _exit_code({one.status for one in outcomes})


def _exit_code(statuses: set[str]) -> int:
    if statuses & {"stopped", "not started"}:
        return 1
    if "waiting for review" in statuses:
        return 3
    return 4 if "failed" in statuses else 0


def _summary(outcomes: Sequence[QuestionOutcome]) -> dict[str, object]:
    return {
        "questions": [one.as_json() for one in outcomes],
        "reports": sum(one.has_report for one in outcomes),
        "cost_usd": round(sum(one.cost_usd for one in outcomes), 6),
    }


class BatchView:
    """Progress on standard error: live at a terminal, else a line when a question begins and when it ends."""

    def __init__(self, is_quiet: bool, stream: TextIO | None = None) -> None:
        self._console = Console(file=stream or sys.stderr, quiet=is_quiet, highlight=False)
        self._began = time.monotonic()
        self._outcomes: Mapping[str, QuestionOutcome] = {}
        self._told: dict[str, str] = {}
        self._doing: dict[str, Progress] = {}
        is_live = self._console.is_terminal and not is_quiet
        self._live = Live(console=self._console, refresh_per_second=4, transient=True) if is_live else None
        self._signals = EndSignals(self.close)

    def __enter__(self) -> "BatchView":
        if self._live:
            self._live.start()
            self._signals.start()
            self._on_suspend(self._suspend)
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the terminal back."""
        if self._live:
            self._live.stop()
            self._signals.stop()
            self._on_suspend(signal.SIG_DFL)

    def _on_suspend(self, handler: Callable[..., None] | signal.Handlers) -> None:
        if SUSPEND and threading.current_thread() is threading.main_thread():
            signal.signal(SUSPEND, handler)

    def _suspend(self, *_: object) -> None:
        """Ctrl-Z: the process stops within this function, and goes on there."""
        self.close()
        if SUSPEND:
            os.kill(os.getpid(), SUSPEND)
        self.__enter__()

    def tell(self, one: BatchQuestion, event: Progress) -> None:
        """What a question in hand is doing."""
        if one.key not in self._doing:
            self._line(f"line {one.number} begins: {one.request.query}")
        self._doing[one.key] = event
        if self._live:
            self._live.update(self._screen())

    def note(self, outcomes: Mapping[str, QuestionOutcome]) -> None:
        """What became of questions."""
        self._outcomes = dict(outcomes)
        for key, outcome in self._outcomes.items():
            if outcome.status not in _SETTLED and self._told.get(key) != outcome.status:
                self._told[key] = outcome.status
                self._doing.pop(key, None)
                self._line(f"line {outcome.number} {_describe_outcome(outcome)} ({self._count()})")

    def _line(self, words: str) -> None:
        if self._live is None:
            shown = Text(f"[{time.monotonic() - self._began:6.1f} s] {plain(words)}")
            self._console.print(shown, soft_wrap=True)

    def _count(self) -> str:
        done = sum(outcome.has_report for outcome in self._outcomes.values())
        return f"{done} of {len(self._outcomes)} done"

    def _screen(self) -> Group:
        spent = sum(outcome.cost_usd for outcome in self._outcomes.values())
        spent += sum(event.spent.usd for event in self._doing.values())
        elapsed_s = time.monotonic() - self._began
        head = f"{self._count()}, {len(self._doing)} in hand, ${spent:.4f}, {elapsed_s:.0f} s"
        lines = [
            f"  line {self._outcomes[key].number}  round {event.round}/{event.limit}  {event.kind}:"
            f" {plain(self._outcomes[key].question)}"
            for key, event in self._doing.items()
            if key in self._outcomes
        ]
        return Group(*(Text(line, no_wrap=True, overflow="ellipsis") for line in [head, *lines]))


def _describe_outcome(outcome: QuestionOutcome) -> str:
    if not outcome.has_report:
        return f"{outcome.status}{f': {outcome.because}' if outcome.because else ''}"
    score = "" if outcome.score is None else f", score {outcome.score:.2f}"
    return f"{outcome.status}{score}, {format_count(outcome.sources, 'source')}, ${outcome.cost_usd:.4f}"


def _print_table(outcomes: Sequence[QuestionOutcome]) -> None:
    """The summary on standard output; where it is narrow, a question stands below its line."""
    cells = [
        (
            str(one.number),
            one.status,
            "" if one.score is None else f"{one.score:.2f}",
            str(one.sources),
            f"${one.cost_usd:.4f}",
            f"{one.duration_s:.0f} s",
            _near(one.report),
        )
        for one in outcomes
    ]
    widths = [max(map(cell_len, column)) for column in zip(_HEAD, *cells, strict=True)]
    shown = Console().width if sys.stdout.isatty() else _WIDE
    room = shown - sum(widths) - 2 * len(widths)
    is_wide = room >= _LEAST_QUESTION
    print(_format_row(_HEAD, widths) + ("  QUESTION" if is_wide else ""))
    for one, row in zip(outcomes, cells, strict=True):
        question = cut(plain(one.question), room if is_wide else shown - 4)
        print(_format_row(row, widths) + (f"  {question}" if is_wide else f"\n    {question}"))
    extracts = sum(one.status == "extracts" for one in outcomes)
    reports = sum(one.has_report and one.status not in ("failed", "extracts") for one in outcomes)
    empty = sum(one.status == "failed" for one in outcomes)
    cost = sum(one.cost_usd for one in outcomes)
    nothing = f", for {empty} nothing was found" if empty else ""
    counts = {"a report": reports if reports or not extracts else None, "extracts": extracts or None}
    done = [f"{count} of {len(outcomes)} have {what}" for what, count in counts.items() if count is not None]
    print(f"\n{', '.join(done)}{nothing}; ${cost:.4f} in all")


def _format_row(cells: Sequence[str], widths: Sequence[int]) -> str:
    """Numbers to the right, words to the left."""
    pads = [" " * (width - cell_len(cell)) for cell, width in zip(cells, widths, strict=True)]
    words = {1, len(cells) - 1}
    return "  ".join(
        f"{cell}{pad}" if n in words else f"{pad}{cell}"
        for n, (cell, pad) in enumerate(zip(cells, pads, strict=True))
    ).rstrip()


def _near(path: str) -> str:
    """A path as seen from here, if it is below."""
    return path.removeprefix(f"{Path.cwd()}/")
