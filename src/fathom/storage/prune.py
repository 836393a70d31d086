"""Which checkpoints are superseded, and how they go.

LangGraph's SQLite saver keeps everything for ever and cannot prune. Triggers in the database do it instead:
they belong to the same transaction as the write that makes a row superfluous, and work for every process
that writes checkpoints, `langgraph dev` included. Kept is what a resume, a fork or the history needs:

- every checkpoint of the run itself, until its round is long over; then the one that ends the round, as a
  difference from the next one (`fathom.storage.sqlite_checkpoints`),
- inside a task that is not done: the last checkpoint, and the writes that belong to it.
"""

import asyncio
import re
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

KEEP_LATEST = 6  # checkpoints of the run that are never thinned out: about its last round


class OldSteps(NamedTuple):
    """Steps of a run that are neither its first nor among its latest."""

    superseded: list[str]  # between the ends of rounds
    ends: list[tuple[str, int]]  # the step that ends each round, with the number of rounds that were over


def find_old_steps(
    connection: sqlite3.Connection, thread: str, channel: str, known: dict[str, int]
) -> OldSteps:
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


def delete_steps(connection: sqlite3.Connection, thread: str, names: Sequence[str]) -> None:
    """Delete these steps of a run."""
    for table in ("writes", "checkpoints"):
        connection.executemany(
            f"delete from {table} where thread_id = ? and checkpoint_ns = '' and checkpoint_id = ?",  # noqa: S608
            [(thread, name) for name in names],
        )


def _length_of(connection: sqlite3.Connection, thread: str, name: str, channel: str) -> int:
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


_HEX = re.compile(rb"[0-9a-f]{32,}")

_PAGE, _RUN = 64, 32  # characters of a page's name, and of the name that branches share

_OF_THREADS = {"checkpoints": "checkpoint", "writes": "value"}

_GRACE_S = 3600.0  # a text put by who is at work may wait so long until a checkpoint names it

_USUAL_AGE_S = 30 * 24 * 3600.0


@dataclass(frozen=True)
class SqlitePruning:
    """The same in a thread; see `CleaningStore`."""

    path: Path

    async def remove_runs(
        self, gone: Sequence[str], *, is_idle: bool, now: float, older_s: float | None, is_dry: bool
    ) -> RemovedRows:
        """Take out the runs that are gone and what nobody needs any more; with `is_dry` only count it."""
        work = partial(remove_runs, is_idle=is_idle, now=now, older_s=older_s, is_dry=is_dry)
        return await asyncio.to_thread(work, self.path, gone)

    async def page_names(self) -> set[str]:
        """Return the names of all texts that are kept."""
        return await asyncio.to_thread(stored_page_names, self.path)

    async def shrink(self) -> None:
        """Give the room of what was taken out back to the disk; raises when that cannot be now."""
        await asyncio.to_thread(shrink_database, self.path)

    async def size_bytes(self) -> int:
        """Return how much room the file and its log take."""
        files = (Path(f"{self.path}{rest}") for rest in ("", "-wal", "-shm"))
        return await asyncio.to_thread(lambda: sum(f.stat().st_size for f in files if f.is_file()))


def remove_runs(
    database: Path,
    gone: Sequence[str],
    *,
    is_idle: bool,
    now: float,
    older_s: float | None = None,
    is_dry: bool = False,
) -> RemovedRows:
    """Take out the threads that are gone and what nobody needs any more; with `is_dry` only count it.

    `is_idle` says that no run was at work when it was `now`: what was put since stays, for a run may have
    begun. Otherwise what was put lately stays, whoever needs it.
    """
    age_s = _USUAL_AGE_S if older_s is None else older_s
    with closing(sqlite3.connect(database, timeout=BUSY_TIMEOUT_S, isolation_level=None)) as connection:
        # What is kept by run has the name of its thread, and behind a stroke the name its branches share.
        connection.create_function("owner", 1, lambda run: run.partition("/")[0], deterministic=True)
        connection.execute("create temp table gone (run text primary key)")
        connection.executemany("insert or ignore into gone values (?)", [(run,) for run in gone])
        staying = _names_in_rows(connection, "not in")
        leaving = {name for name in _names_in_rows(connection, "in") - staying if len(name) == _RUN}
        connection.execute("create temp table needed (name text primary key)")
        connection.executemany("insert into needed values (?)", [(name,) for name in staying])
        connection.executemany("insert or ignore into gone values (?)", [(name,) for name in leaving])
        with _transaction(connection, is_dry):
            counts = [_delete_threads(connection), _delete_rows_of_runs(connection)]
            replies = _delete_replies(connection, now - age_s)
            pages = _delete_pages(connection, now - (0.0 if is_idle else _GRACE_S))
            _delete_web_pages(connection, now - age_s)
    every = [*counts, replies, pages]
    return RemovedRows(sum(n for n, _ in every), sum(size for _, size in every), pages[0], replies[0])


def stored_page_names(database: Path) -> set[str]:
    """The names of all texts that are kept."""
    with closing(sqlite3.connect(database, timeout=BUSY_TIMEOUT_S)) as connection:
        return {sha for (sha,) in connection.execute("select sha from pages")}


def shrink_database(database: Path) -> None:
    """Give the room of what was taken out back to the disk; raises sqlite3.Error when that cannot be now."""
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


def _names_in_rows(connection: sqlite3.Connection, which: str) -> set[str]:
    """Everything in the rows of threads that are, or are not, gone that may name a page or a run."""
    names: set[str] = set()
    for table, column in _OF_THREADS.items():
        words = f"select type, {column} from {table} where thread_id {which} (select run from gone)"  # noqa: S608
        for kind, body in connection.execute(words):
            names.update(_names_in_body(kind or "", body or b""))
    return names


def _names_in_body(kind: str, body: bytes) -> Iterator[str]:
    for found in _HEX.findall(inflate(kind, body)[1]):
        # What stands beside a name may look like more of it.
        size = _PAGE if len(found) >= _PAGE else _RUN
        for start in range(len(found) - size + 1):
            yield found[start : start + size].decode()


def _delete_threads(connection: sqlite3.Connection) -> tuple[int, int]:
    every = [
        _delete_rows(connection, table, column, "thread_id in (select run from gone)")
        for table, column in _OF_THREADS.items()
    ]
    return sum(n for n, _ in every), sum(size for _, size in every)


def _delete_rows_of_runs(connection: sqlite3.Connection) -> tuple[int, int]:
    """What is kept by run in any table: orders, payments, taken pages, folders, replies, turns."""
    count = size = 0
    for table in _tables(connection):
        if "run" in _columns(connection, table):
            column = "reply" if table == "replies" else "run"
            here, length = _delete_rows(connection, table, column, "owner(run) in (select run from gone)")
            count, size = count + here, size + length
    return count, size


def _delete_replies(connection: sqlite3.Connection, before: float) -> tuple[int, int]:
    """Replies that belong to no run that is there, old ones."""
    orphaned = (
        "at < ? and owner(run) not in (select thread_id from checkpoints)"
        " and owner(run) not in (select name from needed)"
    )
    return _delete_rows(connection, "replies", "reply", orphaned, before)


def _delete_pages(connection: sqlite3.Connection, before: float) -> tuple[int, int]:
    unneeded = "sha not in (select name from needed) and used_at < ?"
    return _delete_rows(connection, "pages", "body", unneeded, before)


def _delete_web_pages(connection: sqlite3.Connection, before: float) -> None:
    """Copies of the web's pages that are kept to be read again soon, old ones."""
    connection.execute("delete from web_pages where checked < ?", (before,))


def _delete_rows(
    connection: sqlite3.Connection, table: str, column: str, condition: str, *given: float
) -> tuple[int, int]:
    """Rows that went and the bytes they held. All words are our own: none comes from outside."""
    words = f"select count(*), coalesce(sum(length({column})), 0) from {table} where {condition}"  # noqa: S608
    count, size = connection.execute(words, given).fetchone()
    connection.execute(f"delete from {table} where {condition}", given)  # noqa: S608
    return int(count), int(size)


def _tables(connection: sqlite3.Connection) -> list[str]:
    return [name for (name,) in connection.execute("select name from sqlite_master where type = 'table'")]


def _columns(connection: sqlite3.Connection, table: str) -> set[str]:
    return {row[1] for row in connection.execute(f"pragma table_info('{table}')")}
