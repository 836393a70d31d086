"""`fathom batch`: many questions from a file, one progress, one table.

Does not know how a question is worked on.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from filelock import FileLock, Timeout

from fathom.cli.batch_view import BatchView, print_table, summary, summed
from fathom.cli.forecasting import dry_run_of_many
from fathom.cli.leaving import INTERRUPTED, Leaving, until_interrupted
from fathom.cli.local_models import choose_local_model
from fathom.cli.options import request_words, settings_of
from fathom.errors import BadInput
from fathom.ids import short_id
from fathom.runs.batch import (
    NOTES_FILE,
    Batch,
    BatchNotes,
    BatchQuestion,
    QuestionOutcome,
    StopAll,
    read_questions,
)
from fathom.runs.executor import open_runs
from fathom.settings.settings import Settings
from fathom.state import short_hash

_MOST_AT_ONCE = 100
_AGAIN = "run the same command again to go on"


def batch(arguments: argparse.Namespace) -> int:
    """Bring every question of a file to its end."""
    if not 1 <= arguments.at_once <= _MOST_AT_ONCE:
        raise BadInput(f"--at-once should be from 1 to {_MOST_AT_ONCE}.")
    if arguments.budget_total is not None and not arguments.budget_total >= 0:
        raise BadInput("--budget-total should be 0 or more.")
    choose_local_model(arguments)
    asked = read_questions(_text(arguments.file), request_words(arguments))
    settings = settings_of(arguments)
    name = "batch" if arguments.file == "-" else Path(arguments.file).stem
    folder = Path(arguments.out or Path("runs") / name)
    if arguments.dry_run:
        done = {
            key for key, entry in BatchNotes(folder / NOTES_FILE).entries().items() if entry.get("report")
        }
        return dry_run_of_many(settings, [one.request for one in asked if one.key not in done], arguments)
    work = partial(_worked, settings, asked, folder, arguments)
    return until_interrupted(work, f"interrupted; nothing is lost, {_AGAIN}")


def _text(name: str) -> str:
    try:
        return sys.stdin.read() if name == "-" else Path(name).read_text("utf-8")
    except OSError as error:
        raise BadInput(f"{name} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise BadInput(f"{name} is no text in UTF-8.") from None


async def _worked(
    settings: Settings,
    asked: Sequence[BatchQuestion],
    folder: Path,
    arguments: argparse.Namespace,
    leaving: Leaving,
) -> int:
    ending = StopAll()
    async with open_runs(settings) as runs:
        with _alone(settings, folder), BatchView(arguments.quiet) as view:
            notes = BatchNotes(folder / NOTES_FILE)
            known = notes.entries()

            def note(outcomes: Mapping[str, QuestionOutcome]) -> None:
                notes.write({**known, **{key: summed(one) for key, one in outcomes.items()}})
                view.note(outcomes)

            leaving.ask, leaving.give_back = ending.request, view.close
            batch = Batch(runs, folder, view.tell, note, ending, arguments.at_once, arguments.budget_total)
            outcomes = await batch.work(asked, {key: entry["run_id"] for key, entry in known.items()})
    code = _told(outcomes, arguments)
    return INTERRUPTED if ending.is_requested and code else code


@contextmanager
def _alone(settings: Settings, folder: Path) -> Iterator[None]:
    """One process works on a batch at a time; the lock is the kernel's, and ends with it."""
    name = short_hash("batch", str(folder.absolute()))
    (settings.home / "locks").mkdir(parents=True, exist_ok=True)
    lock = FileLock(settings.home / "locks" / f"batch-{name}.lock", timeout=0)
    try:
        lock.acquire()
    except Timeout:
        raise BadInput(f"The batch in {folder} is being worked on by another process.") from None
    try:
        yield
    finally:
        lock.release()


def _told(outcomes: Sequence[QuestionOutcome], arguments: argparse.Namespace) -> int:
    if arguments.json:
        print(json.dumps(summary(outcomes), ensure_ascii=False, indent=2))
    else:
        print_table(outcomes)
    for one in outcomes:
        if one.error:
            raise one.error
        if not one.has_report:
            way = f"fathom resume {short_id(one.run_id)}" if one.status == "waiting for review" else _AGAIN
            why = f"{one.status}{f': {one.because}' if one.because else ''}".rstrip(".")
            print(f"fathom: line {one.number} {why}; {way}", file=sys.stderr)
    return _code({one.status for one in outcomes})


def _code(statuses: set[str]) -> int:
    if statuses & {"stopped", "not started"}:
        return 1
    if "waiting for review" in statuses:
        return 3
    return 4 if "failed" in statuses else 0
