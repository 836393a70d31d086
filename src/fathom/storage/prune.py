"""Which checkpoints are superseded, and how they go.

LangGraph's SQLite saver keeps everything for ever and cannot prune. Triggers in the database do it instead:
they belong to the same transaction as the write that makes a row superfluous, and work for every process
that writes checkpoints, `langgraph dev` included. Kept is what a resume, a fork or the history needs:

- every checkpoint of the run itself, until its round is long over; then the one that ends the round, as a
  difference from the next one (`fathom.storage.sqlite_checkpoints`),
- inside a task that is not done: the last checkpoint, and the writes that belong to it.
"""

import asyncio
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import ormsgpack

from fathom.storage.compression import inflate
from fathom.storage.database import BUSY_TIMEOUT_S
from fathom.storage.records import RemovedRows
from fathom.storage.removal import remove_runs
from fathom.storage.sql import Connection

KEEP_LATEST = 6  # checkpoints of the run that are never thinned out: about its last round


class OldSteps(NamedTuple):
    """Steps of a run that are neither its first nor among its latest."""

    superseded: list[str]  # between the ends of rounds
    ends: list[tuple[str, int]]  # the step that ends each round, with the number of rounds that were over


def find_old_steps(connection: Connection, thread: str, channel: str, known: dict[str, int]) -> OldSteps:
    """Return the steps that a run no longer needs as they are.

    A round ends where the list `channel` grew. What a person changed is in neither list, and the base of an
    archived round always stays. `known` remembers between calls how long the list was in each step.
    """
    words = (
        "select checkpoint_id, coalesce(json_extract(cast(metadata as text), '$.source'), '')"
        " from checkpoints where thread_id = ? and checkpoint_ns = '' order by checkpoint_id"
    )
    bases = {base for (base,) in connection.execute("select base from past_rounds where run = ?", (thread,))}
    found = OldSteps([], [])
    before = -1
    for place, (name, source) in enumerate(connection.execute(words, (thread,)).fetchall()[:-KEEP_LATEST]):
        if name not in known:
            known[name] = _length_of(connection, thread, name, channel)
        is_end = known[name] > before or name in bases
        if source == "loop" and not is_end:
            found.superseded.append(name)
        elif source == "loop" and place > 0:
            found.ends.append((name, known[name]))
        before = max(before, known[name])
    return found


def delete_steps(connection: Connection, thread: str, names: Sequence[str]) -> None:
    """Delete these steps of a run."""
    for table in ("writes", "checkpoints"):
        connection.executemany(
            f"delete from {table} where thread_id = ? and checkpoint_ns = '' and checkpoint_id = ?",  # noqa: S608
            [(thread, name) for name in names],
        )


def _length_of(connection: Connection, thread: str, name: str, channel: str) -> int:
    """Return how long a list in a checkpoint is, without making its records."""
    words = (
        "select type, checkpoint from checkpoints"
        " where thread_id = ? and checkpoint_ns = '' and checkpoint_id = ?"
    )
    kind, body = connection.execute(words, (thread, name)).fetchone()
    plain = inflate(kind, body)[1]
    checkpoint: Any = ormsgpack.unpackb(plain, ext_hook=_skip, option=ormsgpack.OPT_NON_STR_KEYS)
    return len(checkpoint["channel_values"].get(channel) or [])


def _skip(_code: int, _body: bytes) -> None:
    return None


_BODIES = {"checkpoints": "checkpoint", "writes": "value"}


@dataclass(frozen=True)
class SqlitePruning:
    """Runs taken out of a file, in a thread; see `PruneStore`."""

    path: Path

    async def remove_runs(
        self, gone: Sequence[str], *, is_idle: bool, now: float, older_s: float | None, is_dry: bool
    ) -> RemovedRows:
        """Take out the runs that are gone and what nobody needs any more; with `is_dry` only count it."""
        work = partial(_remove_runs, is_idle=is_idle, now=now, older_s=older_s, is_dry=is_dry)
        return await asyncio.to_thread(work, self.path, gone)

    async def page_names(self) -> set[str]:
        """Return the names of all texts that are kept."""
        return await asyncio.to_thread(_page_names, self.path)

    async def shrink(self) -> None:
        """Give the room of what was taken out back to the disk; raises when that cannot be now."""
        await asyncio.to_thread(_shrink_database, self.path)

    async def size_bytes(self) -> int:
        """Return how much room the file and its log take."""
        files = (Path(f"{self.path}{rest}") for rest in ("", "-wal", "-shm"))
        return await asyncio.to_thread(lambda: sum(f.stat().st_size for f in files if f.is_file()))


def _remove_runs(
    database: Path, gone: Sequence[str], *, is_idle: bool, now: float, older_s: float | None, is_dry: bool
) -> RemovedRows:
    with closing(sqlite3.connect(database, timeout=BUSY_TIMEOUT_S, isolation_level=None)) as connection:
        connection.create_function("owner", 1, lambda run: run.partition("/")[0], deterministic=True)
        with _transaction(connection, is_dry):
            return remove_runs(connection, _BODIES, gone, is_idle=is_idle, now=now, older_s=older_s)


def _page_names(database: Path) -> set[str]:
    with closing(sqlite3.connect(database, timeout=BUSY_TIMEOUT_S)) as connection:
        return {sha for (sha,) in connection.execute("select sha from pages")}


def _shrink_database(database: Path) -> None:
    with closing(sqlite3.connect(database, timeout=BUSY_TIMEOUT_S, isolation_level=None)) as connection:
        connection.execute("vacuum")
        connection.execute("pragma wal_checkpoint(truncate)").fetchall()


@contextmanager
def _transaction(connection: sqlite3.Connection, is_dry: bool) -> Iterator[None]:
    connection.execute("begin immediate")
    try:
        yield
        connection.execute("rollback" if is_dry else "commit")
    except sqlite3.Error:
        if connection.in_transaction:
            connection.execute("rollback")
        raise
