"""The command that takes old runs away.

Does not know how: it shows what would go, asks, and says what that has brought.
"""

import argparse
import asyncio
import sys

from fathom.cli.listing import table
from fathom.cli.options import settings_of
from fathom.errors import BadInput
from fathom.runs.executor import open_runs
from fathom.runs.prune import PruneChoice, PruneResult, choose_runs, parse_age, prune_runs


def clean(arguments: argparse.Namespace) -> int:
    """Show what would go, ask, and take it away."""
    older_s = parse_age(arguments.older_than) if arguments.older_than is not None else None
    if arguments.keep is not None and arguments.keep < 0:
        raise BadInput("--keep should be a number of runs, 0 or more.")
    return asyncio.run(_clean(arguments, older_s))


async def _clean(arguments: argparse.Namespace, older_s: float | None) -> int:
    async with open_runs(settings_of(arguments)) as runs:
        choice = await choose_runs(runs, older_s, arguments.keep)
        if choice.gone:
            print(table(choice.gone))
        if arguments.dry_run:
            _say(await prune_runs(runs, choice, is_dry=True), is_dry=True)
            return 0
        if choice.gone and not arguments.yes and not _is_agreed(choice):
            print("Nothing was removed.")
            return 0
        _say(await prune_runs(runs, choice), is_dry=False)
    return 0


def _is_agreed(choice: PruneChoice) -> bool:
    if not sys.stdin.isatty():
        raise BadInput("Nobody is here to ask; say --yes to remove these runs, or --dry-run to look only.")
    answer = input(f"Remove {_runs(len(choice.gone))} for good? Research folders stay. [y/N] ")
    return answer.strip().lower() in {"y", "yes"}


def _say(result: PruneResult, *, is_dry: bool) -> None:
    words = "Would remove" if is_dry else "Removed"
    held = _size(result.swept.bytes)
    print(f"{words} {_runs(len(result.gone))}: {result.swept.rows} rows, {held} of content.")
    if not is_dry:
        print(f"On disk: {_size(result.before_bytes)} before, {_size(result.after_bytes)} now.")
    if result.busy:
        print(f"Left alone, because somebody works on them: {_runs(len(result.busy))}.")
    if result.why_not_shrunk:
        print(f"Not all room is back yet: {result.why_not_shrunk}.")


def _runs(count: int) -> str:
    return "1 run" if count == 1 else f"{count} runs"


def _size(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:.1f} KB"
