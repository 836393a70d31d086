"""The tables of a database, and the version of their layout.

Does not know who uses them. The version is SQLite's `user_version`; 0 is a new file, or one that was written
before versions were counted.
"""

import sqlite3
from contextlib import closing
from pathlib import Path

from filelock import FileLock

from fathom.errors import BadInput
from fathom.storage.prune import TRIGGERS

VERSION = 3  # 2 added `control_answers`, 3 `past_rounds`
BUSY_TIMEOUT_S = 60
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
_TABLES = """
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
    number integer primary key, run text not null, word text not null, text text not null, at text not null,
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
create table if not exists past_rounds (
    run text not null, step text not null, judged integer not null, base text not null, parent text,
    type text, body blob not null, metadata blob, primary key (run, step)
);
create table if not exists context_windows (
    name text primary key, size integer not null, said integer, at real not null
) without rowid;
create table if not exists control_answers (
    verifier text not null, call text not null, right integer not null, wrong integer not null,
    at real not null, primary key (verifier, call)
) without rowid;
"""


def prepare(path: Path) -> None:
    """Make sure that the file is there, writable and of our version; else BadInput with one sentence.

    A file of an earlier version that counted them gets the tables that it lacks.
    """
    try:
        if path.is_file() and _version_of(path) == VERSION:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        # Two processes that set the journal mode at the same moment would see "database is locked".
        with FileLock(f"{path}.lock", timeout=BUSY_TIMEOUT_S), closing(_connect(path)) as connection:
            _refuse_other_versions(path, connection)
            if connection.execute("pragma journal_mode").fetchone()[0] != "wal":
                connection.execute("pragma journal_mode=wal")
            script = _SAVER_TABLES + _TABLES + TRIGGERS
            connection.executescript(f"begin immediate;{script}pragma user_version={VERSION};commit;")
    except (OSError, sqlite3.Error) as error:
        raise BadInput(f"The database {path} cannot be used: {error}.") from error


def is_before_versions(connection: sqlite3.Connection) -> bool:
    """Return whether the file has tables but no version: Fathom 0.1 before this layout wrote it."""
    (version,) = connection.execute("pragma user_version").fetchone()
    names = "select 1 from sqlite_master where type = 'table' limit 1"
    return version == 0 and connection.execute(names).fetchone() is not None


def _refuse_other_versions(path: Path, connection: sqlite3.Connection) -> None:
    (version,) = connection.execute("pragma user_version").fetchone()
    if version > VERSION:
        raise BadInput(
            f"The database {path} was written by a newer Fathom (layout {version}, this one knows {VERSION});"
            " install that version, or name another database."
        )
    if is_before_versions(connection):
        raise BadInput(
            f"The database {path} was written by an earlier Fathom;"
            " keep its reports and start a new one with: fathom upgrade"
        )


def _version_of(path: Path) -> int:
    with closing(_connect(path)) as connection:
        return int(connection.execute("pragma user_version").fetchone()[0])


def _connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, timeout=BUSY_TIMEOUT_S)
