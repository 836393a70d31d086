"""One PostgreSQL server, queried from threads: any event loop may wait, and none is blocked.

A lock goes with its connection, which a restart of the server ends: it is taken again as soon as that is
noticed, unless somebody else was quicker. Whoever was replaced can write nothing more about a run
(`fathom.storage.postgres_server`), and finds its name in `PostgresLocks.lost`.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from threading import Lock
from typing import Any, TypeVar

import psycopg
from psycopg_pool import AsyncConnectionPool, ConnectionPool

from fathom.settings.database_address import DatabaseAddress
from fathom.storage import Storage
from fathom.storage.postgres_server import (
    SAVER_OPTIONS,
    BatchTable,
    EventTable,
    PaceTable,
    PaperTable,
    connect,
    connect_options,
    left_in_batch,
    lock_number,
    prepare_server,
    process_name,
    told_plainly,
)
from fathom.storage.prune import PostgresCheckpoints, PostgresPruning
from fathom.storage.records import Connection, Rows, Work

T = TypeVar("T")
_AT_ONCE = 6  # connections of one process for everything but checkpoints and locks
_FOR_CHECKPOINTS = 2  # the saver uses one at a time; another takes the place of one that broke
_CLOSE_S = 10
_PATIENCE_S = 5  # with a process that has lost a run and is still writing about it
_WAIT_S = 30.0  # for a free connection, or for a server that is starting again
_EVICT = "update lock_holders set is_evicted = true where name = %s and holder <> %s and not is_evicted"
_HOLD = """
insert into lock_holders (name, holder) values (%s, %s)
on conflict (name, holder) do update set is_evicted = false
"""
_CUT_OFF = """
select pg_terminate_backend(pid, 2000) from pg_stat_activity
where application_name in (select holder from lock_holders where name = %s and holder <> %s)
"""
_IS_EVICTED = "select 1 from lock_holders where name = %s and holder = %s and is_evicted"
_LET_GO = "delete from lock_holders where name = %s and holder = %s"
_IS_HELD = """
select 1 from pg_locks where locktype = 'advisory' and objsubid = 1
and database = (select oid from pg_database where datname = current_database())
and (classid::bigint << 32) | objid::bigint = %s
"""


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


_POOL: dict[str, Any] = {"min_size": 1, "timeout": _WAIT_S, "num_workers": 1, "open": True, "name": "fathom"}


class SaverPool(AsyncConnectionPool["psycopg.AsyncConnection[Any]"]):
    """The connections of LangGraph's saver; errors of the server become one plain sentence."""

    def __init__(self, address: DatabaseAddress) -> None:
        self._address = address
        super().__init__(
            address.url.get_secret_value(),
            kwargs={**connect_options(address), **SAVER_OPTIONS},
            check=AsyncConnectionPool.check_connection,
            max_size=_FOR_CHECKPOINTS,
            **_POOL | {"open": False},
        )

    @asynccontextmanager
    async def connection(  # the pool's own signature
        self,
        timeout: float | None = None,  # noqa: ASYNC109
    ) -> "AsyncIterator[psycopg.AsyncConnection[Any]]":
        """Lend a connection for as long as the block lasts."""
        with told_plainly(self._address):
            async with super().connection(timeout) as connection:
                yield connection


class PostgresDatabase:
    """One server, for all tables; see `Database`."""

    def __init__(self, address: DatabaseAddress) -> None:
        self.address = address
        self._guard, self._pool = Lock(), None  # type: Lock, ConnectionPool[Any] | None
        self._threads = ThreadPoolExecutor(_AT_ONCE, "fathom-database")
        self.locks = PostgresLocks(self)

    async def read(self, work: Work[T]) -> T:
        """Return the result of reading work."""
        return await self.run(partial(self._work, work))

    async def write(self, work: Work[T], *, alone: str = "") -> T:
        """Return the result once it is committed; `alone` is a lock that no other write holds meanwhile."""

        def in_transaction(connection: Connection) -> T:
            with connection.connection.transaction():  # type: ignore[attr-defined]
                if alone:
                    connection.execute("select pg_advisory_xact_lock(?)", (lock_number(f"alone {alone}"),))
                return work(connection)

        return await self.run(partial(self._work, in_transaction))

    async def execute(self, words: str, values: Sequence[Any]) -> None:
        """Run one statement, which commits by itself: a transaction would be two more round trips."""
        await self.read(lambda connection: connection.execute(words, values))

    async def run(self, work: Callable[[], T]) -> T:
        """Run anything that waits for the server in a thread."""
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
                    kwargs=connect_options(self.address),
                    check=ConnectionPool.check_connection,
                    max_size=_AT_ONCE,
                    **_POOL,
                )
            return self._pool

    def close(self) -> None:
        """Close the connections, but for locks that are held; the next use opens them again."""
        with self._guard:
            pool, self._pool = self._pool, None
        if pool:
            pool.close(timeout=_CLOSE_S)
        self.locks.close()


@dataclass(frozen=True)
class _HeldAdvisory:
    """A lock that this process holds."""

    locks: "PostgresLocks"
    name: str

    async def release(self) -> None:
        """Release the lock, even if the caller is cancelled."""
        await asyncio.shield(self.locks.database.run(partial(self.locks.unlock, self.name)))

    remove = release  # nothing is left of it


class PostgresLocks:
    """Advisory locks, all on one connection of the process; otherwise as `FileLocks`."""

    def __init__(self, database: PostgresDatabase) -> None:
        self.database = database
        self._guard = Lock()
        self._held: set[str] = set()
        self._lost: set[str] = set()
        self._connection: psycopg.Connection[Any] | None = None

    async def acquire(self, name: str) -> _HeldAdvisory | None:
        """Take the lock and return it, or None if it is taken."""
        taking = asyncio.ensure_future(self.database.run(partial(self._acquire, name)))
        try:
            return await asyncio.shield(taking)
        except asyncio.CancelledError:
            taking.add_done_callback(_give_back)  # else it would never be released
            raise

    async def is_held(self, name: str) -> bool:
        """Whether anybody holds the lock."""
        words = _IS_HELD.replace("%s", "?")
        row = await self.database.read(lambda c: c.execute(words, (lock_number(name),)).fetchone())
        return row is not None

    async def lost(self) -> set[str]:
        """Return the locks that this process lost to another one."""
        return await self.database.run(self._find_lost)

    def _find_lost(self) -> set[str]:
        with told_plainly(self.database.address), self._guard:
            if self._held:
                self._opened()
            return set(self._lost)

    def _acquire(self, name: str) -> _HeldAdvisory | None:
        with told_plainly(self.database.address), self._guard:
            if name in self._held or not self._try(name, connection := self._opened()):
                return None
            mine = (name, process_name(self.database.address))
            try:
                try:
                    connection.execute(_EVICT, mine)  # waits for the current write of the previous holder
                except psycopg.errors.LockNotAvailable:  # it fell asleep while it was writing
                    connection.execute(_CUT_OFF, mine)
                    connection.execute(_EVICT, mine)
                connection.execute(_HOLD, mine)
            except psycopg.Error:
                self._drop()  # the lock ends with the connection; other held locks are taken again
                raise
            self._held.add(name)
            return _HeldAdvisory(self, name)

    def unlock(self, name: str) -> None:
        """Let others have the lock; a server that is gone holds none."""
        with self._guard:
            self._held.discard(name)
            self._lost.discard(name)
            try:
                if self._connection is not None:
                    self._connection.execute(_LET_GO, (name, process_name(self.database.address)))
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
            for name, value in {"idle": 10, "interval": 5, "count": 3}.items():
                self._connection.execute(f"set tcp_keepalives_{name} = {value}")
            self._connection.execute(f"set lock_timeout = '{_PATIENCE_S}s'")
            self._lost |= {name for name in self._held if not self._retake(name, self._connection)}
        return self._connection

    def _try(self, name: str, connection: "psycopg.Connection[Any]") -> bool:
        row = connection.execute("select pg_try_advisory_lock(%s)", (lock_number(name),)).fetchone()
        return bool(row and row[0])

    def _retake(self, name: str, connection: "psycopg.Connection[Any]") -> bool:
        """Take a lock again after the server lost it; False if another process has held it since."""
        if not self._try(name, connection):
            return False
        if connection.execute(_IS_EVICTED, (name, process_name(self.database.address))).fetchone():
            connection.execute("select pg_advisory_unlock(%s)", (lock_number(name),))
            return False
        return True

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _give_back(taking: "asyncio.Future[_HeldAdvisory | None]") -> None:
    held = None if taking.cancelled() or taking.exception() else taking.result()
    if held is not None:
        held.locks.database._threads.submit(held.locks.unlock, held.name)


def make_postgres_storage(address: DatabaseAddress) -> tuple[PostgresDatabase, Storage]:
    """Return a server and its storage."""
    database = PostgresDatabase(address)
    storage = Storage(
        str(address),
        database,
        checkpoints=PostgresCheckpoints(database),
        locks=database.locks,
        cleaning=PostgresPruning(database),
        left_in_batch=left_in_batch,
    )
    storage.events = EventTable(database)
    storage.papers = PaperTable(database)
    storage.paces = PaceTable(database)
    storage.batches = BatchTable(database)
    return database, storage
