"""Runs from outside: found, listed and steered, straight from the storage.

Does not know graphs: a run's line is kept when somebody has worked on it. LangGraph is imported only for runs
that have no line, or an old one, because they went on elsewhere, as on a server.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import get_args

from fathom.budget.cost_log import CostLog
from fathom.control_signals import ControlSignals
from fathom.errors import BadInput
from fathom.history import RunLine, run_ids, run_times
from fathom.ids import short_id
from fathom.report.claiming import owner_of
from fathom.run_lock import held
from fathom.settings import Settings
from fathom.state import Status
from fathom.storage import open_storage
from fathom.storage.records import RunRecord, SignalWord

OVER = frozenset(get_args(Status))  # a run with one of these has a report, and nothing left to do
_MOST_RECORDS = 100_000
OPEN = ""  # the status of a run that is neither over nor asks somebody: who works on it is looked up


async def find_run(settings: Settings, name: str | None) -> str:
    """Return the full id of a run named by its first characters; of the latest run without a name."""
    ids = await run_ids(open_storage(settings.database))
    if name is None:
        if not ids:
            raise BadInput("There is no run yet.")
        return ids[0]
    found = [run_id for run_id in ids if run_id.startswith(name.lower())] if name else []
    if len(found) != 1:
        several = "There is no run" if not found else "There are several runs"
        raise BadInput(f"{several} whose id begins with {name!r}; fathom runs lists them.")
    return found[0]


async def control_run(settings: Settings, name: str, word: SignalWord, text: str = "") -> RunLine:
    """Leave a control signal for a run, wherever it works; return the run as it was then.

    A run that is over takes none, and only one that is running can be paused.
    """
    run_id = await find_run(settings, name)
    (line,) = await _lines(settings, [run_id])
    if line.status in OVER:
        raise BadInput(f"Run {short_id(run_id)} is over; there is nothing to steer.")
    if word == "pause" and line.status != "running":
        raise BadInput(f"Run {short_id(run_id)} is not running ({line.status}).")
    await ControlSignals(open_storage(settings.database)).give(run_id, word, text)
    return line


async def list_runs(settings: Settings, most: int = 50) -> list[RunLine]:
    """Return the latest runs, the newest first."""
    ids = await run_ids(open_storage(settings.database))
    return await _lines(settings, ids[:most])


async def _lines(settings: Settings, ids: Sequence[str]) -> list[RunLine]:
    storage = open_storage(settings.database)
    records = {record.run: record for record in await storage.runs.latest(_MOST_RECORDS)}
    found: dict[str, RunLine | None] = {}
    for run_id in ids:
        record, steps = records.get(run_id), await storage.checkpoints.first_and_last(run_id)
        is_known = record and steps and (record.last_step == steps[1] or await is_running(settings, run_id))
        found[run_id] = await _line_of(settings, record) if record and is_known else None
    if unknown := [run_id for run_id, line in found.items() if line is None]:
        found |= await _read_checkpoints(settings, unknown)
    return [line for line in found.values() if line]


async def is_running(settings: Settings, run_id: str) -> bool:
    """Whether somebody works on a run."""
    try:
        async with held(open_storage(settings.database), run_id):
            return False
    except BadInput:
        return True


async def open_status(settings: Settings, run_id: str) -> str:
    """Return the status of a run that is neither over nor asks somebody."""
    if await is_running(settings, run_id):
        return "running"
    signals = await ControlSignals(open_storage(settings.database)).pending(run_id)
    return "paused" if any(signal.word == "pause" for signal in signals) else "stopped"


async def remember_line(settings: Settings, line: RunLine) -> None:
    """Keep a run's line; `status` is `OPEN` where it depends on who works on the run."""
    storage = open_storage(settings.database)
    steps = await storage.checkpoints.first_and_last(line.id)
    record = RunRecord(
        run=line.id,
        question=line.question,
        status=line.status,
        started=line.started.isoformat(),
        rounds=line.rounds,
        cost_usd=line.cost_usd,
        updates=line.updates,
        follows=line.follows,
        forks=line.forks,
        last_step=steps[1] if steps else "",
    )
    await storage.runs.remember(record)


async def folder_of(settings: Settings, run_id: str) -> Path | None:
    """Return the folder a run was last written to, if it is still there."""
    path = await open_storage(settings.database).runs.folder_of(run_id)
    is_there = path and await asyncio.to_thread(owner_of, Path(path)) == run_id
    return Path(path) if path and is_there else None


async def _line_of(settings: Settings, record: RunRecord) -> RunLine | None:
    with suppress(BadInput):  # somebody removed it just now
        started, _ = await run_times(open_storage(settings.database), record.run)
        return RunLine(
            id=record.run,
            status=record.status or await open_status(settings, record.run),
            question=record.question,
            started=started,
            cost_usd=await CostLog(open_storage(settings.database)).spent_usd(record.run),
            rounds=record.rounds,
            updates=record.updates,
            follows=record.follows,
            forks=record.forks,
        )
    return None


async def _read_checkpoints(settings: Settings, unknown: list[str]) -> dict[str, RunLine | None]:
    """Read the lines of runs from their checkpoints, and keep those that will not change by themselves."""
    from fathom.runs import open_runs

    found: dict[str, RunLine | None] = {}
    async with open_runs(settings) as runs:
        for run_id in unknown:
            with suppress(BadInput):  # somebody removed it just now
                line = found[run_id] = await runs.settled_line(run_id)
                if line.status == OPEN:
                    found[run_id] = replace(line, status=await open_status(settings, run_id))
                else:
                    await remember_line(settings, line)
    return found
