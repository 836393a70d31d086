"""The storage of one SQLite file, and the storages that are open in this process.

Does not know SQL: the parts do.
"""

import asyncio
from collections import OrderedDict
from pathlib import Path
from threading import Lock

from fathom.errors import BadInput
from fathom.storage.database import Database
from fathom.storage.files import FileLocks
from fathom.storage.protocol import Storage
from fathom.storage.prune import SqlitePruning
from fathom.storage.sqlite_checkpoints import SqliteCheckpoints
from fathom.storage.sqlite_content import (
    SqliteControls,
    SqlitePages,
    SqliteReplies,
    SqliteWebPages,
    SqliteWindows,
)
from fathom.storage.sqlite_runs import SqliteCosts, SqliteLeases, SqliteRuns, SqliteSignals, SqliteThreads

_MOST_OPEN = 8  # databases with open connections in one process; the one used longest ago is closed
_storages: dict[Path, tuple[Database, Storage]] = {}
_in_use: OrderedDict[Path, Database] = OrderedDict()
_guard = Lock()


def open_storage(database: Path | str) -> Storage:
    """Return the storage of a database; opening it again gives the same one. Nothing is read before use."""
    path = database_path(database)
    with _guard:
        if path not in _storages:
            opened = Database(path, _note_use)
            _storages[path] = opened, _make_storage(opened)
        return _storages[path][1]


async def close_storage(database: Path | str) -> None:
    """Close the connections once everything that waits is written; the next use opens them again."""
    with _guard:
        found = _in_use.pop(database_path(database), None)
    if found:
        await asyncio.to_thread(found.close)


def database_of(database: Path | str) -> Database:
    """Return the open file behind a storage, for what only SQLite needs."""
    open_storage(database)
    return _storages[database_path(database)][0]


def _note_use(database: Database) -> None:
    with _guard:
        _in_use[database.path] = database
        _in_use.move_to_end(database.path)
        oldest = _in_use.popitem(last=False)[1] if len(_in_use) > _MOST_OPEN else None
    if oldest:
        oldest.close(wait=False)


def database_path(database: Path | str) -> Path:
    """Return the file that an address names, or BadInput for a server we cannot use yet."""
    if str(database).startswith(("postgresql:/", "postgres:/")):
        raise BadInput("PostgreSQL is not supported yet; name a file as the database.")
    return Path(database)


def _make_storage(database: Database) -> Storage:
    return Storage(
        name=str(database.path),
        pages=SqlitePages(database),
        replies=SqliteReplies(database),
        web_pages=SqliteWebPages(database),
        costs=SqliteCosts(database),
        signals=SqliteSignals(database),
        leases=SqliteLeases(database),
        threads=SqliteThreads(database),
        runs=SqliteRuns(database),
        windows=SqliteWindows(database),
        controls=SqliteControls(database),
        checkpoints=SqliteCheckpoints(database),
        locks=FileLocks(database.path.parent / "locks"),
        cleaning=SqlitePruning(database.path),
    )
