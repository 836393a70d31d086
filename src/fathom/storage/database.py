"""One SQLite file and the two threads that use it: one reads, one writes.

Reads never wait for a write, and the event loop waits for neither.
"""

import asyncio
import re
import sqlite3
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

from filelock import FileLock

from fathom.errors import BadInput
from fathom.storage.records import TABLES

# Namespaces: '' is the run, 'reading:ID' a task in it, 'reading:ID|extract:ID' a task in that. A name without
# ':' belongs to a subgraph with a memory of its own, which somebody may have around Fathom: it stays.
_INSIDE = """
    thread_id = new.thread_id and checkpoint_id < new.checkpoint_id and instr(checkpoint_ns, ':')
    and case when new.checkpoint_ns = ''
    then checkpoint_ns > ''
    else checkpoint_ns > new.checkpoint_ns || '|' and checkpoint_ns < new.checkpoint_ns || '}' end
"""

TRIGGERS = f"""
create trigger if not exists prune_superseded after insert on checkpoints begin
    -- A checkpoint contains the writes that were pending on its parent.
    delete from writes where thread_id = new.thread_id and checkpoint_ns = new.checkpoint_ns
        and checkpoint_id = new.parent_checkpoint_id;
    -- A new checkpoint means that all tasks of the step before have ended. Checkpoint ids grow with time:
    -- with durability "async" tasks of the next step may have saved theirs before this one is written.
    delete from writes where {_INSIDE};
    delete from checkpoints where {_INSIDE};
    -- Inside a task only the last checkpoint is resumed.
    delete from checkpoints where instr(new.checkpoint_ns, ':') and thread_id = new.thread_id
        and checkpoint_ns = new.checkpoint_ns and checkpoint_id < new.checkpoint_id;
end;
-- LangGraph takes a task with any output for finished. One that was cut off between its work and its routing
-- has output and an error: without the output it is run again, with it the run would end too early.
create trigger if not exists drop_partial_output after insert on writes when new.channel = '__error__' begin
    delete from writes where thread_id = new.thread_id and checkpoint_ns = new.checkpoint_ns
        and checkpoint_id = new.checkpoint_id and task_id = new.task_id and idx >= 0;
end;
"""  # noqa: S608 - all words are our own

LAYOUT_VERSION = 5  # 4 names records by `fathom.state`; 5 added `watches`
OLDEST_LAYOUT = 4  # older files need `fathom upgrade`; this one only lacks tables
BUSY_TIMEOUT_S = 60
_DAMAGE = re.compile(r"malformed|not a database|file format|corrupt|damaged")

_SAVER_TABLES = """
create table if not exists checkpoints (
    thread_id text not null, checkpoint_ns text not null default '', checkpoint_id text not null,
    parent_checkpoint_id text, type text, checkpoint blob, metadata blob,
    primary key (thread_id, checkpoint_ns, checkpoint_id)
);
create table if not exists writes (
    thread_id text not null, checkpoint_ns text not null default '', checkpoint_id text not null,
    task_id text not null, task_path text not null default '', idx integer not null, channel text not null,
    type text, value blob, primary key (thread_id, checkpoint_ns, checkpoint_id, task_id, idx)
);
"""


def prepare_database(path: Path) -> None:
    """Create the tables, or raise BadInput if the file cannot be written or has another layout."""
    try:
        if path.is_file() and _version_of(path) == LAYOUT_VERSION:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        # Two processes that set the journal mode at the same moment would see "database is locked".
        with FileLock(f"{path}.lock", timeout=BUSY_TIMEOUT_S), closing(_connect_plain(path)) as connection:
            _refuse_other_versions(path, connection)
            if connection.execute("pragma journal_mode").fetchone()[0] != "wal":
                connection.execute("pragma journal_mode=wal")
            script = _SAVER_TABLES + TABLES + TRIGGERS
            connection.executescript(f"begin immediate;{script}pragma user_version={LAYOUT_VERSION};commit;")
    except (OSError, sqlite3.Error) as error:
        raise BadInput(f"The database {path} cannot be used: {describe_database_error(error)}.") from error


def describe_database_error(error: Exception) -> str:
    """Return the error in words, and the way out if the file is damaged."""
    words = str(error).rstrip(".")
    return f"{words}; save what can be read with: fathom rescue" if _DAMAGE.search(words) else words


def is_outdated(connection: sqlite3.Connection) -> bool:
    """Return whether an earlier Fathom wrote the file: its checkpoints name classes that no longer exist."""
    (version,) = connection.execute("pragma user_version").fetchone()
    names = "select 1 from sqlite_master where type = 'table' limit 1"
    return version < OLDEST_LAYOUT and connection.execute(names).fetchone() is not None


def _refuse_other_versions(path: Path, connection: sqlite3.Connection) -> None:
    (version,) = connection.execute("pragma user_version").fetchone()
    if version > LAYOUT_VERSION:
        raise BadInput(
            f"The database {path} was written by a newer Fathom"
            f" (layout {version}, this one knows {LAYOUT_VERSION});"
            " install that version, or name another database."
        )
    if is_outdated(connection):
        raise BadInput(
            f"The database {path} was written by an earlier Fathom;"
            " keep its reports and start a new one with: fathom upgrade"
        )


def _version_of(path: Path) -> int:
    with closing(_connect_plain(path)) as connection:
        connection.execute(
            "select 1 from sqlite_master limit 1"
        ).fetchone()  # whether tables can be found at all
        return int(connection.execute("pragma user_version").fetchone()[0])


def _connect_plain(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, timeout=BUSY_TIMEOUT_S)


T = TypeVar("T")
DatabaseWork = Callable[[sqlite3.Connection], T]


class _OpenFile(threading.local):
    """The connection of one thread, and the file it has open."""

    connection: sqlite3.Connection | None = None
    file: tuple[int, int] | None = None

    def close(self) -> None:
        """Close the connection."""
        if self.connection is not None:
            self.connection.close()
            self.connection = None


class Worker:
    """One thread that works on the file, started at the first use and again after `close`."""

    def __init__(self, path: Path, prepare_once: Callable[[], None]) -> None:
        self._path, self._prepare_once = path, prepare_once
        self._guard, self._open = Lock(), _OpenFile()
        self._thread: ThreadPoolExecutor | None = None

    async def run(self, work: DatabaseWork[T]) -> T:
        """Run the work in the thread, in a transaction; it is undone if the work fails."""
        with self._guard:
            self._thread = self._thread or ThreadPoolExecutor(1, "fathom-database")
            job = asyncio.get_running_loop().run_in_executor(self._thread, partial(self._run, work))
        return await job

    def close(self) -> None:
        """Close the connection after pending work."""
        with self._guard:
            thread, self._thread = self._thread, None
        if thread:
            thread.submit(self._open.close)
            thread.shutdown()

    def _run(self, work: DatabaseWork[T]) -> T:
        with self._connect() as connection:
            return work(connection)

    def _connect(self) -> sqlite3.Connection:
        """Return the open connection, or a new one if another file has replaced the old one."""
        if self._open.connection is None:
            self._prepare_once()
        try:
            about = self._path.stat()
        except FileNotFoundError:
            raise sqlite3.OperationalError(f"{self._path} is gone") from None
        file = (about.st_dev, about.st_ino)
        if self._open.connection is None or self._open.file != file:
            self._open.close()
            self._open.connection, self._open.file = connect(self._path), file
        return self._open.connection


class DatabaseFile:
    """One database file, for all readers and writers of this process."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._guard, self._is_ready = Lock(), False
        self._reader, self._writer = Worker(path, self._prepare), Worker(path, self._prepare)

    async def read(self, work: DatabaseWork[T]) -> T:
        """Return the result of reading work."""
        return await self._reader.run(work)

    async def write(self, work: DatabaseWork[T], *, alone: str = "") -> T:
        """Return the result once it is committed; with `alone` nobody else writes meanwhile."""

        def work_alone(connection: sqlite3.Connection) -> T:
            connection.execute("begin immediate")
            return work(connection)

        return await self._writer.run(work_alone if alone else work)

    async def execute(self, words: str, values: Sequence[Any]) -> None:
        """Run one statement and commit it."""
        await self.write(lambda connection: connection.execute(words, values))

    def _prepare(self) -> None:
        """Create the tables once: a file that disappears later is an error, not a new database."""
        with self._guard:
            if not self._is_ready:
                prepare_database(self.path)
                self._is_ready = True

    def close(self) -> None:
        """Close both connections; the next use opens them again."""
        self._reader.close()
        self._writer.close()


def connect(path: Path) -> sqlite3.Connection:
    """Open the file so that a commit survives a killed process."""
    connection = sqlite3.connect(path, timeout=BUSY_TIMEOUT_S)
    connection.execute("pragma synchronous=normal")
    connection.create_function("owner", 1, lambda run: run.partition("/")[0], deterministic=True)
    return connection
