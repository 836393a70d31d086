"""Which runs a database holds, and when they were.

Does not know what a run is about.
"""

import uuid
from dataclasses import dataclass
from datetime import UTC, datetime

from fathom.errors import BadInput
from fathom.ids import short_id
from fathom.storage import Storage

_UUID6_EPOCH = 0x01B21DD213814000


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


def _time_of(checkpoint_id: str) -> datetime:
    """When a checkpoint was made: its id is a UUID of version 6, which begins with the time."""
    bits = uuid.UUID(checkpoint_id).hex
    ticks = int(bits[:12] + bits[13:16], 16) - _UUID6_EPOCH
    return datetime.fromtimestamp(ticks / 10_000_000, UTC)
