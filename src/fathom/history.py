"""Which runs a database holds, when they were, and who works on them.

Does not know what a run is about.
"""

import asyncio
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from fathom.control_signals import ControlSignals
from fathom.errors import BadInput
from fathom.ids import short_id
from fathom.report.claiming import owner_of
from fathom.run_lock import held
from fathom.storage import Storage
from fathom.storage.records import RunRecord

_UUID6_EPOCH = 0x01B21DD213814000
OPEN = ""  # the status of a run that is neither over nor asks somebody: who works on it is looked up


@dataclass(frozen=True)
class RunLine:
    """A run as a list shows it."""

    id: str
    status: str
    question: str
    started: datetime
    cost_usd: float
    rounds: int = 0  # that are over
    updates: str = ""  # the id of the run it brings up to date
    follows: str = ""  # the id of the run whose thread it goes on with
    forks: str = ""  # the id of the run it shares its past with


async def run_ids(storage: Storage) -> list[str]:
    """Return the full ids of all runs, the newest first."""
    return await storage.checkpoints.run_ids()


async def run_times(storage: Storage, run_id: str) -> tuple[datetime, datetime]:
    """Return when a run began, and when its last step was saved."""
    found = await storage.checkpoints.first_and_last(run_id)
    if found is None:
        raise BadInput(f"There is no run {short_id(run_id)} any more.")
    return _time_of(found[0]), _time_of(found[1])


async def archived_times(storage: Storage, run_id: str) -> list[tuple[datetime, int]]:
    """Return when each round ended that is long over, the oldest first, and how many rounds were over."""
    ends = await storage.checkpoints.archived_ends(run_id)
    return [(_time_of(step), judged) for step, judged in ends]


async def checkpoint_ids(storage: Storage, run_id: str) -> list[str]:
    """Return the ids of every step of a run that is kept, the latest first."""
    return await storage.checkpoints.steps_of(run_id)


async def find_run(storage: Storage, name: str | None) -> str:
    """Return the full id of a run named by its first characters; of the latest run without a name."""
    ids = await run_ids(storage)
    if name is None:
        if not ids:
            raise BadInput("There is no run yet.")
        return ids[0]
    found = [run_id for run_id in ids if run_id.startswith(name.lower())] if name else []
    if len(found) != 1:
        several = "There is no run" if not found else "There are several runs"
        raise BadInput(f"{several} whose id begins with {name!r}; fathom runs lists them.")
    return found[0]


async def is_running(storage: Storage, run_id: str) -> bool:
    """Whether somebody works on a run."""
    try:
        async with held(storage, run_id):
            return False
    except BadInput:
        return True


async def open_status(storage: Storage, run_id: str) -> str:
    """Return the status of a run that is neither over nor asks somebody."""
    if await is_running(storage, run_id):
        return "running"
    signals = await ControlSignals(storage).pending(run_id)
    return "paused" if any(signal.word == "pause" for signal in signals) else "stopped"


async def remember_line(storage: Storage, line: RunLine) -> None:
    """Keep a run's line; `status` is `OPEN` where it depends on who works on the run."""
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


async def folder_of(storage: Storage, run_id: str) -> Path | None:
    """Return the folder a run was last written to, if it is still there."""
    path = await storage.runs.folder_of(run_id)
    is_there = path and await asyncio.to_thread(owner_of, Path(path)) == run_id
    return Path(path) if path and is_there else None


def _time_of(checkpoint_id: str) -> datetime:
    """When a checkpoint was made: its id is a UUID of version 6, which begins with the time."""
    bits = uuid.UUID(checkpoint_id).hex
    ticks = int(bits[:12] + bits[13:16], 16) - _UUID6_EPOCH
    return datetime.fromtimestamp(ticks / 10_000_000, UTC)
