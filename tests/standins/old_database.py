"""A database as the version before this layout wrote it: its tables, and runs in its checkpoints."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from fathom.storage.checkpoints import ALLOWED

_TABLES = """
create table checkpoints (
    thread_id text not null, checkpoint_ns text not null default '', checkpoint_id text not null,
    parent_checkpoint_id text, type text, checkpoint blob, metadata blob,
    primary key (thread_id, checkpoint_ns, checkpoint_id)
);
create table writes (
    thread_id text not null, checkpoint_ns text not null default '', checkpoint_id text not null,
    task_id text not null, idx integer not null, channel text not null, type text, value blob,
    primary key (thread_id, checkpoint_ns, checkpoint_id, task_id, idx)
);
create table slices (
    thread_id text not null, sha text not null, type text not null, body blob not null,
    primary key (thread_id, sha)
);
create table pages (sha text primary key, body blob not null);
create table seen (sha text primary key, at real not null) without rowid;
create table folders (run text primary key, path text not null) without rowid;
"""


def write_earlier(path: Path, runs: dict[str, dict[str, Any]], folders: dict[str, Path]) -> None:
    """Write runs with these last states; lists of claims are kept in slices, as they were."""
    serializer = JsonPlusSerializer(allowed_msgpack_modules=ALLOWED)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("pragma journal_mode=wal")
        connection.executescript(_TABLES)
        for run, state in runs.items():
            claims = state.get("claims", [])
            marked = {**state, "claims": {"__slices__": ["first", "second"]}}
            for sha, part in (("first", claims[:1]), ("second", claims[1:])):
                row = (run, sha, *serializer.dumps_typed(part))
                connection.execute("insert into slices values (?, ?, ?, ?)", row)
            kind, body = serializer.dumps_typed({"channel_values": marked})
            step = (run, "", "1ef00000-0000-6000-8000-000000000001", None, kind, body, b"{}")
            connection.execute("insert into checkpoints values (?, ?, ?, ?, ?, ?, ?)", step)
        for run, folder in folders.items():
            connection.execute("insert into folders values (?, ?)", (run, str(folder)))
