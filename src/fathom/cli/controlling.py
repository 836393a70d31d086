"""Steering a run from another terminal.

Does not know who works on it, or whether anybody does: the order waits until it is heard.
"""

import argparse
import asyncio

from fathom.cli.options import settings_of
from fathom.control_signals import Word
from fathom.errors import BadInput
from fathom.ids import short_id
from fathom.runs import is_unfinished, open_runs

_HEARD: dict[Word, str] = {
    "pause": "stands still after the step in hand; it goes on with: fathom control {name} go",
    "go": "goes on",
    "stop": "looks no further and writes its report",
    "add": "asks that too, in its next round",
}
_LATER: dict[Word, str] = {
    "go": "goes on if somebody still waits with it; if nobody does: fathom resume {name}",
    "stop": "is not running; it will write its report when you go on with: fathom resume {name}",
    "add": "is not running; it will ask that when you go on with: fathom resume {name}",
}
# Somebody may wait with it or not: an order ends no pause of a run that was left.
_PAUSED: dict[Word, str] = {
    "go": _LATER["go"],
    "stop": "is paused; it writes its report if somebody still waits with it; "
    "if nobody does: fathom resume {name}",
    "add": "is paused; it asks that too when it goes on: fathom control {name} go; "
    "if nobody waits with it: fathom resume {name}",
}


def control(arguments: argparse.Namespace) -> int:
    """Leave one order for one run, and say what becomes of it."""
    print(asyncio.run(_ordered(arguments, arguments.order)))
    return 0


async def _ordered(arguments: argparse.Namespace, word: Word) -> str:
    async with open_runs(settings_of(arguments)) as runs:
        run_id = await runs.find(arguments.id)
        name, status = short_id(run_id), (await runs.line(run_id)).status
        snapshot = await runs.snapshot(run_id)
        if not is_unfinished(snapshot) and "report" in snapshot.values:
            raise BadInput(f"Run {name} is over; there is nothing to steer.")
        told = _HEARD if status == "running" else _PAUSED if status == "paused" else _LATER
        if word not in told:
            raise BadInput(f"Run {name} is not running ({status}).")
        await runs.signals.give(run_id, word, arguments.query)
    return f"Run {name} {told[word].format(name=name)}."
