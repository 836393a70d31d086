"""Databases: checkpoints, page texts, replies, costs, signals, leases, run records.

Only `checkpoints` imports LangGraph.
"""

import sqlite3

from fathom.errors import DatabaseError
from fathom.storage.opening import Storage, close_storage, database_exists, open_storage

__all__ = ["STORAGE_ERRORS", "Storage", "close_storage", "database_exists", "open_storage"]

# Raised when a storage cannot read or write at the moment; BadInput means that it can never be used.
STORAGE_ERRORS: tuple[type[Exception], ...] = (sqlite3.Error, DatabaseError)
