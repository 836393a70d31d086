"""The storage of one SQLite file, and the storages that are open in this process.

Does not know SQL: the parts do.
"""

import asyncio
from collections import OrderedDict
from pathlib import Path
from threading import Lock

from fathom.errors import BadInput
from fathom.storage.database import Database
from fathom.storage.protocol import Storage
from fathom.storage.sqlite_checkpoints import SqliteCheckpoints
from fathom.storage.sqlite_content import (
    SqliteControls,
    SqlitePages,
    SqliteReplies,
    SqliteWebPages,
    SqliteWindows,
)
from fathom.storage.sqlite_costs import SqliteCosts
from fathom.storage.sqlite_runs import SqliteLeases, SqliteRuns, SqliteSignals, SqliteThreads

_MOST_OPEN = 8  # databases with open connections in one process; the one used longest ago is closed
_open: OrderedDict[Path, tuple[Database, Storage]] = OrderedDict()
_guard = Lock()


def open_storage(database: Path | str) -> Storage:
    """Return the storage of a database; opening it again gives the same one. Nothing is read before use."""
    path = path_of(database)
    with _guard:
        if path not in _open:
            opened = Database(path)
            _open[path] = opened, _storage(opened)
        _open.move_to_end(path)
        if len(_open) > _MOST_OPEN:
            _, (oldest, _) = _open.popitem(last=False)
            oldest.close(wait=False)
        return _open[path][1]


async def close_storage(database: Path | str) -> None:
    """Close the connections once everything that waits is written; the next use opens them again."""
    with _guard:
        found = _open.get(path_of(database))
    if found:
        await asyncio.to_thread(found[0].close)


def database_of(database: Path | str) -> Database:
    """Return the open file behind a storage, for what only SQLite needs."""
    open_storage(database)
    return _open[path_of(database)][0]


def path_of(database: Path | str) -> Path:
    """Return the file that an address names, or BadInput for a server we cannot use yet."""
    if str(database).startswith(("postgresql:/", "postgres:/")):
        raise BadInput("PostgreSQL is not supported yet; name a file as the database.")
    return Path(database)


def _storage(database: Database) -> Storage:
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
    )
