"""SQL that both databases understand: their tables, and what a table needs of a database.

A place for a value is `?`, or `:name`; `fathom.storage.postgres` translates, and makes PostgreSQL's tables
from SQLite's.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


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
