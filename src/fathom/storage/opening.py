"""A storage: everything that Fathom keeps in one database, a SQLite file or a PostgreSQL server.

PostgreSQL's parts are imported when one is opened.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Protocol

from pydantic import SecretStr

from fathom.errors import BadInput
from fathom.settings.database_address import DatabaseAddress
from fathom.storage.content import ControlTable, PageTable, ReplyTable, WebPageTable
from fathom.storage.database import DatabaseFile
from fathom.storage.files import FileLocks
from fathom.storage.prune import SqlitePruning
from fathom.storage.records import RemovedRows
from fathom.storage.run_tables import (
    BatchLimit,
    CostTable,
    LeaseTable,
    RunTable,
    SignalTable,
    ThreadTable,
    WatchTable,
)
from fathom.storage.sql import Database
from fathom.storage.thinning import CheckpointTable, SqliteCheckpoints

if TYPE_CHECKING:
    from fathom.storage.postgres_tables import BatchTable, EventTable, PaceTable, PaperTable


class HeldLock(Protocol):
    """A lock that this process holds."""

    async def release(self) -> None:
        """Release the lock, even if the caller is cancelled."""

    async def remove(self) -> None:
        """Release the lock and delete its traces: nobody will take it again."""


class LockStore(Protocol):
    """Locks by name, with one holder in all processes; a killed process holds none."""

    async def acquire(self, name: str) -> HeldLock | None:
        """Take the lock and return it, or None if it is taken."""

    async def is_held(self, name: str) -> bool:
        """Whether anybody holds the lock."""

    async def lost(self) -> set[str]:
        """Return the locks that this process lost to another one."""


class PruneStore(Protocol):
    """Deletes runs and frees their disk space."""

    async def remove_runs(
        self, gone: Sequence[str], *, is_idle: bool, now: float, older_s: float | None, is_dry: bool
    ) -> RemovedRows:
        """Delete the runs `gone` and everything no run needs any more; with `is_dry` only count it.

        `is_idle`: no run was working at the time `now`. Rows added since then stay, since a run may have
        started. If runs are working, all recent rows stay.
        """

    async def page_names(self) -> set[str]:
        """Return the hashes of all stored texts."""

    async def shrink(self) -> None:
        """Return the space of deleted rows to the disk."""

    async def size_bytes(self) -> int:
        """Return the size of the database."""


@dataclass(frozen=True, eq=False)
class Storage:
    """All parts of one database; `name` tells databases apart within a process.

    Every call is one short transaction, safe from any event loop and thread, and does not block the loop.
    """

    name: str
    pages: PageTable
    replies: ReplyTable
    web_pages: WebPageTable
    costs: CostTable
    signals: SignalTable
    leases: LeaseTable
    threads: ThreadTable
    runs: RunTable
    watches: WatchTable
    controls: ControlTable
    checkpoints: CheckpointTable
    locks: LockStore
    cleaning: PruneStore
    # PostgreSQL only; with SQLite these are None, and events and papers are files.
    events: "EventTable | None" = None
    papers: "PaperTable | None" = None
    paces: "PaceTable | None" = None
    batches: "BatchTable | None" = None


def make_storage(
    name: str,
    database: Database,
    checkpoints: CheckpointTable,
    locks: LockStore,
    cleaning: PruneStore,
    left_in_batch: BatchLimit = lambda _connection, _run: None,
) -> Storage:
    """Return the storage whose tables are in this database."""
    return Storage(
        name=name,
        pages=PageTable(database),
        replies=ReplyTable(database),
        web_pages=WebPageTable(database),
        costs=CostTable(database, left_in_batch),
        signals=SignalTable(database),
        leases=LeaseTable(database),
        threads=ThreadTable(database),
        runs=RunTable(database),
        watches=WatchTable(database),
        controls=ControlTable(database),
        checkpoints=checkpoints,
        locks=locks,
        cleaning=cleaning,
    )


Place = Path | DatabaseAddress


class OpenDatabase(Protocol):
    """A database whose connections can be closed."""

    def close(self, *, wait: bool = True) -> None:
        """Close the connections; the next use opens them again."""


_MOST_OPEN = 8  # databases with open connections in one process; the one used longest ago is closed
_storages: dict[Place, tuple[OpenDatabase, Storage]] = {}
_in_use: OrderedDict[Place, OpenDatabase] = OrderedDict()
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
    with _guard:
        found = _in_use.pop(place_of(database), None)
    if found:
        await asyncio.to_thread(found.close)


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


def _make(place: Place) -> tuple[OpenDatabase, Storage]:
    if isinstance(place, Path):
        file = DatabaseFile(place, lambda opened: _note_use(place, opened))
        locks = FileLocks(place.parent / "locks")
        return file, make_storage(str(place), file, SqliteCheckpoints(file), locks, SqlitePruning(place))
    try:
        from fathom.storage.postgres import make_postgres_storage
    except ImportError as error:
        raise BadInput("PostgreSQL needs more packages: pip install 'fathom-research[postgres]'") from error
    return make_postgres_storage(place, lambda opened: _note_use(place, opened))


def _note_use(place: Place, database: OpenDatabase) -> None:
    with _guard:
        _in_use[place] = database
        _in_use.move_to_end(place)
        oldest = _in_use.popitem(last=False)[1] if len(_in_use) > _MOST_OPEN else None
    if oldest:
        oldest.close(wait=False)
