"""A new database in the place of an earlier Fathom's, whose reports are kept.

Checkpoints of the earlier layout cannot be resumed. Reports mostly are in their run's folder already; those
that are only in the database are written to a folder. The old file is moved aside, never deleted.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from fathom.errors import BadInput
from fathom.ids import short_id
from fathom.result import make_result
from fathom.storage.checkpoints import CompressedSerializer
from fathom.storage.database import BUSY_TIMEOUT_S, is_before_versions, prepare_database

_SLICES = "__slices__"  # marks a list that the earlier saver kept in pieces
_SUFFIXES = ("", "-wal", "-shm")


@dataclass(frozen=True)
class Upgraded:
    """Where the old file is now, which runs had a report folder, which were exported, which were not."""

    old: Path
    in_folders: list[str]
    exported: dict[str, Path]
    unreadable: list[str]


def upgrade_database(database: Path, exports: Path) -> Upgraded:
    """Write every report that is only in the old file below `exports`, and begin a new file."""
    if not database.is_file():
        raise BadInput(f"There is no database {database}.")
    lock = FileLock(f"{database}.lock", timeout=0)
    try:
        with lock, closing(sqlite3.connect(database, timeout=BUSY_TIMEOUT_S)) as connection:
            if not is_before_versions(connection):
                raise BadInput(f"The database {database} needs no upgrade.")
            found = _reports(connection, exports)
            connection.execute("pragma wal_checkpoint(truncate)").fetchall()
        old = _move_aside(database)
    except Timeout:
        raise BadInput(f"Another process is opening the database {database}; try again.") from None
    except (OSError, sqlite3.Error) as error:
        raise BadInput(
            f"The database {database} cannot be upgraded: {error}; nothing was changed."
        ) from error
    prepare_database(database)
    return Upgraded(old, *found)


def _reports(connection: sqlite3.Connection, exports: Path) -> tuple[list[str], dict[str, Path], list[str]]:
    folders = _folders(connection)
    in_folders: list[str] = []
    exported: dict[str, Path] = {}
    unreadable: list[str] = []
    for run, kind, body in _last_steps(connection):
        if (folders.get(run, Path("/nowhere")) / "report.json").is_file():
            in_folders.append(run)
            continue
        try:
            values = _values(connection, run, kind, body)
            result = make_result(run, values, 0.0) if "report" in values else None
        # Its records are of an earlier version: whatever they lack or have too much shows as one of these.
        except (ValueError, TypeError, KeyError, AttributeError):
            unreadable.append(run)
            continue
        if result:
            exported[run] = _export(exports / short_id(run), result.model_dump_json(indent=2), result.report)
    return in_folders, exported, unreadable


def _folders(connection: sqlite3.Connection) -> dict[str, Path]:
    try:
        return {run: Path(path) for run, path in connection.execute("select run, path from folders")}
    except sqlite3.OperationalError:  # no run ever had one
        return {}


def _last_steps(connection: sqlite3.Connection) -> Iterator[tuple[str, str, bytes]]:
    words = (
        "select thread_id, type, checkpoint, max(checkpoint_id) from checkpoints where checkpoint_ns = ''"
        " group by thread_id"
    )
    for run, kind, body, _ in connection.execute(words).fetchall():
        yield run, kind, body


def _values(connection: sqlite3.Connection, run: str, kind: str, body: bytes) -> Any:
    """Return the state of a checkpoint, its lists put together."""
    serializer = CompressedSerializer()
    values = serializer.loads_typed((kind, body))["channel_values"]
    rows = connection.execute("select sha, type, body from slices where thread_id = ?", (run,))
    slices = {sha: serializer.loads_typed((kind, body)) for sha, kind, body in rows}
    for name, value in values.items():
        if isinstance(value, dict) and set(value) == {_SLICES}:
            values[name] = [item for sha in value[_SLICES] for item in slices[sha]]
    return values


def _export(folder: Path, ledger: str, report: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "report.json").write_text(ledger, "utf-8")
    (folder / "report.md").write_text(report, "utf-8")
    return folder


def _move_aside(database: Path) -> Path:
    number = 1
    while (old := database.with_name(f"{database.name}.old{number}")).exists():
        number += 1
    for suffix in _SUFFIXES:
        file = Path(f"{database}{suffix}")
        if file.exists():
            file.rename(f"{old}{suffix}")
    return old
