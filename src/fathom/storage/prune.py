"""What is deleted: checkpoints that are superseded, and runs with what only they needed.

LangGraph's savers keep everything for ever. Triggers in the database prune (`fathom.storage.database`): they
belong to the same transaction as the write that makes a row superfluous, and work for every process that
writes checkpoints, `langgraph dev` included. Kept is what a resume, a fork or the history needs:

- every checkpoint of the run itself, until its round is long over; then the one that ends the round,
- inside a task that is not done: the last checkpoint, and the writes that belong to it.

When a run goes, whatever in a row that stays looks like the name of a page keeps that page: no schema has to
be understood.
"""

import asyncio
import re
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import ormsgpack

from fathom.storage.database import BUSY_TIMEOUT_S
from fathom.storage.records import TABLES_BY_RUN, Connection, Database, RemovedRows, Table, inflate

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


_HEX = re.compile(rb"[0-9a-f]{32,}")
_PAGE, _RUN = 64, 32  # characters of a page's name, and of the name that branches share
_GRACE_S = 3600.0  # how long a running run may take until a checkpoint refers to a stored text
_USUAL_AGE_S = 30 * 24 * 3600.0


def _remove_runs(
    connection: Connection,
    bodies: Mapping[str, str],
    gone: Sequence[str],
    *,
    is_idle: bool,
    now: float,
    older_s: float | None,
) -> RemovedRows:
    """Delete removed threads and everything that no run needs any more, in one transaction.

    `bodies` are LangGraph's tables, each with the words for what a row holds.
    """
    age_s = _USUAL_AGE_S if older_s is None else older_s
    for table in ("gone", "needed"):
        connection.execute(f"create temporary table {table} (name text primary key)")
    add_gone = "insert into gone values (?) on conflict do nothing"
    connection.executemany(add_gone, [(run,) for run in gone])
    staying = _names_in_rows(connection, bodies, "not in")
    leaving = {name for name in _names_in_rows(connection, bodies, "in") - staying if len(name) == _RUN}
    connection.executemany("insert into needed values (?)", [(name,) for name in staying])
    connection.executemany(add_gone, [(name,) for name in leaving])
    counts = [
        *(_delete_rows(connection, table, body, _IS_GONE) for table, body in bodies.items()),
        *(_delete_rows(connection, table, body, _IS_OF_GONE) for table, body in TABLES_BY_RUN.items()),
    ]
    replies = _delete_rows(connection, "replies", "reply", _IS_ORPHANED, now - age_s)
    unneeded = "sha not in (select name from needed) and used_at < ?"
    pages = _delete_rows(connection, "pages", "body", unneeded, now - (0.0 if is_idle else _GRACE_S))
    connection.execute("delete from web_pages where checked < ?", (now - age_s,))
    for table in ("gone", "needed"):
        connection.execute(f"drop table {table}")
    every = [*counts, replies, pages]
    return RemovedRows(sum(n for n, _ in every), sum(size for _, size in every), pages[0], replies[0])


_IS_GONE = "thread_id in (select name from gone)"
_IS_OF_GONE = "owner(run) in (select name from gone)"
_IS_ORPHANED = (  # replies that belong to no run that is there, old ones
    "at < ? and owner(run) not in (select thread_id from checkpoints)"
    " and owner(run) not in (select name from needed)"
)


def _names_in_rows(connection: Connection, bodies: Mapping[str, str], which: str) -> set[str]:
    """Everything in the rows of threads that are, or are not, gone that may name a page or a run."""
    names: set[str] = set()
    for table, body in bodies.items():
        words = f"select type, {body} from {table} where thread_id {which} (select name from gone)"  # noqa: S608
        for kind, held in connection.execute(words):
            names.update(_names_in_body(kind or "", held or b""))
    return names


def _names_in_body(kind: str, body: bytes | str) -> Iterator[str]:
    plain = body.encode() if isinstance(body, str) else inflate(kind, body)[1]
    for found in _HEX.findall(plain):
        # What stands beside a name may look like more of it.
        size = _PAGE if len(found) >= _PAGE else _RUN
        for start in range(len(found) - size + 1):
            yield found[start : start + size].decode()


def _delete_rows(
    connection: Connection, table: str, body: str, condition: str, *given: float
) -> tuple[int, int]:
    """Rows that went and the bytes they held. All words are our own: none comes from outside."""
    words = f"select count(*), coalesce(sum(length({body})), 0) from {table} where {condition}"  # noqa: S608
    count, size = connection.execute(words, given).fetchone()
    connection.execute(f"delete from {table} where {condition}", given)  # noqa: S608
    return int(count), int(size)


class _Counted(Exception):
    """What would go, once it is put back."""

    def __init__(self, found: RemovedRows) -> None:
        self.found = found


@dataclass(frozen=True)
class Pruning(ABC):
    """Deletes runs and frees their disk space."""

    database: Database
    bodies: ClassVar[Mapping[str, str]]  # LangGraph's tables, each with the words for what a row holds

    async def remove_runs(
        self, gone: Sequence[str], *, is_idle: bool, now: float, older_s: float | None, is_dry: bool
    ) -> RemovedRows:
        """Delete the runs `gone` and everything no run needs any more; with `is_dry` only count it.

        `is_idle`: no run was working at the time `now`. Rows added since then stay, since a run may have
        started. If runs are working, all recent rows stay.
        """

        def remove(connection: Connection) -> RemovedRows:
            found = _remove_runs(connection, self.bodies, gone, is_idle=is_idle, now=now, older_s=older_s)
            if is_dry:
                raise _Counted(found)
            self._remove_shared(connection, gone)
            return found

        try:
            return await self.database.write(remove, alone="prune")
        except _Counted as counted:
            return counted.found

    def _remove_shared(self, connection: Connection, gone: Sequence[str]) -> None:  # noqa: B027
        """Delete what only one kind of database has."""

    @abstractmethod
    async def shrink(self) -> None:
        """Return the space of deleted rows to the disk; raise if the database is busy."""

    @abstractmethod
    async def size_bytes(self) -> int:
        """Return how much room the database takes."""


@dataclass(frozen=True)
class SqlitePruning(Pruning):
    """Deletes runs from a file."""

    path: Path
    bodies = {"checkpoints": "checkpoint", "writes": "value"}  # noqa: RUF012

    async def shrink(self) -> None:
        """Return the space of deleted rows to the disk; raise if the database is busy."""
        await asyncio.to_thread(_shrink_file, self.path)

    async def size_bytes(self) -> int:
        """Return how much room the file and its log take."""
        files = (Path(f"{self.path}{rest}") for rest in ("", "-wal", "-shm"))
        return await asyncio.to_thread(lambda: sum(f.stat().st_size for f in files if f.is_file()))


def _shrink_file(database: Path) -> None:
    with closing(sqlite3.connect(database, timeout=BUSY_TIMEOUT_S, isolation_level=None)) as connection:
        connection.execute("vacuum")
        connection.execute("pragma wal_checkpoint(truncate)").fetchall()


@dataclass(frozen=True)
class PostgresPruning(Pruning):
    """Deletes runs from a server's database, which uses the room again by itself."""

    bodies = {  # noqa: RUF012
        "checkpoint_writes": "blob",
        "checkpoint_blobs": "blob",
        "checkpoints": "checkpoint::text",
    }

    def _remove_shared(self, connection: Connection, gone: Sequence[str]) -> None:
        connection.execute("delete from papers where sha not in (select sha from pages)")
        for words in ("delete from events where run = ?", "delete from lock_holders where name = ?"):
            connection.executemany(words, [(run,) for run in gone])

    async def shrink(self) -> None:
        """Do nothing."""

    async def size_bytes(self) -> int:
        """Return how much room the database takes."""
        words = "select pg_database_size(current_database())"
        return int((await self.database.read(lambda c: c.execute(words).fetchone()))[0])
