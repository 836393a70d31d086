"""Which checkpoints are superseded, and how they are deleted.

LangGraph's savers keep everything for ever. Triggers in the database prune (`fathom.storage.database`): they
belong to the same transaction as the write that makes a row superfluous, and work for every process that
writes checkpoints, `langgraph dev` included. Kept is what a resume, a fork or the history needs:

- every checkpoint of the run itself, until its round is long over; then the one that ends the round,
- inside a task that is not done: the last checkpoint, and the writes that belong to it.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import ormsgpack

from fathom.storage.records import inflate
from fathom.storage.sql import Connection, Table

_ROUNDS = "judgements"  # the list in the state that has one entry a round
KEEP_LATEST = 6  # checkpoints of the run that are never thinned out: about its last round


class CheckpointTable(Table, ABC):
    """Queries about checkpoints that LangGraph's savers do not offer."""

    writes: ClassVar[str] = "writes"  # the saver's table

    async def run_ids(self) -> list[str]:
        """Return the ids of all runs, the newest first."""
        words = (
            "select thread_id from checkpoints where checkpoint_ns = ''"
            " group by thread_id order by min(checkpoint_id) desc"
        )
        return [run for (run,) in await self._rows(words)]

    async def first_and_last(self, run: str) -> tuple[str, str] | None:
        """Return the ids of a run's first and last checkpoint, or None when it has none."""
        words = "select min(checkpoint_id), max(checkpoint_id) from checkpoints where thread_id = ?"
        ((first, last),) = await self._rows(words, run)
        return (first, last) if first else None

    async def steps_of(self, run: str) -> list[str]:
        """Return the ids of all stored steps of a run, newest first."""
        words = (
            "select checkpoint_id from checkpoints where thread_id = ? and checkpoint_ns = ''"
            " order by checkpoint_id desc"
        )
        return [step for (step,) in await self._rows(words, run)]

    async def runs_longer_than(self, steps: int) -> list[str]:
        """Return the runs that have more steps than so many."""
        words = (
            "select thread_id from checkpoints where checkpoint_ns = ''"
            " group by thread_id having count(*) > ?"
        )
        return [run for (run,) in await self._rows(words, steps)]

    async def thin(self, run: str) -> int:
        """Delete the steps inside rounds that are long over; return how many."""
        old = await self.database.read(lambda c: self._superseded(c, run))
        if old:
            await self.database.write(lambda c: self._delete(c, run, old))
        return len(old)

    @abstractmethod
    def _superseded(self, connection: Connection, run: str) -> list[str]:
        """Return the steps between the ends of rounds.

        A round ends where the list of judgements grew. What a person changed, the first and the latest stay.
        """

    def _delete(self, connection: Connection, run: str, steps: Sequence[str]) -> None:
        for table in (self.writes, "checkpoints"):
            words = f"delete from {table} where thread_id = ? and checkpoint_ns = '' and checkpoint_id = ?"  # noqa: S608
            connection.executemany(words, [(run, step) for step in steps])


@dataclass(frozen=True)
class SqliteCheckpoints(CheckpointTable):
    """The checkpoints of all runs in SQLite."""

    _judged: dict[str, int] = field(default_factory=dict)  # rounds that were over at a step: decoded once

    def _superseded(self, connection: Connection, run: str) -> list[str]:
        words = (
            "select checkpoint_id, coalesce(json_extract(cast(metadata as text), '$.source'), '')"
            " from checkpoints where thread_id = ? and checkpoint_ns = '' order by checkpoint_id"
        )
        found: list[str] = []
        before = -1
        for step, source in connection.execute(words, (run,)).fetchall()[:-KEEP_LATEST]:
            if step not in self._judged:
                self._judged[step] = _count_rounds(connection, run, step)
            if source == "loop" and self._judged[step] <= before:
                found.append(step)
            before = max(before, self._judged[step])
        return found


def _count_rounds(connection: Connection, run: str, step: str) -> int:
    """Return how many rounds were over in a checkpoint, without making its records."""
    words = (
        "select type, checkpoint from checkpoints"
        " where thread_id = ? and checkpoint_ns = '' and checkpoint_id = ?"
    )
    _, plain = inflate(*connection.execute(words, (run, step)).fetchone())
    checkpoint: Any = ormsgpack.unpackb(plain, ext_hook=_skip, option=ormsgpack.OPT_NON_STR_KEYS)
    return len(checkpoint["channel_values"].get(_ROUNDS) or [])


def _skip(_code: int, _body: bytes) -> None:
    return None


_DELETE_BLOBS = """
delete from checkpoint_blobs b where thread_id = ? and checkpoint_ns = '' and not exists (
    select 1 from checkpoints c where c.thread_id = b.thread_id and c.checkpoint_ns = ''
    and c.checkpoint -> 'channel_versions' ->> b.channel = b.version)
"""


class PostgresCheckpoints(CheckpointTable):
    """The same in PostgreSQL, where a channel has one row a version."""

    writes = "checkpoint_writes"

    def _superseded(self, connection: Connection, run: str) -> list[str]:
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

    def _delete(self, connection: Connection, run: str, steps: Sequence[str]) -> None:
        super()._delete(connection, run, steps)
        connection.execute(_DELETE_BLOBS, (run,))
