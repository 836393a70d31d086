"""Which runs a database holds, and when they were.

Does not know what a run is about.
"""

import uuid
from dataclasses import dataclass
from datetime import UTC, datetime

from fathom.errors import BadInput
from fathom.ids import short_id
from fathom.saver import ThriftySqliteSaver

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


async def run_ids(saver: ThriftySqliteSaver) -> list[str]:
    """The full ids of all runs, the newest first."""
    words = (
        "select thread_id from checkpoints where checkpoint_ns = ''"
        " group by thread_id order by min(checkpoint_id) desc"
    )
    async with saver.lock, saver.conn.execute(words) as rows:
        return [row[0] async for row in rows]


async def run_times(saver: ThriftySqliteSaver, run_id: str) -> tuple[datetime, datetime]:
    """When a run began, and when its last step was saved."""
    words = "select min(checkpoint_id), max(checkpoint_id) from checkpoints where thread_id = ?"
    async with saver.lock, saver.conn.execute(words, (run_id,)) as rows:
        first, last = await rows.fetchone() or (None, None)
    if first is None or last is None:
        raise BadInput(f"There is no run {short_id(run_id)} any more.")
    return _time_of(first), _time_of(last)


async def checkpoint_ids(saver: ThriftySqliteSaver, run_id: str) -> list[str]:
    """The ids of every step of a run that was saved, the latest first."""
    words = (
        "select checkpoint_id from checkpoints where thread_id = ? and checkpoint_ns = ''"
        " order by checkpoint_id desc"
    )
    async with saver.lock, saver.conn.execute(words, (run_id,)) as rows:
        return [row[0] async for row in rows]


def _time_of(checkpoint_id: str) -> datetime:
    """When a checkpoint was made: its id is a UUID of version 6, which begins with the time."""
    bits = uuid.UUID(checkpoint_id).hex
    ticks = int(bits[:12] + bits[13:16], 16) - _UUID6_EPOCH
    return datetime.fromtimestamp(ticks / 10_000_000, UTC)
