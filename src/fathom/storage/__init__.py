"""A storage: everything that Fathom keeps in one database, a SQLite file or a PostgreSQL server.

Checkpoints, page texts, replies, costs, signals, leases, run records. Only `checkpoints` imports LangGraph;
PostgreSQL's parts are imported when one is opened.
"""

import asyncio
import sqlite3
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, TypeAlias

from pydantic import SecretStr

from fathom.errors import BadInput, DatabaseError
from fathom.settings.database_address import DatabaseAddress
from fathom.storage.content import ControlTable, PageTable, ReplyTable, WebPageTable
from fathom.storage.database import DatabaseFile
from fathom.storage.files import FileLocks
from fathom.storage.prune import CheckpointTable, Pruning, SqliteCheckpoints, SqlitePruning
from fathom.storage.records import Database
from fathom.storage.run_tables import (
    BatchLimit,
    CostTable,
    LeaseTable,
    RunTable,
    SignalTable,
    ThreadTable,
    WatchTable,
)

if TYPE_CHECKING:
    from fathom.storage.postgres import PostgresDatabase, PostgresLocks
    from fathom.storage.postgres_server import BatchTable, EventTable, PaceTable, PaperTable

    OpenDatabase: TypeAlias = DatabaseFile | PostgresDatabase

# Raised when a storage cannot read or write at the moment; BadInput means that it can never be used.
STORAGE_ERRORS: tuple[type[Exception], ...] = (sqlite3.Error, DatabaseError)


class Storage:
    """All parts of one database; `name` tells databases apart within a process.

    Every call is one short transaction, safe from any event loop and thread, and does not block the loop.
    """

    def __init__(
        self,
        name: str,
        database: Database,
        *,
        checkpoints: CheckpointTable,
        locks: "FileLocks | PostgresLocks",
        cleaning: Pruning,
        left_in_batch: BatchLimit = lambda _connection, _run: None,
    ) -> None:
        self.name = name
        self.pages = PageTable(database)
        self.replies = ReplyTable(database)
        self.web_pages = WebPageTable(database)
        self.costs = CostTable(database, left_in_batch)
        self.signals = SignalTable(database)
        self.leases = LeaseTable(database)
        self.threads = ThreadTable(database)
        self.runs = RunTable(database)
        self.watches = WatchTable(database)
        self.controls = ControlTable(database)
        self.checkpoints = checkpoints
        self.locks = locks
        self.cleaning = cleaning
        # PostgreSQL only; with SQLite these are None, and events and papers are files.
        self.events: EventTable | None = None
        self.papers: PaperTable | None = None
        self.paces: PaceTable | None = None
        self.batches: BatchTable | None = None


Place = Path | DatabaseAddress
_storages: dict[Place, tuple["OpenDatabase", Storage]] = {}
_guard = Lock()


def open_storage(database: Place | str) -> Storage:
    """Return the storage of a database, always the same one. It connects at the first use."""
    place = place_of(database)
    with _guard:
        if place not in _storages:
            _storages[place] = _make(place)
        return _storages[place][1]


async def close_storage(database: Place | str) -> None:
    """Close the connections after pending writes; the next use opens them again."""
    if found := _storages.get(place_of(database)):
        await asyncio.to_thread(found[0].close)


def place_of(database: Place | str) -> Place:
    """Return the file or the server address."""
    if isinstance(database, str):
        is_server = DatabaseAddress.is_one(database)
        return DatabaseAddress(SecretStr(database)) if is_server else Path(database)
    return database


def database_exists(database: Place) -> bool:
    """Whether the database exists; for a server, the first query tells."""
    place = place_of(database)
    return isinstance(place, DatabaseAddress) or place.exists()


def _make(place: Place) -> tuple["OpenDatabase", Storage]:
    if isinstance(place, Path):
        file = DatabaseFile(place)
        return file, Storage(
            str(place),
            file,
            checkpoints=SqliteCheckpoints(file),
            locks=FileLocks(place.parent / "locks"),
            cleaning=SqlitePruning(file, place),
        )
    try:
        from fathom.storage.postgres import make_postgres_storage
    except ImportError as error:
        raise BadInput("PostgreSQL needs more packages: pip install 'fathom-research[postgres]'") from error
    return make_postgres_storage(place)
