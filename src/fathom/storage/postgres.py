"""One PostgreSQL server, asked from threads: any event loop may wait, and none is blocked.

Does not know what is kept. What the server refuses is told in one sentence, without the password. Imported
only when somebody names such a server.
"""

import asyncio
import logging
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from hashlib import sha256
from threading import Lock
from typing import Any, TypeVar, cast

import psycopg
from psycopg.rows import dict_row
from psycopg_pool import ConnectionPool, PoolTimeout

from fathom.errors import BadInput, DatabaseError
from fathom.settings.database_address import DatabaseAddress
from fathom.storage.postgres_layout import LAYOUT_VERSION, layout_script
from fathom.storage.protocol import Storage
from fathom.storage.sql import Connection, Rows, Work
from fathom.storage.sql_storage import make_storage

T = TypeVar("T")

_AT_ONCE = 6  # connections of one process for everything but checkpoints and locks
_CONNECT_S = 10
WAIT_S = 30.0  # for a free connection, or for a server that is starting again
_LAYOUT_LOCK = "layout"
SAVER_OPTIONS: dict[str, Any] = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
SERVER_ERRORS = (psycopg.Error, PoolTimeout)
logging.getLogger("psycopg.pool").setLevel(logging.ERROR)  # whoever asked is told, in one sentence


@lru_cache(maxsize=512)
def _translate(words: str) -> str:
    """Return shared words with the places of values as psycopg wants them."""
    named = re.sub(r"(?<![:\w]):(\w+)", r"%(\1)s", words.replace("%", "%%"))
    return named.replace("?", "%s")


@dataclass(frozen=True)
class _Translated:
    """A connection that is spoken to in the words of the tables."""

    connection: "psycopg.Connection[Any]"

    def execute(self, words: str, values: Sequence[Any] | Mapping[str, Any] = (), /) -> Rows:
        return self.connection.execute(_translate(words), values)

    def executemany(self, words: str, rows: Sequence[Sequence[Any]], /) -> None:
        with self.connection.cursor() as cursor:
            cursor.executemany(_translate(words), rows)


def lock_number(name: str) -> int:
    """Return the number of an advisory lock; locks of other programs in the database are others."""
    return int.from_bytes(sha256(f"fathom {name}".encode()).digest()[:8], "big", signed=True)


@contextmanager
def told_plainly(address: DatabaseAddress) -> Iterator[None]:
    """Turn what the server or the wire says into one sentence of ours."""
    try:
        yield
    except SERVER_ERRORS as error:
        raise DatabaseError(explain(address, error)) from None


def explain(address: DatabaseAddress, error: Exception) -> str:
    """Return one sentence about a server that cannot be used, without the password."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    why = address.hide(lines[0] if lines else type(error).__name__).rstrip(".")
    return f"The database {address} cannot be used: {why}."


def connect(address: DatabaseAddress, **options: Any) -> "psycopg.Connection[Any]":
    """Open one connection; what it does is committed statement by statement."""
    url = address.url.get_secret_value()
    return psycopg.connect(url, autocommit=True, connect_timeout=_CONNECT_S, **options)


class PostgresDatabase:
    """One server, for all tables; see `Database`."""

    def __init__(self, address: DatabaseAddress, on_use: Callable[["PostgresDatabase"], None]) -> None:
        self.address, self._on_use = address, on_use
        self._guard, self._pool = Lock(), None  # type: Lock, ConnectionPool[Any] | None
        self._threads = ThreadPoolExecutor(_AT_ONCE, "fathom-database")
        self.locks = PostgresLocks(self)

    async def read(self, work: Work[T]) -> T:
        """Return what the work finds."""
        return await self.run(partial(self._work, work))

    async def write(self, work: Work[T], *, alone: str = "") -> T:
        """Return what the work gives, once it is committed; `alone`: nobody else works under that name."""

        def in_transaction(connection: Connection) -> T:
            with connection.connection.transaction():  # type: ignore[attr-defined]
                if alone:
                    connection.execute("select pg_advisory_xact_lock(?)", (lock_number(alone),))
                return work(connection)

        return await self.run(partial(self._work, in_transaction))

    async def run(self, work: Callable[[], T]) -> T:
        """Run anything that waits for the server in a thread."""
        self._on_use(self)
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    def _work(self, work: Work[T]) -> T:
        with told_plainly(self.address), self._opened().connection() as connection:
            return work(_Translated(connection))

    def _opened(self) -> "ConnectionPool[Any]":
        with self._guard:
            if self._pool is None:
                prepare_server(self.address)
                self._pool = ConnectionPool(
                    self.address.url.get_secret_value(),
                    kwargs={"autocommit": True, "connect_timeout": _CONNECT_S},
                    min_size=1,
                    max_size=_AT_ONCE,
                    timeout=WAIT_S,
                    num_workers=1,
                    check=ConnectionPool.check_connection,
                    open=True,
                    name="fathom",
                )
            return self._pool

    def close(self, *, wait: bool = True) -> None:
        """Close the connections, but for locks that are held; the next use opens them again."""
        with self._guard:
            pool, self._pool = self._pool, None
        if pool:
            pool.close(timeout=_CONNECT_S if wait else 0)
        self.locks.close()


def prepare_server(address: DatabaseAddress) -> None:
    """Make sure that the server is there and has our layout; else BadInput with one sentence."""
    try:
        with connect(address) as connection:
            if _version_of(connection) == LAYOUT_VERSION:
                return
            lock = lock_number(_LAYOUT_LOCK)
            # Nobody may wait inside a statement: the saver's indexes are built once no statement is older.
            while not connection.execute("select pg_try_advisory_lock(%s)", (lock,)).fetchone()[0]:  # type: ignore[index]
                time.sleep(0.1)
            _change_layout(address, connection)
    except SERVER_ERRORS as error:
        raise BadInput(explain(address, error)) from None


def _version_of(connection: "psycopg.Connection[Any]") -> int:
    """Return the version of the layout; 0 for a database that is empty."""
    words = "select to_regclass('fathom_layout') is not null"
    (is_there,) = cast(tuple[bool], connection.execute(words).fetchone())
    row = connection.execute("select version from fathom_layout").fetchone() if is_there else None
    return int(row[0]) if row else 0


def _change_layout(address: DatabaseAddress, connection: "psycopg.Connection[Any]") -> None:
    """Bring the tables from the version they have to ours, step by step."""
    from langgraph.checkpoint.postgres import PostgresSaver
    from procrastinate.schema import SchemaManager

    version = _version_of(connection)  # somebody may have been quicker
    if version > LAYOUT_VERSION:
        raise BadInput(
            f"The database {address} was written by a newer Fathom (layout {version}, this one knows"
            f" {LAYOUT_VERSION}); install that version, or name another database."
        )
    if version == LAYOUT_VERSION:
        return
    with psycopg.connect(address.url.get_secret_value(), **SAVER_OPTIONS) as for_saver:
        PostgresSaver(for_saver).setup()
    with connection.transaction():
        connection.execute(layout_script(version))
        if not connection.execute("select to_regclass('procrastinate_jobs')").fetchone()[0]:  # type: ignore[index]
            connection.execute(SchemaManager.get_schema())


@dataclass(frozen=True)
class _HeldAdvisory:
    """A lock that is held; see `HeldLock`."""

    locks: "PostgresLocks"
    name: str

    async def release(self) -> None:
        """Let others have it; also when whoever waits for that is cut off."""
        await asyncio.shield(self.locks.database.run(partial(self.locks.unlock, self.name)))

    remove = release  # nothing is left of it


class PostgresLocks:
    """Advisory locks, all on one connection of the process; the server frees them when that is gone."""

    def __init__(self, database: PostgresDatabase) -> None:
        self.database = database
        self._guard = Lock()
        self._held: set[str] = set()
        self._connection: psycopg.Connection[Any] | None = None

    async def acquire(self, name: str) -> _HeldAdvisory | None:
        """Return the lock, held, or None when somebody else holds it."""
        taking = asyncio.ensure_future(self.database.run(partial(self._acquire, name)))
        try:
            return await asyncio.shield(taking)
        except asyncio.CancelledError:
            taking.add_done_callback(_give_back)  # nobody would ever release it
            raise

    def _acquire(self, name: str) -> _HeldAdvisory | None:
        with told_plainly(self.database.address), self._guard:
            # A server that was away has forgotten what this process holds: that is taken again first.
            if name in self._held or not self._try(name, self._opened()):
                return None
            self._held.add(name)
            return _HeldAdvisory(self, name)

    def unlock(self, name: str) -> None:
        """Let others have the lock; a server that is gone holds none."""
        with self._guard:
            self._held.discard(name)
            try:
                if self._connection is not None:
                    self._connection.execute("select pg_advisory_unlock(%s)", (lock_number(name),))
            except psycopg.Error:
                self._drop()

    def close(self) -> None:
        """Close the connection, unless something is held."""
        with self._guard:
            if not self._held:
                self._drop()

    def _opened(self) -> "psycopg.Connection[Any]":
        try:
            if self._connection is not None:
                self._connection.execute("")
        except psycopg.Error:
            self._drop()
        if self._connection is None:
            prepare_server(self.database.address)
            self._connection = connect(self.database.address)
            # A machine that vanishes holds its locks for half a minute, and not until the wire gives up.
            for words in ("idle = 10", "interval = 5", "count = 3"):
                self._connection.execute(f"set tcp_keepalives_{words}")
            for name in self._held:
                self._try(name, self._connection)
        return self._connection

    def _try(self, name: str, connection: "psycopg.Connection[Any]") -> bool:
        row = connection.execute("select pg_try_advisory_lock(%s)", (lock_number(name),)).fetchone()
        return bool(row and row[0])

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _give_back(taking: "asyncio.Future[_HeldAdvisory | None]") -> None:
    held = None if taking.cancelled() or taking.exception() else taking.result()
    if held is not None:
        held.locks.database._threads.submit(held.locks.unlock, held.name)


def make_postgres_storage(
    address: DatabaseAddress, on_use: Callable[[PostgresDatabase], None]
) -> tuple[PostgresDatabase, Storage]:
    """Return a server and everything that is kept in it."""
    from fathom.storage.postgres_checkpoints import PostgresCheckpoints, PostgresPruning, left_in_batch
    from fathom.storage.postgres_tables import BatchTable, EventTable, PaceTable, PaperTable

    database = PostgresDatabase(address, on_use)
    storage = make_storage(
        str(address),
        database,
        PostgresCheckpoints(database),
        database.locks,
        PostgresPruning(database),
        left_in_batch,
    )
    shared = replace(
        storage,
        events=EventTable(database),
        papers=PaperTable(database),
        paces=PaceTable(database),
        batches=BatchTable(database),
    )
    return database, shared
