"""Checkpoints, pruning and the cap of a batch, as PostgreSQL does them.

Does not know what is in a checkpoint but for the list that grows with every round. LangGraph keeps one row
for every version of a channel here, so that the end of an old round needs no difference: it stays.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fathom.storage.prune import KEEP_LATEST
from fathom.storage.records import RemovedRows
from fathom.storage.removal import remove_runs
from fathom.storage.run_tables import CheckpointTable
from fathom.storage.sql import Connection

if TYPE_CHECKING:
    from fathom.storage.postgres import PostgresDatabase

_ROUNDS = "judgements"  # the list in the state that has one entry a round

_BODIES = {
    "checkpoint_writes": "blob",
    "checkpoint_blobs": "blob",
    "checkpoints": "checkpoint::text",
}

_DELETE_BLOBS = """
delete from checkpoint_blobs b where thread_id = ? and checkpoint_ns = '' and not exists (
    select 1 from checkpoints c where c.thread_id = b.thread_id and c.checkpoint_ns = ''
    and c.checkpoint -> 'channel_versions' ->> b.channel = b.version)
"""


class PostgresCheckpoints(CheckpointTable):
    """The checkpoints of all runs; see `CheckpointStore`."""

    async def thin(self, run: str) -> int:
        """Delete the steps inside rounds that are long over; return how many."""
        old = await self.database.read(lambda c: _superseded(c, run))

        def remove(connection: Connection) -> int:
            for table in ("checkpoint_writes", "checkpoints"):
                words = (
                    f"delete from {table} where thread_id = ? and checkpoint_ns = '' and checkpoint_id = ?"  # noqa: S608
                )
                connection.executemany(words, [(run, step) for step in old])
            connection.execute(_DELETE_BLOBS, (run,))
            return len(old)

        return await self.database.write(remove) if old else 0

    async def restore_round(self, run: str, judged: int) -> None:
        """Do nothing: the ends of rounds are among the checkpoints."""

    async def archived_ends(self, run: str) -> list[tuple[str, int]]:  # noqa: ARG002
        """Return nothing: the ends of rounds are among the checkpoints."""
        return []


def _superseded(connection: Connection, run: str) -> list[str]:
    """Return the steps between the ends of rounds; what a person changed, the first and the latest stay."""
    words = """
        select checkpoint_id, metadata ->> 'source', checkpoint -> 'channel_versions' ->> ?
        from checkpoints where thread_id = ? and checkpoint_ns = '' order by checkpoint_id collate "C"
    """
    steps = connection.execute(words, (_ROUNDS, run)).fetchall()[:-KEEP_LATEST]
    return [
        step
        for (step, source, rounds), (_, _, before) in zip(steps[1:], steps, strict=False)
        if source == "loop" and rounds == before
    ]


class PostgresPruning:
    """Runs taken out of a database; see `PruneStore`."""

    def __init__(self, database: "PostgresDatabase") -> None:
        self.database = database

    async def remove_runs(
        self, gone: Sequence[str], *, is_idle: bool, now: float, older_s: float | None, is_dry: bool
    ) -> RemovedRows:
        """Take out the runs that are gone and what nobody needs any more; with `is_dry` only count it."""

        def remove(connection: Connection) -> RemovedRows:
            found = remove_runs(connection, _BODIES, gone, is_idle=is_idle, now=now, older_s=older_s)
            if is_dry:
                raise _Counted(found)
            connection.execute("delete from papers where sha not in (select sha from pages)")
            connection.executemany("delete from events where run = ?", [(run,) for run in gone])
            return found

        try:
            return await self.database.write(remove)
        except _Counted as counted:
            return counted.found

    async def page_names(self) -> set[str]:
        """Return the names of all texts that are kept."""
        rows = await self.database.read(lambda c: c.execute("select sha from pages").fetchall())
        return {sha for (sha,) in rows}

    async def shrink(self) -> None:
        """Do nothing: the server uses the room again by itself."""

    async def size_bytes(self) -> int:
        """Return how much room the database takes."""
        words = "select pg_database_size(current_database())"
        return int((await self.database.read(lambda c: c.execute(words).fetchone()))[0])


class _Counted(Exception):
    """What would go, once it is put back."""

    def __init__(self, found: RemovedRows) -> None:
        self.found = found


def left_in_batch(connection: Connection, run: str) -> int | None:
    """Return what the batch of a run may still spend, or None; others wait for the transaction."""
    words = """
        select cap - nano from batches where name = (select batch from batch_runs where run = owner(?))
        for update
    """
    row = connection.execute(words, (run,)).fetchone()
    return int(row[0]) if row else None
