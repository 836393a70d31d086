"""A copy of every row that can still be read in a damaged SQLite file."""

import re
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from fathom.errors import BadInput
from fathom.storage.database import LAYOUT_VERSION, TRIGGERS, prepare_database

_SIDE_FILES = ("", "-wal")
_SKIPS = 4_096  # how often a table is tried behind a broken place
_DAMAGE = re.compile(r"malformed|not a database|file format|corrupt|damaged")
_FIXED = ((0, 28), (44, 48), (56, 60))  # bytes of the header that are alike in every file of ours
_PAGE_BYTES = 4_096


@dataclass
class Salvaged:
    """How many rows of each table were saved, and which tables have lost some."""

    rows: dict[str, int] = field(default_factory=dict)
    damaged: list[str] = field(default_factory=list)


def describe_database_error(error: Exception) -> str:
    """Return the error in words, and the way out if the file is damaged."""
    words = str(error).rstrip(".")
    return f"{words}; save what can be read with: fathom rescue" if _DAMAGE.search(words) else words


def salvage_rows(damaged: Path, rescued: Path) -> Salvaged:
    """Copy all rows that can be read into a new database; BadInput when there are none."""
    if not damaged.is_file():
        raise BadInput(f"There is no database {damaged}.")
    if rescued.exists():
        raise BadInput(f"{rescued} is there already; name another folder.")
    try:
        with tempfile.TemporaryDirectory() as name:
            copy = Path(name) / "copy.sqlite"
            for suffix in _SIDE_FILES:
                if (file := Path(f"{damaged}{suffix}")).is_file():
                    shutil.copyfile(file, f"{copy}{suffix}")
            prepare_database(rescued)
            _mend_header(copy, rescued)
            return _copy_tables(copy, rescued)
    except OSError as error:
        raise BadInput(f"{damaged} cannot be copied: {error.strerror or error}.") from error


def _mend_header(copy: Path, sound: Path) -> None:
    """Replace the parts of the header that are the same in every Fathom database."""
    with copy.open("r+b") as file, sound.open("rb") as other:
        first = other.read(_PAGE_BYTES)
        for start, end in _FIXED:
            file.seek(start)
            file.write(first[start:end])
        file.flush()
        if not _has_tables(copy):  # tables begin at the same pages in every file, in the order they were made
            file.seek(100)
            file.write(first[100:])


def _has_tables(path: Path) -> bool:
    try:
        with closing(sqlite3.connect(path)) as connection:
            return bool(connection.execute("select count(*) from sqlite_master").fetchone()[0] > 1)
    except sqlite3.Error:
        return False


def _copy_tables(copy: Path, rescued: Path) -> Salvaged:
    done = Salvaged()
    with closing(_open_loosely(copy)) as old, closing(sqlite3.connect(rescued)) as new:
        triggers = [name for (name,) in new.execute("select name from sqlite_master where type = 'trigger'")]
        for name in triggers:
            new.execute(f"drop trigger {name}")
        tables = new.execute("select name, sql from sqlite_master where type = 'table' order by name")
        for table, script in tables.fetchall():
            columns = [row[1] for row in new.execute(f"pragma table_info({table})")]
            has_rowid = "without rowid" not in script.lower()
            words = f"insert or ignore into {table} values ({', '.join('?' * len(columns))})"  # noqa: S608
            reader = _TableReader(old, table, columns, has_rowid=has_rowid)
            done.rows[table] = sum(new.execute(words, row).rowcount for row in reader.rows())
            if reader.is_damaged:
                done.damaged.append(table)
        new.executescript(TRIGGERS)
        new.execute(f"pragma user_version={LAYOUT_VERSION}")
        new.commit()
    if not any(done.rows.values()):
        for suffix in ("", ".lock"):
            Path(f"{rescued}{suffix}").unlink(missing_ok=True)
        raise BadInput("Nothing in that file can be read; reports are also in the folders of their runs.")
    return done


def _open_loosely(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path)
    connection.text_factory = lambda words: words.decode("utf-8", "replace")
    try:
        connection.execute("pragma writable_schema=on")  # reads on where the description of a table is broken
        connection.execute("pragma cell_size_check=off")
    except sqlite3.Error:
        pass  # then the tables are tried as they are
    return connection


class _TableReader:
    """The rows of one table from both ends, and from behind every broken place that has a number."""

    def __init__(
        self, connection: sqlite3.Connection, table: str, columns: list[str], *, has_rowid: bool
    ) -> None:
        self.is_damaged = False
        self._connection, self._table = connection, table
        self._columns, self._has_rowid = columns, has_rowid

    def rows(self) -> Iterator[tuple[object, ...]]:
        """Every row that can be read; some twice."""
        key = "rowid" if self._has_rowid else self._columns[0]
        select = f"select {key}, {', '.join(self._columns)} from {self._table}"  # noqa: S608 - our own names
        last: object = None
        for number, *row in self._read(f"{select} order by {key}"):
            last = number
            yield tuple(row)
        if not self.is_damaged:
            return
        first: object = None
        for number, *row in self._read(f"{select} order by {key} desc"):
            first = number
            yield tuple(row)
        if self._has_rowid:
            yield from self._read_between(select, last, first)

    def _read(self, words: str, *values: object) -> Iterator[tuple[object, ...]]:
        try:
            yield from self._connection.execute(words, values)
        except (sqlite3.Error, OverflowError):
            self.is_damaged = True

    def _read_between(self, select: str, last: object, first: object) -> Iterator[tuple[object, ...]]:
        """Rows between the places where reading from either end broke off, number by number."""
        start = last if isinstance(last, int) else 0
        end = first if isinstance(first, int) else start + _SKIPS
        for number in range(start + 1, min(end, start + _SKIPS)):
            for _, *row in self._read(f"{select} where rowid = ?", number):
                yield tuple(row)
