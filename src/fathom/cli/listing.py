"""`fathom runs`: the latest runs as a table or as JSON.

Does not know how runs are made. Imports nothing heavy: a list should come at once.
"""

import argparse
import asyncio
import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime

from fathom.cli.cells import cut, filled, plain
from fathom.cli.options import settings_of
from fathom.ids import short_id
from fathom.runs.folder import folder_of
from fathom.runs.repository import RunLine, list_runs
from fathom.storage import close_storage, open_storage

_QUESTION_CELLS = 60
_KIN = ("updates", "follows", "forks")


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
    found = [
        (line, await folder_of(open_storage(settings.database), line.id))
        for line in await list_runs(settings)
    ]
    await close_storage(settings.database)
    return [(line, str(place) if place else None) for line, place in found]


def _age(started: datetime) -> str:
    seconds = (datetime.now(UTC) - started).total_seconds()
    for size, unit in ((86400, "d"), (3600, "h"), (60, "m")):
        if seconds >= size:
            return f"{seconds // size:.0f}{unit}"
    return f"{max(0, seconds):.0f}s"
