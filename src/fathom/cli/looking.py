"""Commands that only look: list runs, show a report.

Does not know how runs are made.
"""

import argparse
import asyncio
from datetime import UTC, datetime

from fathom.cli.output import check_format, print_result
from fathom.errors import BadInput
from fathom.history import RunLine
from fathom.ids import short_id
from fathom.runs import is_unfinished, open_runs
from fathom.settings import load_settings

_QUESTION_CHARS = 60


def runs(arguments: argparse.Namespace) -> int:
    """Print the latest runs."""
    lines = asyncio.run(_lines())
    if not lines:
        print('No runs yet. Try: fathom "your question" --docs FOLDER')
        return 0
    width = 36 if arguments.full else 13
    print(f"{'ID':{width}}  {'STATUS':18}  {'AGE':>5}  {'COST':>9}  QUESTION")
    for line in lines:
        question = " ".join(line.question.split())
        shown = question if len(question) <= _QUESTION_CHARS else question[: _QUESTION_CHARS - 1] + "…"
        about = f"{line.status:18}  {_age(line.started):>5}  ${line.cost_usd:8.4f}"
        name = line.id if arguments.full else short_id(line.id)
        updated = f" (updates {short_id(line.updates)})" if line.updates else ""
        followed = f" (follows {short_id(line.follows)})" if line.follows else ""
        print(f"{name:{width}}  {about}  {shown}{updated}{followed}")
    return 0


async def _lines() -> list[RunLine]:
    async with open_runs(load_settings()) as opened:
        return await opened.lines()


def show(arguments: argparse.Namespace) -> int:
    """Print one report."""
    check_format(arguments.format)
    asyncio.run(_show(arguments))
    return 0


async def _show(arguments: argparse.Namespace) -> None:
    async with open_runs(load_settings()) as opened:
        run_id = await opened.find(arguments.id)
        result = await opened.result(run_id)
        # What a run that goes on has found since is in no report yet; a ledger must be that of its report.
        if arguments.format == "json" and is_unfinished(await opened.snapshot(run_id)):
            raise BadInput(
                f"Run {short_id(run_id)} is not finished: its report.json is where it is written,"
                f" or end it with: fathom resume {short_id(run_id)} --finish"
            )
        print_result(result, arguments.format)


def _age(started: datetime) -> str:
    seconds = (datetime.now(UTC) - started).total_seconds()
    for size, unit in ((86400, "d"), (3600, "h"), (60, "m")):
        if seconds >= size:
            return f"{seconds // size:.0f}{unit}"
    return f"{max(0, seconds):.0f}s"
