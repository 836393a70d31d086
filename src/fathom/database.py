"""The one SQLite file: its tables, and the two threads that read and write it for the whole process.

Does not know what is kept. A connection is opened once and not for every call, and whoever waits for the
file waits in no thread of his own. What is looked up does not wait behind what is written: another process
may be writing for long.
"""

import asyncio
import sqlite3
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import groupby
from pathlib import Path
from types import TracebackType
from typing import Any, ParamSpec, Self, TypeVar

from filelock import FileLock

from fathom.errors import BadInput

P = ParamSpec("P")
T = TypeVar("T")
BUSY_TIMEOUT_S = 60
_TABLES = """
create table if not exists pages (sha text primary key, body blob not null);
create table if not exists seen (sha text primary key, at real not null) without rowid;
create table if not exists worked (run text primary key, seconds real not null) without rowid;
create table if not exists replies (
    call text not null, run text not null, reply blob not null, at real not null, is_own integer not null,
    primary key (call, run)
) without rowid;
create table if not exists taken (
    run text not null, address text not null, branch text not null, primary key (run, address)
) without rowid;
create table if not exists orders (
    number integer primary key, run text not null, word text not null, text text not null, at text not null,
    round integer not null default 0, taker text not null default ''
);
create index if not exists orders_of_run on orders (run, taker);
create table if not exists payments (
    id integer primary key, run text not null, call text not null, role text not null, model text not null,
    nano integer not null, tokens_in integer not null default 0, tokens_out integer not null default 0,
    held real not null, settled real
);
create index if not exists payments_of_run on payments (run, call);
create table if not exists shapes (run text primary key, shape text not null) without rowid;
create table if not exists spent_out (run text primary key) without rowid;
create table if not exists overspent (
    run text not null, model text not null, nano integer not null, held integer not null,
    primary key (run, model)
) without rowid;
create table if not exists turns (
    number integer primary key, run text not null unique, thread text not null, follows text not null
);
create index if not exists turns_of_thread on turns (thread);
create table if not exists closed_threads (thread text primary key) without rowid;
create table if not exists web_pages (
    address text primary key, checked real not null, fresh_s real not null, fetched text not null,
    etag text, modified text, content_type text, sha text not null, document blob not null
);
create index if not exists web_pages_checked on web_pages (checked);
create table if not exists windows (
    name text primary key, size integer not null, said integer, at real not null
) without rowid;
"""
_MOST_LANES = 16  # open at once; of two for every database, the ones used last


def prepare(database: Path) -> None:
    """Make sure the file is there and ours to write, or say in one sentence why not."""
    try:
        database.parent.mkdir(parents=True, exist_ok=True)
        # One at a time: who changes the journal's mode while another does the same is told it is locked.
        with FileLock(f"{database}.lock", timeout=BUSY_TIMEOUT_S), _connected(database) as connection:
            if connection.execute("pragma journal_mode").fetchone()[0] != "wal":
                connection.execute("pragma journal_mode=wal")
            connection.executescript(_TABLES)
            _move_calls(connection)
    except (OSError, sqlite3.Error) as error:
        raise BadInput(f"The database {database} cannot be used: {error}.") from error


def _move_calls(connection: sqlite3.Connection) -> None:
    """Replies were kept without saying whose they are."""
    if connection.execute("select 1 from sqlite_master where name = 'calls'").fetchone():
        connection.execute("insert or ignore into replies select call, '', reply, 0, 1 from calls")
        connection.execute("drop table calls")


@cache
def _ready(database: Path) -> None:
    """Once a process: a graph used without a checkpointer finds its tables too."""
    prepare(database)


class _Here(threading.local):
    """What a thread that works for one database keeps open."""

    connection: sqlite3.Connection | None = None
    file: tuple[str, int, int] | None = None  # the very file: another one may come to stand in its place
    seen: str | None = None  # the file that was looked at for what is being done now
    is_lasting = False


_here = _Here()


def opened(database: Path) -> AbstractContextManager[sqlite3.Connection]:
    """A connection to the database for one short transaction, its tables in place."""
    return _lasting(database) if _here.is_lasting else _passing(database)


def _lasting(database: Path) -> sqlite3.Connection:
    """The connection that this thread has, or a new one where the file is another one by now."""
    name = str(database)
    if _here.connection is not None and _here.seen == name:
        return _here.connection
    if _here.connection is None:
        _ready(database)
    try:
        about = database.stat()
    except FileNotFoundError:
        raise sqlite3.OperationalError(f"{database} is gone") from None
    file = (name, about.st_dev, about.st_ino)
    if _here.connection is None or _here.file != file:
        _close()
        _here.connection, _here.file = _connection(database), file
    _here.seen = name
    return _here.connection


@contextmanager
def _passing(database: Path) -> Iterator[sqlite3.Connection]:
    _ready(database)
    with _connected(database) as connection:
        yield connection


@contextmanager
def _connected(database: Path) -> Iterator[sqlite3.Connection]:
    connection = _connection(database)
    try:
        with connection:
            yield connection
    finally:
        connection.close()


def _connection(database: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(database, timeout=BUSY_TIMEOUT_S)
    connection.execute("pragma synchronous=normal")
    return connection


def _close() -> None:
    if _here.connection is not None:
        _here.connection.close()
        _here.connection = None


async def looked_up(database: Path, work: Callable[P, T], *given: P.args, **named: P.kwargs) -> T:
    """What the work gives, which only reads; in the thread of those who read, where `opened` costs little."""
    return await _begun(database, False, partial(work, *given, **named))


async def written(database: Path, work: Callable[P, T], *given: P.args, **named: P.kwargs) -> T:
    """What the work gives, once it is written; in the thread of those who write, one after another."""
    return await _begun(database, True, partial(work, *given, **named))


@dataclass
class _Job:
    """A piece of work, and whoever waits for it: what it gave, or what went wrong, is told there."""

    future: asyncio.Future[Any]
    work: Callable[[], Any]
    value: Any = None
    error: BaseException | None = None

    def do(self) -> None:
        if not self.future.cancelled():  # nobody waits any more, and nothing has been begun
            with self:
                self.value = self.work()

    def tell(self) -> None:
        if self.future.done():
            return
        if self.error is not None:
            self.future.set_exception(self.error)
        else:
            self.future.set_result(self.value)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        self.error = error
        return True


@dataclass
class _Lane:
    """One thread, and who waits for it; what has come together is done together, and told at once."""

    thread: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, "fathom-database"))
    waiting: deque[_Job] = field(default_factory=deque)
    is_at_work: bool = False

    def add(self, job: _Job) -> None:
        self.waiting.append(job)
        if not self.is_at_work:
            self.is_at_work = True
            self.thread.submit(self._work)

    def close(self, *, wait: bool = False) -> None:
        """Let go of the file once everything that waits is done."""
        self.thread.submit(_close)
        self.thread.shutdown(wait=wait)

    def _work(self) -> None:
        _here.is_lasting = True
        while jobs := self._next():
            _here.seen = None
            for job in jobs:
                job.do()
            for loop, told in groupby(jobs, lambda job: job.future.get_loop()):
                with suppress(RuntimeError):  # its loop is closed: nobody waits
                    loop.call_soon_threadsafe(_tell, list(told))

    def _next(self) -> list[_Job]:
        with _guard:
            jobs = list(self.waiting)
            self.waiting.clear()
            self.is_at_work = bool(jobs)
        return jobs


def _tell(jobs: list[_Job]) -> None:
    for job in jobs:
        job.tell()


_lanes: OrderedDict[tuple[str, bool], _Lane] = OrderedDict()
_guard = threading.Lock()


def _begun(database: Path, is_writing: bool, work: Callable[[], T]) -> asyncio.Future[T]:
    future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
    name = (str(database), is_writing)
    with _guard:
        lane = _lanes.get(name)
        if lane is None:
            lane = _lanes[name] = _Lane()
        else:
            _lanes.move_to_end(name)
        lane.add(_Job(future, work))
        if len(_lanes) > _MOST_LANES:
            _lanes.popitem(last=False)[1].close()
    return future


async def let_go(database: Path) -> None:
    """Close what is open once all that waits for it is done; whoever comes later opens it anew."""
    with _guard:
        lanes = [_lanes.pop((str(database), is_writing), None) for is_writing in (False, True)]
    for lane in lanes:
        if lane:
            await asyncio.to_thread(lane.close, wait=True)
