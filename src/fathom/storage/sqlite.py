"""The storage of one SQLite file.

Does not know SQL: the parts do.
"""

from collections.abc import Callable
from pathlib import Path

from fathom.storage.database import DatabaseFile
from fathom.storage.files import FileLocks
from fathom.storage.protocol import Storage
from fathom.storage.prune import SqlitePruning
from fathom.storage.sql_storage import make_storage
from fathom.storage.sqlite_checkpoints import SqliteCheckpoints


def make_sqlite_storage(path: Path, on_use: Callable[[DatabaseFile], None]) -> tuple[DatabaseFile, Storage]:
    """Return a file and everything that is kept in it."""
    database = DatabaseFile(path, on_use)
    locks, cleaning = FileLocks(path.parent / "locks"), SqlitePruning(path)
    return database, make_storage(str(path), database, SqliteCheckpoints(database), locks, cleaning)
