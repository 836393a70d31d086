"""One SQLite file and the two threads that use it: one reads, one writes.

Does not know what is kept. A look-up never waits behind a write, and the event loop waits for neither.
"""

import asyncio
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TypeVar

from fathom.storage.schema import BUSY_TIMEOUT_S, prepare

T = TypeVar("T")
Work = Callable[[sqlite3.Connection], T]


class _Session:
    """A thread and the connection that only it uses."""

    def __init__(self, path: Path, prepare_once: Callable[[], None]) -> None:
        self._path, self._prepare_once = path, prepare_once
        self._connection: sqlite3.Connection | None = None
        self._file: tuple[int, int] | None = None  # the file that the connection has open
        self.thread = ThreadPoolExecutor(1, "fathom-database")

    def run(self, work: Work[T]) -> T:
        """Run the work in a transaction; it is undone if the work fails."""
        with self._opened() as connection:
            return work(connection)

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _opened(self) -> sqlite3.Connection:
        """Return the open connection, or a new one if another file has taken the place of the old one."""
        if self._connection is None:
            self._prepare_once()
        try:
            about = self._path.stat()
        except FileNotFoundError:
            raise sqlite3.OperationalError(f"{self._path} is gone") from None
        file = (about.st_dev, about.st_ino)
        if self._connection is None or self._file != file:
            self.close()
            self._connection, self._file = connect(self._path), file
        return self._connection


class Worker:
    """One thread at a time that works on the file, started at the first use and again after `close`."""

    def __init__(self, path: Path, prepare_once: Callable[[], None]) -> None:
        self._path, self._prepare_once = path, prepare_once
        self._guard = Lock()
        self._session: _Session | None = None

    async def run(self, work: Work[T]) -> T:
        """Run the work in the thread."""
        loop = asyncio.get_running_loop()
        with self._guard:
            if self._session is None:
                self._session = _Session(self._path, self._prepare_once)
            session = self._session
            job = loop.run_in_executor(session.thread, partial(session.run, work))
        return await job

    def close(self, *, wait: bool) -> None:
        """Close the connection once all that was begun is done."""
        with self._guard:
            session, self._session = self._session, None
        if session:
            session.thread.submit(session.close)
            session.thread.shutdown(wait=wait)


class Database:
    """One file, read and written by everybody in this process."""

    def __init__(self, path: Path, on_use: Callable[["Database"], None] = lambda _: None) -> None:
        self.path, self._on_use = path, on_use
        self._guard, self._is_ready = Lock(), False
        self._reader, self._writer = Worker(path, self._prepare), Worker(path, self._prepare)

    async def read(self, work: Work[T]) -> T:
        """Return what the work finds."""
        self._on_use(self)
        return await self._reader.run(work)

    async def write(self, work: Work[T]) -> T:
        """Return what the work gives, once it is committed."""
        self._on_use(self)
        return await self._writer.run(work)

    def _prepare(self) -> None:
        """Make the tables once: a file that disappears later is an error, not a new database."""
        with self._guard:
            if not self._is_ready:
                prepare(self.path)
                self._is_ready = True

    def close(self, *, wait: bool = True) -> None:
        """Close both connections; the next use opens them again."""
        self._reader.close(wait=wait)
        self._writer.close(wait=wait)


def connect(path: Path) -> sqlite3.Connection:
    """Open the file as all parts of the program do; a commit survives a killed process."""
    connection = sqlite3.connect(path, timeout=BUSY_TIMEOUT_S)
    connection.execute("pragma synchronous=normal")
    return connection
