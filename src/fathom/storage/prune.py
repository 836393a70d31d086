"""Runs taken out of a database, what only they needed, and the room they took given back.

Whatever in a row that stays looks like the name of a page keeps that page: no schema has to be understood.
"""

import asyncio
import re
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from fathom.storage.database import BUSY_TIMEOUT_S
from fathom.storage.records import RemovedRows, inflate
from fathom.storage.sql import TABLES_BY_RUN, Connection, Database

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
