"""Long lists of a checkpoint, cut into slices that are kept once.

Does not know checkpoints. A run's lists only grow at their end, so that all slices but the last stay the same
from one checkpoint to the next: a run's history costs about as much as its last state.
"""

import sqlite3
from collections.abc import Collection, Mapping, Sequence
from hashlib import sha256
from typing import Any
from weakref import WeakKeyDictionary

import aiosqlite
from langgraph.checkpoint.serde.base import SerializerProtocol

from fathom.identity import ByIdentity
from fathom.state import Record

_SLICE = 16
_MOST_KNOWN = 2048
_MARK = "__slices__"
TABLE = """
create table if not exists slices (
    thread_id text not null, sha text not null, type text not null, body blob not null,
    primary key (thread_id, sha)
)
"""

Rows = dict[str, tuple[str, bytes]]


def cut(values: Mapping[str, Any], serde: SerializerProtocol) -> tuple[dict[str, Any], Rows]:
    """The values with a mark for every long list, and the slices the marks name."""
    rows: Rows = {}
    marked = {name: _cut(value, serde, rows) if _is_long(value) else value for name, value in values.items()}
    return marked, rows


def named(values: Mapping[str, Any]) -> list[str]:
    """The slices that marked values name."""
    return [sha for value in values.values() if _is_mark(value) for sha in value[_MARK]]


def whole(values: Mapping[str, Any], rows: Rows, serde: SerializerProtocol) -> dict[str, Any]:
    """The values as they were before they were cut."""
    return {
        name: [item for sha in value[_MARK] for item in serde.loads_typed(rows[sha])]
        if _is_mark(value)
        else value
        for name, value in values.items()
    }


def kept(connection: sqlite3.Connection, thread_id: str, shas: Sequence[str]) -> Rows:
    """The slices of a thread that have these names."""
    places = ",".join("?" * len(shas))
    words = f"select sha, type, body from slices where thread_id = ? and sha in ({places})"  # noqa: S608
    found = connection.execute(words, (thread_id, *shas))
    return {sha: (kind, body) for sha, kind, body in found}


def keep(connection: sqlite3.Connection, thread_id: str, rows: Rows) -> None:
    """Keep slices; one that is there already stays as it is."""
    if rows:
        connection.executemany(
            "insert or ignore into slices (thread_id, sha, type, body) values (?, ?, ?, ?)",
            [(thread_id, sha, kind, body) for sha, (kind, body) in rows.items()],
        )


async def forget(connection: aiosqlite.Connection, thread_id: str, named: Collection[str]) -> None:
    """Drop all slices of a thread but the named ones."""
    async with connection.execute("select sha from slices where thread_id = ?", (thread_id,)) as rows:
        gone = [(thread_id, sha) async for (sha,) in rows if sha not in named]
    await connection.executemany("delete from slices where thread_id = ? and sha = ?", gone)


def _is_long(value: object) -> bool:
    return type(value) is list and len(value) > _SLICE


def _is_mark(value: object) -> bool:
    return type(value) is dict and set(value) == {_MARK}


def _cut(value: list[Any], serde: SerializerProtocol, rows: Rows) -> dict[str, list[str]]:
    shas = []
    for start in range(0, len(value), _SLICE):
        sha, row = _sliced(value[start : start + _SLICE], serde)
        shas.append(sha)
        rows[sha] = row
    return {_MARK: shas}


# Records are never changed, so the same ones in the same order are the same bytes. By serializer, which has a
# memory of its own: whoever holds one after its runs holds all that they have packed.
_known: WeakKeyDictionary[SerializerProtocol, ByIdentity[tuple[str, tuple[str, bytes]]]] = WeakKeyDictionary()


def _sliced(items: list[Any], serde: SerializerProtocol) -> tuple[str, tuple[str, bytes]]:
    """The name and the bytes of a slice; a full slice of records is serialized once."""
    memory = _known.get(serde)
    if memory is None:
        memory = _known[serde] = ByIdentity(_MOST_KNOWN)
    if known := memory.get(*items):
        return known
    kind, body = serde.dumps_typed(items)
    made = sha256(body).hexdigest()[:32], (kind, body)
    if len(items) == _SLICE and all(isinstance(item, Record) for item in items):
        memory.put(made, *items)
    return made
