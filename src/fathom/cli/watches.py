"""`fathom watch`: reports that are brought up to date on a schedule.

Does not know how an update is made.
"""

import argparse
import asyncio
import time
from datetime import UTC, datetime
from pathlib import Path

from fathom import DeepResearcher
from fathom.cli.arguments import read_settings
from fathom.cli.text import plain, safe
from fathom.errors import BadInput
from fathom.ids import short_id

RUNS_FOLDER = Path("runs")


def watch(arguments: argparse.Namespace) -> int:
    """Watch a report, stop watching it, update all that are due, or list them."""
    return asyncio.run(_watch(arguments))


async def _watch(arguments: argparse.Namespace) -> int:
    asked = [bool(arguments.every), arguments.stop, arguments.run_due]
    if sum(asked) > 1:
        raise BadInput("Say one of --every, --stop and --run-due.")
    if arguments.webhook and not arguments.every:
        raise BadInput("--webhook goes with --every.")
    researcher = DeepResearcher(read_settings(arguments), out=arguments.out or RUNS_FOLDER)
    async with researcher:
        if arguments.run_due:
            return await _run_due(researcher)
        if arguments.every or arguments.stop:
            if not arguments.run_id:
                raise BadInput("Name the run: fathom watch ID --every 7d")
            if arguments.stop:
                await researcher.unwatch(arguments.run_id)
                print(f"Run {short_id(arguments.run_id)} is no longer watched.")
                return 0
            made = await researcher.watch(arguments.run_id, arguments.every, webhook=arguments.webhook or "")
            print(f"Run {short_id(made.run)} is watched; the next update is due {_when(made.due)}.")
            print("Workers do it by themselves; without workers, have cron call: fathom watch --run-due")
            return 0
        return await _list(researcher, arguments.run_id or "")


async def _list(researcher: DeepResearcher, run_id: str) -> int:
    watches = [one for one in await researcher.watches() if one.run.startswith(run_id)]
    if not watches and run_id:
        print(f"Run {run_id} is not watched. Watch it with: fathom watch {run_id} --every 7d")
    elif not watches:
        print("No report is watched. Watch one with: fathom watch ID --every 7d")
    for one in watches:
        every = (
            f"every {one.every_s / 86400:g} days"
            if one.every_s >= 86400
            else f"every {one.every_s / 3600:g} h"
        )
        print(f"{short_id(one.run)}  {every}, next {_when(one.due)}, latest update {short_id(one.latest)}")
        if one.problem:
            print(f"          last time: {plain(one.problem)}")
    return 0


async def _run_due(researcher: DeepResearcher) -> int:
    outcomes = await researcher.run_watches(time.time)
    for outcome in outcomes:
        name = short_id(outcome.watch.run)
        if outcome.result is None:
            print(f"{name}  failed: {plain(outcome.watch.problem)}")
            continue
        print(f"{name}  updated as {short_id(outcome.result.run_id)}")
        print(safe(outcome.digest))
        if outcome.watch.problem:
            print(f"{name}  {plain(outcome.watch.problem)}")
    if not outcomes:
        print("Nothing is due.")
    return 1 if any(outcome.watch.problem for outcome in outcomes) else 0


def _when(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M UTC")
