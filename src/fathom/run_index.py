"""Runs from outside: found, listed and steered, straight from the storage.

Does not know graphs: a run's line is kept when somebody has worked on it. LangGraph is imported only for runs
that have no line, or an old one, because they went on elsewhere, as on a server.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import get_args

from fathom.budget.cost_log import CostLog
from fathom.control_signals import ControlSignals
from fathom.errors import BadInput
from fathom.history import OPEN, RunLine, find_run, is_running, open_status, remember_line, run_ids, run_times
from fathom.ids import short_id
from fathom.settings import Settings
from fathom.state import Status
from fathom.storage import Storage, open_storage
from fathom.storage.records import RunRecord, SignalWord

OVER = frozenset(get_args(Status))  # a run with one of these has a report, and nothing left to do
_MOST_RECORDS = 100_000


async def control_run(settings: Settings, name: str, word: SignalWord, text: str = "") -> RunLine:
    """Leave a control signal for a run, wherever it works; return the run as it was then.

    A run that is over takes none, and only one that is running can be paused.
    """
    storage = open_storage(settings.database)
    run_id = await find_run(storage, name)
    (line,) = await _lines(settings, [run_id])
    if line.status in OVER:
        raise BadInput(f"Run {short_id(run_id)} is over; there is nothing to steer.")
    if word == "pause" and line.status != "running":
        raise BadInput(f"Run {short_id(run_id)} is not running ({line.status}).")
    await ControlSignals(storage).give(run_id, word, text)
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
        is_known = record and steps and (record.last_step == steps[1] or await is_running(storage, run_id))
        found[run_id] = await _line_of(storage, record) if record and is_known else None
    if unknown := [run_id for run_id, line in found.items() if line is None]:
        found |= await _read_checkpoints(settings, unknown)
    return [line for line in found.values() if line]


async def _line_of(storage: Storage, record: RunRecord) -> RunLine | None:
    with suppress(BadInput):  # somebody removed it just now
        started, _ = await run_times(storage, record.run)
        return RunLine(
            id=record.run,
            status=record.status or await open_status(storage, record.run),
            question=record.question,
            started=started,
            cost_usd=await CostLog(storage).spent_usd(record.run),
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
                    found[run_id] = replace(line, status=await open_status(runs.storage, run_id))
                else:
                    await remember_line(runs.storage, line)
    return found
