"""Everything that lasts: checkpoints, page texts, answers, costs, signals, leases, run records.

`open_storage` gives the one storage of a database. Nothing here imports LangGraph but `checkpoints`.
"""

import sqlite3

from fathom.errors import DatabaseError
from fathom.storage.opening import close_storage, database_exists, open_storage
from fathom.storage.protocol import Storage

__all__ = ["STORAGE_ERRORS", "Storage", "close_storage", "database_exists", "open_storage"]

# What a storage raises when it cannot read or write just now, beside BadInput for one that can never be used.
STORAGE_ERRORS: tuple[type[Exception], ...] = (sqlite3.Error, DatabaseError)
