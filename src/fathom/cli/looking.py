"""Commands that only look: list runs, show a report or a part of what a run knows.

Does not know how runs are made.
"""

import argparse
import asyncio
import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from typing import cast

from fathom.cli.cells import cut, filled, plain
from fathom.cli.options import settings_of
from fathom.cli.output import check_format, print_markdown, print_result
from fathom.errors import BadInput
from fathom.history import RunLine
from fathom.ids import short_id
from fathom.places import Places
from fathom.report.folder import pages_of
from fathom.report.listings import words_of
from fathom.report.past_rounds import round_of
from fathom.report.round_summary import round_page
from fathom.runs import is_unfinished, open_runs
from fathom.state import RunState

_QUESTION_CELLS = 60
_KIN = ("updates", "follows", "forks")
PARTS = {
    "findings": "findings.md",
    "hypotheses": "hypotheses.md",
    "sources": "sources.md",
    "citations": "citations.md",
    "bib": "citations.bib",
}


def runs(arguments: argparse.Namespace) -> int:
    """Print the latest runs."""
    lines = asyncio.run(_lines(arguments))
    if arguments.json:
        told = [
            {**asdict(line), "started": line.started.isoformat(), "folder": place} for line, place in lines
        ]
        print(json.dumps(told, indent=2, ensure_ascii=False))
    elif lines:
        print(table([line for line, _ in lines], is_full=arguments.full))
    else:
        print('No runs yet. Try: fathom "your question" --docs FOLDER')
    return 0


def table(lines: Sequence[RunLine], *, is_full: bool = False) -> str:
    """Runs, one a line, the columns aligned in any script."""
    width = 36 if is_full else 13
    rows = [f"{'ID':{width}}  {'STATUS':18}  {'AGE':>5}  {'COST':>9}  QUESTION"]
    for line in lines:
        about = f"{filled(line.status, 18)}  {_age(line.started):>5}  ${line.cost_usd:8.4f}"
        name = line.id if is_full else short_id(line.id)
        kin = "".join(f" ({word} {short_id(other)})" for word in _KIN if (other := getattr(line, word)))
        rows.append(f"{name:{width}}  {about}  {cut(plain(line.question), _QUESTION_CELLS)}{kin}")
    return "\n".join(rows)


async def _lines(arguments: argparse.Namespace) -> list[tuple[RunLine, str | None]]:
    """The latest runs, and where the folder of each is."""
    settings = settings_of(arguments)
    async with open_runs(settings) as opened:
        places = Places(settings.database)
        found = [(line, await places.of(line.id)) for line in await opened.lines()]
    return [(line, str(place) if place else None) for line, place in found]


def show(arguments: argparse.Namespace) -> int:
    """Print one report, or a part of what a run knows."""
    check_format(arguments.format)
    asyncio.run(_show(arguments))
    return 0


async def _show(arguments: argparse.Namespace) -> None:
    async with open_runs(settings_of(arguments)) as opened:
        run_id = await opened.find(arguments.id)
        if arguments.round is not None or arguments.part:
            state = cast(RunState, (await opened.snapshot(run_id)).values)
            show_part = partial(print, end="") if arguments.part == "bib" else print_markdown
            show_part(_part(run_id, state, arguments))
            return
        result = await opened.result(run_id)
        # What a run that goes on has found since is in no report yet; a ledger must be that of its report.
        if arguments.format == "json" and is_unfinished(await opened.snapshot(run_id)):
            raise BadInput(
                f"Run {short_id(run_id)} is not finished: its report.json is where it is written,"
                f" or end it with: fathom resume {short_id(run_id)} --finish"
            )
        print_result(result, arguments.format)


def _part(run_id: str, state: RunState, arguments: argparse.Namespace) -> str:
    """A page of the research folder, made again from what is known."""
    if arguments.part:
        return pages_of(state)[PARTS[arguments.part]]
    judged = [judgement.round for judgement in state.get("judgements", [])]
    if arguments.round not in judged:
        have = f"rounds {judged[0]} to {judged[-1]}" if judged else "no round that is over"
        raise BadInput(f"Run {short_id(run_id)} has {have}; there is no round {arguments.round} to show.")
    done, spent, planned = round_of(state, arguments.round)
    return round_page(state.get("question", ""), done, spent, words_of(state), planned)


def _age(started: datetime) -> str:
    seconds = (datetime.now(UTC) - started).total_seconds()
    for size, unit in ((86400, "d"), (3600, "h"), (60, "m")):
        if seconds >= size:
            return f"{seconds // size:.0f}{unit}"
    return f"{max(0, seconds):.0f}s"
