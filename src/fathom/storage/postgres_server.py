"""A PostgreSQL server: how one connects, what its refusals are in one sentence, and the layout of a database.

Imported only when somebody names such a server. LangGraph's savers and Procrastinate make and migrate their
own tables; here are only the rows of theirs that are superseded. The rules are those of
`fathom.storage.database`, which says why.
"""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from hashlib import sha256
from typing import Any, cast
from uuid import uuid4

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import dict_row
from psycopg_pool import PoolTimeout

from fathom.errors import BadInput, DatabaseError, RunStopped
from fathom.settings.database_address import DatabaseAddress
from fathom.state import short_id
from fathom.storage.sql import postgres_tables

_CONNECT_S = 10
_MOST_IDLE_S = 10  # the server ends transactions that idle for longer, so that they block nobody
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
