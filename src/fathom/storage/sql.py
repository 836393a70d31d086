"""What the tables need of a database: work done on a connection, in words that both dialects understand.

Does not know files or servers. A place for a value is `?`, or `:name`; `fathom.storage.postgres` translates.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class Rows(Protocol):
    """What a statement found."""

    def fetchone(self) -> Any:
        """The next row, or None."""

    def fetchall(self) -> list[Any]:
        """All rows."""

    def __iter__(self) -> Iterator[Any]: ...


class Connection(Protocol):
    """A connection within one transaction."""

    def execute(self, words: str, values: Sequence[Any] | Mapping[str, Any] = ..., /) -> Rows:
        """Run one statement."""

    def executemany(self, words: str, rows: Sequence[Sequence[Any]], /) -> object:
        """Run one statement for each row."""


Work = Callable[[Connection], T]


class Database(Protocol):
    """One database, for all tables."""

    async def read(self, work: Work[T]) -> T:
        """Return what the work finds."""

    async def write(self, work: Work[T], *, alone: str = "") -> T:
        """Return what the work gives, once it is committed; `alone`: nobody else works under that name."""


@dataclass(frozen=True)
class Table:
    """What the tables share: one statement a call."""

    database: Database

    async def _write(self, words: str, *values: object) -> None:
        await self.database.write(lambda c: c.execute(words, values))

    async def _rows(self, words: str, *values: object) -> list[Any]:
        return await self.database.read(lambda c: c.execute(words, values).fetchall())


def replace_row(table: str, key: str, *columns: str) -> str:
    """Return the words that put a row in the place of another with the same key."""
    places = ", ".join("?" * (len(columns) + 1))
    changes = ", ".join(f"{name} = excluded.{name}" for name in columns)
    return (
        f"insert into {table} ({', '.join((key, *columns))}) values ({places})"  # noqa: S608 - our own words
        f" on conflict ({key}) do update set {changes}"
    )
