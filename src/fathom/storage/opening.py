"""The storages that are open in this process, by the place of their database.

Does not know what is kept. PostgreSQL's parts are imported when one is opened.
"""

import asyncio
from collections import OrderedDict
from pathlib import Path
from threading import Lock
from typing import Protocol

from pydantic import SecretStr

from fathom.errors import BadInput
from fathom.settings.database_address import DatabaseAddress
from fathom.storage.database import DatabaseFile
from fathom.storage.files import FileLocks
from fathom.storage.protocol import Storage, make_storage
from fathom.storage.prune import SqlitePruning
from fathom.storage.thinning import SqliteCheckpoints

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
    """Return the storage of a database; opening it again gives the same one. Nothing is read before use."""
    place = place_of(database)
    with _guard:
        if place not in _storages:
            _storages[place] = _make(place)
        return _storages[place][1]


async def close_storage(database: Place | str) -> None:
    """Close the connections once everything that waits is written; the next use opens them again."""
    with _guard:
        found = _in_use.pop(place_of(database), None)
    if found:
        await asyncio.to_thread(found.close)


def place_of(database: Place | str) -> Place:
    """Return the file or the server that words name."""
    if isinstance(database, str):
        is_server = DatabaseAddress.is_one(database)
        return DatabaseAddress(SecretStr(database)) if is_server else Path(database)
    return database


def database_exists(database: Place) -> bool:
    """Whether there is anything to read; a server says so itself, when it is asked."""
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
