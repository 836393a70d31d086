"""A PostgreSQL server: how one connects, its refusals in one sentence, and the layout of a database.

Events, papers, rate limits and batch budgets have tables here only, because machines share them. Imported
only when somebody names such a server. LangGraph's savers and Procrastinate make and migrate their own
tables; here are only the rows of theirs that are superseded. The rules are those of
`fathom.storage.database`, which says why.
"""

import logging
import time
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any, cast
from uuid import uuid4

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import dict_row
from psycopg_pool import PoolTimeout

from fathom.errors import BadInput, DatabaseError, RunStopped
from fathom.settings.database_address import DatabaseAddress
from fathom.state import short_id
from fathom.storage.records import Connection, Table, postgres_tables

if TYPE_CHECKING:
    from fathom.storage.postgres import PostgresDatabase

_CONNECT_S = 10
_MOST_IDLE_S = 10  # the server ends transactions that idle for longer, so that they block nobody
_LISTEN_S = 2.0  # then a listener polls, in case a notification was lost
_LAYOUT_LOCK = "layout"
SAVER_OPTIONS: dict[str, Any] = {"prepare_threshold": 0, "row_factory": dict_row}
SERVER_ERRORS = (psycopg.Error, PoolTimeout)
logging.getLogger("psycopg.pool").setLevel(logging.ERROR)  # the caller gets one sentence instead

_INSIDE = """
    {0}.thread_id = new.thread_id and strpos({0}.checkpoint_ns, ':') > 0
    and (new.checkpoint_ns = '' or starts_with({0}.checkpoint_ns, new.checkpoint_ns || '|'))
"""
_OLDER = 'checkpoint_id collate "C" < new.checkpoint_id'

_TRIGGERS = f"""
create or replace function fathom_prune_superseded() returns trigger language plpgsql as $$
begin
    delete from checkpoint_writes where thread_id = new.thread_id and checkpoint_ns = new.checkpoint_ns
        and checkpoint_id = new.parent_checkpoint_id;
    delete from checkpoint_writes w where {_INSIDE.format("w")} and {_OLDER};
    delete from checkpoints c where {_INSIDE.format("c")} and {_OLDER};
    delete from checkpoint_blobs b where {_INSIDE.format("b")} and not exists (
        select 1 from checkpoints c where c.thread_id = b.thread_id and c.checkpoint_ns = b.checkpoint_ns);
    if strpos(new.checkpoint_ns, ':') > 0 then
        delete from checkpoints where thread_id = new.thread_id and checkpoint_ns = new.checkpoint_ns
            and {_OLDER};
        delete from checkpoint_blobs b where b.thread_id = new.thread_id
            and b.checkpoint_ns = new.checkpoint_ns
            and b.version is distinct from new.checkpoint -> 'channel_versions' ->> b.channel;
    end if;
    return null;
end $$;
create or replace trigger fathom_prune_superseded after insert on checkpoints
    for each row execute function fathom_prune_superseded();

-- This saver packs writes in a thread: they may come after the checkpoint that contains them, and stay out.
create or replace function fathom_skip_late_output() returns trigger language plpgsql as $$
begin
    if exists (select 1 from checkpoints c where c.thread_id = new.thread_id
            and c.checkpoint_ns = new.checkpoint_ns and c.parent_checkpoint_id = new.checkpoint_id)
        or strpos(new.checkpoint_ns, ':') > 0 and exists (
            select 1 from checkpoints c where c.thread_id = new.thread_id and c.checkpoint_ns = ''
            and c.checkpoint_id collate "C" > new.checkpoint_id)
    then
        return null;
    end if;
    return new;
end $$;
create or replace trigger fathom_skip_late_output before insert on checkpoint_writes
    for each row when (new.idx >= 0) execute function fathom_skip_late_output();

create or replace function fathom_drop_partial_output() returns trigger language plpgsql as $$
begin
    delete from checkpoint_writes where thread_id = new.thread_id and checkpoint_ns = new.checkpoint_ns
        and checkpoint_id = new.checkpoint_id and task_id = new.task_id and idx >= 0;
    return null;
end $$;
create or replace trigger fathom_drop_partial_output after insert or update on checkpoint_writes
    for each row when (new.channel = '__error__') execute function fathom_drop_partial_output();

-- The sum of a batch changes with the payments of its runs, in the same transaction, whoever pays.
create or replace function fathom_add_to_batch() returns trigger language plpgsql as $$
declare
    paid bigint := 0;
    payer text;
begin
    if tg_op <> 'DELETE' then paid := paid + new.nano; payer := new.run; end if;
    if tg_op <> 'INSERT' then paid := paid - old.nano; payer := old.run; end if;
    update batches set nano = nano + paid
        where name = (select batch from batch_runs where run = owner(payer)) and paid <> 0;
    return null;
end $$;
create or replace trigger fathom_add_to_batch after insert or update or delete on payments
    for each row execute function fathom_add_to_batch();
"""  # noqa: S608 - all words are our own

# Followers of a run listen on a channel with its name.
_NOTICES = """
create or replace function fathom_tell_of_event() returns trigger language plpgsql as $$
begin
    perform pg_notify('fathom_' || new.run, new.number::text);
    return null;
end $$;
create or replace trigger fathom_tell_of_event after insert on events
    for each row execute function fathom_tell_of_event();
"""

# What is kept by run has the name of its thread, and behind a stroke the name its branches share.
_OWNER = """
create or replace function owner(run text) returns text language sql immutable
    as $$ select split_part(run, '/', 1) $$;
"""

# Whoever was replaced as the holder of a run's lock, and does not know it yet, saves, pays and tells nothing
# more. A lock goes with its connection; the row that is locked here goes with nothing, and whoever takes the
# run over waits for what is being written.
_EVICTED = "FT001"
_FENCE = f"""
create table if not exists lock_holders (
    name text collate "C" not null, holder text not null, is_evicted boolean not null default false,
    primary key (name, holder)
);
create or replace function fathom_refuse_evicted() returns trigger language plpgsql as $$
declare
    held text;
    is_lost boolean;
begin
    if tg_argv[0] = 'thread_id' then held := new.thread_id; else held := owner(new.run); end if;
    select is_evicted into is_lost from lock_holders
        where name = held and holder = current_setting('application_name') for share;
    if is_lost then
        raise exception 'another process has taken the run over' using errcode = '{_EVICTED}', detail = held;
    end if;
    return new;
end $$;
""" + "".join(  # noqa: S608 - all words are our own
    f"""
create or replace trigger fathom_a_refuse_evicted before insert on {table}
    for each row execute function fathom_refuse_evicted('{column}');
"""
    for table, column in {
        "checkpoints": "thread_id",
        "checkpoint_writes": "thread_id",
        "payments": "run",
        "events": "run",
    }.items()
)

# Each step brings a database from the version before to the next one. A released step stays as it is.
_STEPS = (postgres_tables() + _OWNER + _TRIGGERS + _NOTICES, _FENCE)
LAYOUT_VERSION = len(_STEPS)
_NOTE = f"""
create table if not exists fathom_layout (version integer not null);
delete from fathom_layout;
insert into fathom_layout values ({LAYOUT_VERSION});
"""  # noqa: S608 - a number of ours


@lru_cache
def process_name(_address: DatabaseAddress) -> str:
    """Return the name that all connections of this process have at a server: locks are known by it."""
    return f"fathom-{uuid4().hex}"


def lock_number(name: str) -> int:
    """Return the number of an advisory lock; locks of other programs in the database are others."""
    return int.from_bytes(sha256(f"fathom {name}".encode()).digest()[:8], "big", signed=True)


@contextmanager
def told_plainly(address: DatabaseAddress) -> Iterator[None]:
    """Turn errors of the server or the connection into one plain sentence."""
    try:
        yield
    except SERVER_ERRORS as error:
        if isinstance(error, psycopg.Error) and error.sqlstate == _EVICTED:
            run = short_id(error.diag.message_detail or "")
            raise RunStopped(f"Run {run} was taken over by another process.") from None
        raise DatabaseError(explain(address, error)) from None


def explain(address: DatabaseAddress, error: Exception) -> str:
    """Return one sentence about a server that cannot be used, without the password."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    why = address.hide(lines[0] if lines else type(error).__name__).rstrip(".")
    return f"The database {address} cannot be used: {why}."


def connect(address: DatabaseAddress, **options: Any) -> "psycopg.Connection[Any]":
    """Open a connection that commits every statement."""
    return psycopg.connect(address.url.get_secret_value(), **connect_options(address), **options)


def connect_options(address: DatabaseAddress) -> dict[str, Any]:
    """Return the options of all connections of this process."""
    theirs = str(conninfo_to_dict(address.url.get_secret_value()).get("options", ""))
    return {
        "autocommit": True,
        "connect_timeout": _CONNECT_S,
        "application_name": process_name(address),
        "options": f"{theirs} -c idle_in_transaction_session_timeout={_MOST_IDLE_S}s".strip(),
    }


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

    version = _version_of(connection)  # another process may have been quicker
    if version > LAYOUT_VERSION:
        raise BadInput(
            f"The database {address} was written by a newer Fathom (layout {version}, this one knows"
            f" {LAYOUT_VERSION}); install that version, or name another database."
        )
    if version == LAYOUT_VERSION:
        return
    with connect(address, **SAVER_OPTIONS) as for_saver:
        PostgresSaver(for_saver).setup()
    with connection.transaction():
        connection.execute("".join(_STEPS[version:]) + _NOTE)
        if not connection.execute("select to_regclass('procrastinate_jobs')").fetchone()[0]:  # type: ignore[index]
            connection.execute(SchemaManager.get_schema())


class EventTable(Table):
    """The events of runs, for listeners on any machine."""

    database: "PostgresDatabase"

    async def add(self, run: str, body: str) -> None:
        """Store an event and notify the followers of the run."""
        await self._write("insert into events (run, body) values (?, ?)", run, body.replace("\\u0000", ""))

    async def after(self, run: str, number: int) -> list[tuple[int, str]]:
        """Return the events of a run with a higher number, in their order."""
        words = "select number, body from events where run = ? and number > ? order by number"
        return [(int(found), body) for found, body in await self._rows(words, run, number)]

    async def follow(self, run: str, number: int = 0) -> AsyncGenerator[tuple[int, str], None]:
        """Yield every later event as it comes, from any machine; never ends by itself."""
        address = self.database.address
        url = address.url.get_secret_value()
        with told_plainly(address):
            async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
                await connection.execute(f'listen "fathom_{run}"')
                while True:
                    for seen, body in await self.after(run, number):
                        yield seen, body
                        number = seen
                    async for _ in connection.notifies(timeout=_LISTEN_S, stop_after=1):
                        pass


class PaperTable(Table):
    """PDFs by the hash of their text."""

    async def put(self, sha: str, body: bytes) -> None:
        """Keep a PDF; keeping it again changes nothing."""
        words = "insert into papers values (?, ?, ?) on conflict do nothing"
        await self._write(words, sha, body, time.time())

    async def get(self, sha: str) -> bytes | None:
        """Return the PDF whose text has that hash, or None."""
        rows = await self._rows("select body from papers where sha = ?", sha)
        return bytes(rows[0][0]) if rows else None


class PaceTable(Table):
    """When a server may be asked next, for all machines; see `SharedPaces`."""

    async def book(self, name: str, pause_s: float) -> float:
        """Reserve the next start with a pause after it; return how long to wait for it."""
        words = """
            insert into paces values (?, extract(epoch from clock_timestamp()) + ?)
            on conflict (name) do update set free_at =
                greatest(paces.free_at, extract(epoch from clock_timestamp())) + ?
            returning free_at - extract(epoch from clock_timestamp())
        """
        found = await self._change(words, name, pause_s, pause_s)
        return max(0.0, float(found) - pause_s)

    async def close(self, name: str, wait_s: float) -> None:
        """Make all machines wait this long."""
        words = """
            insert into paces values (?, extract(epoch from clock_timestamp()) + ?)
            on conflict (name) do update set free_at = greatest(paces.free_at, excluded.free_at)
        """
        await self._write(words, name, wait_s)

    async def wait_s(self, name: str) -> float:
        """Return how long all machines wait now."""
        words = "select free_at - extract(epoch from clock_timestamp()) from paces where name = ?"
        rows = await self._rows(words, name)
        return max(0.0, float(rows[0][0])) if rows else 0.0

    async def _change(self, words: str, *values: object) -> float:
        return float(await self.database.write(lambda c: c.execute(words, values).fetchone()[0]))


class BatchTable(Table):
    """Caps that hold for several runs, wherever they are worked on."""

    async def open(self, name: str, cap: int, runs: Sequence[str]) -> None:
        """Cap what these runs spend together, including what they have spent already."""

        def open_batch(connection: Connection) -> None:
            words = "insert into batches values (?, ?, 0) on conflict (name) do update set cap = excluded.cap"
            connection.execute(words, (name, cap))
            connection.execute("select 1 from batches where name = ? for update", (name,))
            words = (
                "insert into batch_runs values (?, ?) on conflict (run) do update set batch = excluded.batch"
            )
            connection.executemany(words, [(run, name) for run in runs])
            words = """
                update batches set nano = (select coalesce(sum(nano), 0) from payments where owner(run) in
                    (select run from batch_runs where batch = ?)) where name = ?
            """
            connection.execute(words, (name, name))

        await self.database.write(open_batch)

    async def spent(self, name: str) -> int:
        """Return what the runs of a batch have spent or reserved."""
        rows = await self._rows("select nano from batches where name = ?", name)
        return int(rows[0][0]) if rows else 0

    async def left(self, run: str) -> int | None:
        """Return what the batch of a run may still spend; None for a run without one."""
        words = "select cap - nano from batches where name = (select batch from batch_runs where run = ?)"
        rows = await self._rows(words, run)
        return int(rows[0][0]) if rows else None


def left_in_batch(connection: Connection, run: str) -> int | None:
    """Return what the batch of a run may still spend, or None; others wait for the transaction."""
    words = """
        select cap - nano from batches where name = (select batch from batch_runs where run = owner(?))
        for update
    """
    row = connection.execute(words, (run,)).fetchone()
    return int(row[0]) if row else None
