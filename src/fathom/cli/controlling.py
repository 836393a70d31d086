"""Steering a run from another terminal.

Does not know who works on it, or whether anybody does: the order waits until it is heard.
"""

import argparse
import asyncio

from fathom.cli.options import settings_of
from fathom.ids import short_id
from fathom.runs.repository import RunLine, control_run
from fathom.settings.settings import Settings
from fathom.storage import close_storage
from fathom.storage.records import SignalWord

_HEARD: dict[SignalWord, str] = {
    "pause": "stands still after the step in hand; it goes on with: fathom control {name} go",
    "go": "goes on",
    "stop": "looks no further and writes its report",
    "add": "asks that too, in its next round",
}
_LATER: dict[SignalWord, str] = {
    "go": "goes on if somebody still waits with it; if nobody does: fathom resume {name}",
    "stop": "is not running; it will write its report when you go on with: fathom resume {name}",
    "add": "is not running; it will ask that when you go on with: fathom resume {name}",
}
# Somebody may wait with it or not: an order ends no pause of a run that was left.
_PAUSED: dict[SignalWord, str] = {
    "go": _LATER["go"],
    "stop": "is paused; it writes its report if somebody still waits with it; "
    "if nobody does: fathom resume {name}",
    "add": "is paused; it asks that too when it goes on: fathom control {name} go; "
    "if nobody waits with it: fathom resume {name}",
}


def control(arguments: argparse.Namespace) -> int:
    """Leave one order for one run, and say what becomes of it."""
    settings, word = settings_of(arguments), arguments.order
    line = asyncio.run(_control(settings, arguments))
    told = _HEARD if line.status == "running" else _PAUSED if line.status == "paused" else _LATER
    name = short_id(line.id)
    print(f"Run {name} {told[word].format(name=name)}.")
    return 0


async def _control(settings: Settings, arguments: argparse.Namespace) -> RunLine:
    line = await control_run(settings, arguments.id, arguments.order, arguments.query)
    await close_storage(settings.database)
    return line
