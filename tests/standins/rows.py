"""The rows of a database, whichever it is: for tests that look at what is kept."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg

from fathom import storage
from fathom.settings.database_address import DatabaseAddress


def rows_of(database: Path, words: str) -> list[Any]:
    """Return what a statement finds; `writes` are LangGraph's pending writes under either name."""
    place = storage.place_of(database)
    if isinstance(place, DatabaseAddress):
        with psycopg.connect(place.url.get_secret_value()) as server:
            return server.execute(words.replace(" writes", " checkpoint_writes")).fetchall()
    with closing(sqlite3.connect(place)) as connection:
        return connection.execute(words).fetchall()
