"""The rows of a database as plain records, its tables, and how texts and checkpoints are compressed.

Amounts are whole billionths of a dollar. Pages, which are written once, are compressed with zlib. Checkpoints
are compressed on the event loop after every step, with zstd, which is two to four times as quick; zlib is
still read there, for earlier versions used it.

Both databases understand this SQL. A place for a value is `?`, or `:name`; `fathom.storage.postgres`
translates, and makes PostgreSQL's tables from SQLite's.
"""

import math
import re
import sqlite3
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol, TypeVar, get_args

import zstandard

T = TypeVar("T")
SignalWord = Literal["pause", "go", "stop", "add"]
SIGNAL_WORDS: tuple[SignalWord, ...] = get_args(SignalWord)
NANO = 1_000_000_000
_MARK = "+zstd"
_ZLIB_MARK = "+z"  # how versions before 0.3 marked checkpoints
_ZSTD_LEVEL = 3
_SHORT_BYTES = 512  # compressing less than this saves nothing
_LEVEL = 6


def to_nano(usd: float) -> int:
    """Return whole billionths, rounded up; rounding noise of floats adds nothing."""
    return math.ceil(round(usd * NANO, 4))


class PaidCall(NamedTuple):
    """A call that costs money: its name, the role that asks, and the model or engine."""

    name: str
    role: str
    model: str


class Balance(NamedTuple):
    """What a run has spent or reserved, and whether a call was ever refused for lack of money."""

    nano: int
    is_out: bool


class CostLine(NamedTuple):
    """One payment, with the times of its reservation and of its settlement."""

    role: str
    model: str
    tokens_in: int
    tokens_out: int
    reserved_at: float
    settled_at: float


@dataclass(frozen=True)
class StoredReply:
    """A reply, the run it is stored for, and whether that run sent the call itself."""

    text: str
    run: str
    at: float
    is_own: bool


@dataclass(frozen=True)
class WebPage:
    """A parsed page as JSON, and its server's cache headers; times are seconds since the epoch."""

    document: str
    checked: float
    fresh_s: float
    fetched: str
    etag: str | None
    modified: str | None
    content_type: str | None
    sha: str


@dataclass(frozen=True)
class Signal:
    """One control signal for one run; `round` is the round that took it, 0 for none."""

    number: int
    word: SignalWord
    text: str
    at: str
    round: int


@dataclass(frozen=True)
class RunRecord:
    """One run as a list shows it; `started` is a time of ISO 8601, links are ids of other runs."""

    run: str
    question: str
    status: str
    started: str
    rounds: int = 0
    cost_usd: float = 0.0
    updates: str = ""
    follows: str = ""
    forks: str = ""
    last_step: str = ""  # the checkpoint it was made from; a later checkpoint makes it outdated


@dataclass(frozen=True)
class Watch:
    """A report that is updated at intervals; times are in seconds."""

    run: str  # the run that is watched
    latest: str  # its latest update, or itself
    every_s: float
    due: float  # when the next update is due, since the epoch
    webhook: str = ""
    problem: str = ""  # why the last update failed
    updating: str = ""  # the update that has started and not ended


@dataclass(frozen=True)
class RemovedRows:
    """What was removed, in rows and in bytes."""

    rows: int = 0
    bytes: int = 0
    pages: int = 0
    replies: int = 0


def pack_text(text: str) -> bytes:
    """Return a text as compressed bytes; half a character becomes a question mark."""
    return zlib.compress(text.encode("utf-8", "replace"), _LEVEL)


def unpack_text(body: bytes) -> str:
    """Return the text of compressed bytes."""
    try:
        return zlib.decompress(body).decode()
    except (zlib.error, ValueError, TypeError) as error:
        raise DamagedRecord(error) from error


class DamagedRecord(sqlite3.DatabaseError):
    """Raised when stored bytes are damaged."""

    def __init__(self, error: Exception) -> None:
        super().__init__(f"a stored record is damaged ({type(error).__name__})")


def deflate(kind: str, body: bytes) -> tuple[str, bytes]:
    """Return typed bytes compressed, and the type marked, unless they are short."""
    if len(body) <= _SHORT_BYTES:
        return kind, body
    return kind + _MARK, zstandard.ZstdCompressor(_ZSTD_LEVEL, write_checksum=True).compress(body)


def inflate(kind: str, body: bytes) -> tuple[str, bytes]:
    """Return typed bytes as they were before `deflate`."""
    try:
        if kind.endswith(_MARK):
            return kind.removesuffix(_MARK), zstandard.decompress(body)
        if kind.endswith(_ZLIB_MARK):
            return kind.removesuffix(_ZLIB_MARK), zlib.decompress(body)
    except (zlib.error, zstandard.ZstdError, MemoryError) as error:
        raise DamagedRecord(error) from error
    return kind, body


class Rows(Protocol):
    """The rows of a statement."""

    def fetchone(self) -> Any:
        """The next row, or None."""

    def fetchall(self) -> list[Any]:
        """All rows."""

    def __iter__(self) -> Iterator[Any]: ...


class Connection(Protocol):
    """A connection within one transaction."""

    def execute(self, words: str, values: Sequence[Any] | Mapping[str, Any] = ..., /) -> Rows:
        """Run one statement."""

    def executemany(self, words: str, rows: Sequence[Sequence[Any]], /) -> object:
        """Run one statement for each row."""


Work = Callable[[Connection], T]


class Database(Protocol):
    """One database, for all tables."""

    async def read(self, work: Work[T]) -> T:
        """Return the result of reading work."""

    async def write(self, work: Work[T], *, alone: str = "") -> T:
        """Return the result once it is committed; `alone` is a lock that no other write holds meanwhile."""

    async def execute(self, words: str, values: Sequence[Any]) -> None:
        """Run one statement and commit it."""


@dataclass(frozen=True)
class Table:
    """Base class of tables: runs one statement per call."""

    database: Database

    async def _write(self, words: str, *values: object) -> None:
        await self.database.execute(words, values)

    async def _rows(self, words: str, *values: object) -> list[Any]:
        return await self.database.read(lambda c: c.execute(words, values).fetchall())


def replace_row(table: str, key: str, *columns: str) -> str:
    """Return the words that put a row in the place of another with the same key."""
    places = ", ".join("?" * (len(columns) + 1))
    changes = ", ".join(f"{name} = excluded.{name}" for name in columns)
    return (
        f"insert into {table} ({', '.join((key, *columns))}) values ({places})"  # noqa: S608 - our own words
        f" on conflict ({key}) do update set {changes}"
    )


TABLES = """
create table if not exists pages (sha text primary key, body blob not null, used_at real not null);
create table if not exists replies (
    call text not null, run text not null, reply blob not null, at real not null, is_own integer not null,
    primary key (call, run)
) without rowid;
create table if not exists web_pages (
    address text primary key, checked real not null, fresh_s real not null, fetched text not null,
    etag text, modified text, content_type text, sha text not null, document blob not null
);
create index if not exists web_pages_checked on web_pages (checked);
create table if not exists payments (
    id integer primary key, run text not null, call text not null, role text not null, model text not null,
    nano integer not null, tokens_in integer not null default 0, tokens_out integer not null default 0,
    reserved_at real not null, settled_at real
);
create index if not exists payments_of_run on payments (run, call);
create table if not exists refused_payments (run text primary key) without rowid;
create table if not exists overspent (
    run text not null, model text not null, nano integer not null, reserved integer not null,
    primary key (run, model)
) without rowid;
create table if not exists signals (
    number integer primary key, run text not null, word text not null, "text" text not null, at text not null,
    round integer not null default 0, taker text not null default ''
);
create index if not exists signals_of_run on signals (run, taker);
create table if not exists page_leases (
    run text not null, address text not null, branch text not null, primary key (run, address)
) without rowid;
create table if not exists follow_ups (
    number integer primary key, run text not null unique, thread text not null, follows text not null
);
create index if not exists follow_ups_of_thread on follow_ups (thread);
create table if not exists closed_threads (thread text primary key) without rowid;
create table if not exists run_configs (run text primary key, config text not null) without rowid;
create table if not exists run_folders (run text primary key, path text not null) without rowid;
create table if not exists run_shapes (run text primary key, shape text not null) without rowid;
create table if not exists run_times (run text primary key, worked_s real not null) without rowid;
create table if not exists run_records (
    run text primary key, question text not null, status text not null, started text not null,
    rounds integer not null, cost_usd real not null, updates text not null, follows text not null,
    forks text not null, last_step text not null
) without rowid;
create index if not exists run_records_started on run_records (started);
create table if not exists watches (
    run text primary key, latest text not null, every_s real not null, due real not null,
    webhook text not null, problem text not null, updating text not null
) without rowid;
create table if not exists control_answers (
    verifier text not null, call text not null, "right" integer not null, wrong integer not null,
    at real not null, primary key (verifier, call)
) without rowid;
"""

# PostgreSQL only; with SQLite, events and papers are files.
_SHARED_TABLES = """
create table if not exists events (
    number integer primary key, run text not null, body text not null
);
create index if not exists events_of_run on events (run, number);
create table if not exists papers (sha text primary key, body blob not null, at real not null);
create table if not exists paces (name text primary key, free_at real not null);
create table if not exists batches (name text primary key, cap integer not null, nano integer not null);
create table if not exists batch_runs (run text primary key, batch text not null);
"""

# Tables by run, each with the column whose size counts.
TABLES_BY_RUN = {
    "replies": "reply",
    **dict.fromkeys(
        (
            *("payments", "refused_payments", "overspent", "signals", "page_leases", "follow_ups"),
            *("run_configs", "run_folders", "run_shapes", "run_times", "run_records"),
        ),
        "run",
    ),
}

_TYPES = {
    r"integer primary key": "bigint generated by default as identity primary key",
    r"\binteger\b": "bigint",
    r"\breal\b": "double precision",
    r"\bblob\b": "bytea",
    r"(?<=[a-z\"]) text\b": ' text collate "C"',  # names are compared byte by byte, as SQLite does
    r"\) without rowid": ")",
}


def postgres_tables() -> str:
    """Return the same tables, and those that machines share, in PostgreSQL's words."""
    words = TABLES + _SHARED_TABLES
    for pattern, other in _TYPES.items():
        words = re.sub(pattern, other, words)
    return words
