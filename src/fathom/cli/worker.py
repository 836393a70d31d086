"""`fathom worker` answers what is queued in the database; `fathom migrate` moves a file into one.

Does not know how a run is worked on.
"""

import argparse
import asyncio
import signal
import sys

from fathom import BatchStop, DeepResearcher
from fathom.cli.arguments import read_settings
from fathom.errors import BadInput

_MOST_AT_ONCE = 100


def worker(arguments: argparse.Namespace) -> int:
    """Work on the queue until somebody ends it; a second signal does not wait for the steps in hand."""
    if not 1 <= arguments.at_once <= _MOST_AT_ONCE:
        raise BadInput(f"--at-once should be from 1 to {_MOST_AT_ONCE}.")
    return asyncio.run(_work(DeepResearcher(read_settings(arguments)), arguments.at_once))


async def _work(researcher: DeepResearcher, at_once: int) -> int:
    stop, loop = BatchStop(), asyncio.get_running_loop()
    working = asyncio.ensure_future(researcher.work(at_once, stop=stop))

    def leave() -> None:
        if stop.is_requested:
            working.cancel()
        stop.request()

    for one in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(one, leave)
    print(f"fathom: a worker on {researcher.settings.database}, {at_once} runs at a time", file=sys.stderr)
    try:
        await working
    except asyncio.CancelledError:
        return 130
    return 0


def migrate(arguments: argparse.Namespace) -> int:
    """Copy the file in the home into the database of the settings."""
    researcher = DeepResearcher(read_settings(arguments))
    done = asyncio.run(researcher.migrate())
    told = f"Copied {done.runs} runs, {done.rows} rows and {done.papers} papers"
    print(f"{told} to {researcher.settings.database}.")
    return 0
