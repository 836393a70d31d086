"""Databases as earlier versions wrote them: their tables, and runs in their checkpoints.

Records are written under the modules and classes of that time, which are gone.
"""

import sqlite3
import zlib
from contextlib import closing
from pathlib import Path
from typing import Any

import ormsgpack
from pydantic import BaseModel

_RECORD = 5  # how LangGraph marks a pydantic model
_STEP = "1ef00000-0000-6000-8000-000000000001"

_CHECKPOINTS = """
create table checkpoints (
    thread_id text not null, checkpoint_ns text not null default '', checkpoint_id text not null,
    parent_checkpoint_id text, type text, checkpoint blob, metadata blob,
    primary key (thread_id, checkpoint_ns, checkpoint_id)
);
"""

_FIRST_TABLES = """
create table slices (
    thread_id text not null, sha text not null, type text not null, body blob not null,
    primary key (thread_id, sha)
);
create table pages (sha text primary key, body blob not null);
create table folders (run text primary key, path text not null) without rowid;
"""

_LAYOUT_TABLES = """
create table pages (sha text primary key, body blob not null, used_at real not null);
create table run_configs (run text primary key, config text not null) without rowid;
create table run_folders (run text primary key, path text not null) without rowid;
"""


def dump_old(value: Any) -> bytes:
    """Return the bytes of a value, its records under names that no module has any more."""
    option = ormsgpack.OPT_NON_STR_KEYS
    return ormsgpack.packb(value, default=_dump_record, option=option)


def _dump_record(record: Any) -> ormsgpack.Ext:
    if not isinstance(record, BaseModel):
        raise TypeError(type(record))
    names = ("fathom.state.reports", f"Old{type(record).__name__}")
    return ormsgpack.Ext(_RECORD, dump_old((*names, record.model_dump(), "model_validate_json")))


def write_first(path: Path, runs: dict[str, dict[str, Any]], folders: dict[str, Path]) -> None:
    """Write runs with these last states as before layout 1; lists of claims are kept in slices."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("pragma journal_mode=wal")
        connection.executescript(_CHECKPOINTS + _FIRST_TABLES)
        for run, state in runs.items():
            claims = state.get("claims", [])
            for sha, part in (("first", claims[:1]), ("second", claims[1:])):
                row = (run, sha, "msgpack", dump_old(part))
                connection.execute("insert into slices values (?, ?, ?, ?)", row)
            marked = {**state, "claims": {"__slices__": ["first", "second"]}}
            _add_step(connection, run, "msgpack", dump_old({"channel_values": marked}))
        for run, folder in folders.items():
            connection.execute("insert into folders values (?, ?)", (run, str(folder)))


def write_layout(
    layout: int, path: Path, runs: dict[str, dict[str, Any]], folders: dict[str, Path], texts: dict[str, str]
) -> None:
    """Write runs with these last states as layouts 1 to 3 did: compressed, configurations apart."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("pragma journal_mode=wal")
        connection.executescript(_CHECKPOINTS + _LAYOUT_TABLES)
        for run, state in runs.items():
            config: BaseModel = state["run_config"]
            row = (state["run"], config.model_dump_json())  # under the name that the state has
            connection.execute("insert into run_configs values (?, ?)", row)
            values = {name: value for name, value in state.items() if name != "run_config"}
            _add_step(connection, run, "msgpack+z", zlib.compress(dump_old({"channel_values": values})))
        for run, folder in folders.items():
            connection.execute("insert into run_folders values (?, ?)", (run, str(folder)))
        for sha, text in texts.items():
            page = (sha, zlib.compress(text.encode()), 0.0)
            connection.execute("insert into pages values (?, ?, ?)", page)
        connection.execute(f"pragma user_version={layout}")


def _add_step(connection: sqlite3.Connection, run: str, kind: str, body: bytes) -> None:
    step = (run, "", _STEP, None, kind, body, b"{}")
    connection.execute("insert into checkpoints values (?, ?, ?, ?, ?, ?, ?)", step)
