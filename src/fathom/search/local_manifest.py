"""What the local index knows about each file: the state it was read in, and how that went.

One small SQLite file beside the index. Does not know the index itself.
"""

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from fathom.search.local_files import Stamp

_TABLE = """create table if not exists files (
    path text primary key, size integer not null, mtime_ns integer not null,
    sha text not null, title text not null, why text not null)"""

Row = tuple[str, Stamp, str, str, str]
"""Path, stamp, hash of the bytes, title (empty if it has nothing to say), why it could not be read."""


class Manifest:
    """The rows of one index; every call opens and closes the file, so any thread may call."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with closing(self._connect()) as connection, connection:
            connection.execute(_TABLE)

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(self.path, timeout=30)

    def stamps(self) -> dict[str, Stamp]:
        """When each known file was last read."""
        with closing(self._connect()) as connection:
            rows = connection.execute("select path, size, mtime_ns from files").fetchall()
        return {path: Stamp(size, mtime_ns) for path, size, mtime_ns in rows}

    def update(self, rows: Iterable[Row], removed: Iterable[str] = ()) -> None:
        """Remember files that were read now, forget files that are gone."""
        flat = [(path, stamp.size, stamp.mtime_ns, sha, title, why) for path, stamp, sha, title, why in rows]
        with closing(self._connect()) as connection, connection:
            connection.executemany("delete from files where path = ?", [(path,) for path in removed])
            connection.executemany("insert or replace into files values (?, ?, ?, ?, ?, ?)", flat)

    def unread(self) -> dict[str, str]:
        """Files that could not be read, and why."""
        with closing(self._connect()) as connection:
            return dict(
                connection.execute("select path, why from files where why != '' order by path").fetchall()
            )

    def count(self) -> int:
        """How many documents can be found."""
        with closing(self._connect()) as connection:
            (number,) = connection.execute("select count(*) from files where title != ''").fetchone()
        return int(number)
