"""LangGraph's own savers on our database, SQLite's or PostgreSQL's, with one compressing serializer.

Superseded checkpoints are deleted: see `fathom.storage.prune`.
"""

import asyncio
import logging
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeAlias, TypeVar

import aiosqlite
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from fathom import state
from fathom.errors import DatabaseError
from fathom.settings import load_settings
from fathom.settings.database_address import DatabaseAddress
from fathom.storage import Place, Storage, close_storage, open_storage, place_of
from fathom.storage.database import BUSY_TIMEOUT_S, prepare_database
from fathom.storage.prune import KEEP_LATEST
from fathom.storage.records import DamagedRecord, deflate, inflate

if TYPE_CHECKING:
    from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver

Saver: TypeAlias = "AsyncSqliteSaver | AsyncPostgresSaver"
T = TypeVar("T")
_log = logging.getLogger(__name__)
_THIN_EVERY_S = 60.0
_LONG_STEPS = KEEP_LATEST + 3  # a shorter run has hardly a step to delete

# Every type that may stand in a checkpoint: the records that `fathom.state` exports, and the run
# configuration. Anything else comes back as plain data, and a test fails.
ALLOWED = [
    (kind.__module__, kind.__name__)
    for kind in vars(state).values()
    if isinstance(kind, type)
    and issubclass(kind, (state.Record, state.RunConfig))
    and kind is not state.Record
]


class CompressedSerializer(SerializerProtocol):
    """LangGraph's serializer with an explicit list of types, its bytes compressed."""

    def __init__(self) -> None:
        self._inner = JsonPlusSerializer(allowed_msgpack_modules=ALLOWED)

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        """Return a type that says whether the bytes are compressed, and the bytes."""
        return deflate(*self._inner.dumps_typed(obj))

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        """Return what was dumped."""
        plain = inflate(*data)
        try:
            return self._inner.loads_typed(plain)
        except (ValueError, TypeError, LookupError, AttributeError, NotImplementedError) as error:
            raise DamagedRecord(error) from error


class _UndoingCursor(sqlite3.Cursor):
    """Undoes everything that was not committed when a statement fails: the saver's next one begins anew."""

    def execute(self, *words: Any) -> Self:
        """Run one statement, or undo."""
        return _undo_failed(self.connection, lambda: super(_UndoingCursor, self).execute(*words))

    def executemany(self, *words: Any) -> Self:
        """Run one statement for each row, or none."""
        return _undo_failed(self.connection, lambda: super(_UndoingCursor, self).executemany(*words))


class _UndoingConnection(sqlite3.Connection):
    """LangGraph's saver in our own transactions: a write is complete or absent, and blocks no writer."""

    def cursor(self, *_: Any) -> sqlite3.Cursor:  # type: ignore[override]
        """Return a cursor that undoes."""
        return super().cursor(_UndoingCursor)

    def commit(self) -> None:
        """Commit, or undo."""
        _undo_failed(self, super().commit)


def _undo_failed(connection: sqlite3.Connection, work: Callable[[], T]) -> T:
    try:
        return work()
    except sqlite3.Error:
        connection.rollback()
        raise


@asynccontextmanager
async def server_checkpointer() -> AsyncIterator[Saver]:
    """Open the saver of the environment's database for `langgraph.json`, and thin runs while it is open.

    The command line and the facade thin a run after each round; a server works on the graph alone.
    """
    database = (await asyncio.to_thread(load_settings)).database
    async with checkpointer(database) as saver:
        thinning = asyncio.create_task(_keep_thin(open_storage(database)))
        try:
            yield saver
        finally:
            thinning.cancel()
            with suppress(asyncio.CancelledError):
                await thinning


async def thin_runs(storage: Storage) -> None:
    """Thin every run that has steps of rounds that are long over."""
    for run in await storage.checkpoints.runs_longer_than(_LONG_STEPS):
        await storage.checkpoints.thin(run)


async def _keep_thin(storage: Storage) -> None:
    while True:
        try:
            await thin_runs(storage)
        except (sqlite3.Error, DatabaseError) as error:
            _log.warning("Old checkpoints could not be thinned out: %s", error)
        await asyncio.sleep(_THIN_EVERY_S)


@asynccontextmanager
async def checkpointer(database: Place | str | None = None) -> AsyncIterator[Saver]:
    """Open the saver of a database, or of the environment's; command line, facade and server share it."""
    place = place_of(database if database is not None else (await asyncio.to_thread(load_settings)).database)
    try:
        async with _open_sqlite(place) if isinstance(place, Path) else _open_postgres(place) as saver:
            yield saver
    finally:
        await close_storage(place)


@asynccontextmanager
async def _open_sqlite(path: Path) -> AsyncIterator[Saver]:
    await asyncio.to_thread(prepare_database, path)
    async with aiosqlite.connect(path, timeout=BUSY_TIMEOUT_S, factory=_UndoingConnection) as connection:
        saver = AsyncSqliteSaver(connection, serde=CompressedSerializer())
        await saver.setup()
        await connection.execute("pragma synchronous=normal")
        yield saver


@asynccontextmanager
async def _open_postgres(address: DatabaseAddress) -> AsyncIterator[Saver]:
    storage = open_storage(address)  # says in one sentence which packages are missing
    from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver

    from fathom.storage.postgres import SaverPool

    await storage.runs.shapes()  # makes the tables
    async with SaverPool(address) as pool:
        saver = AsyncPostgresSaver(pool, serde=CompressedSerializer())
        await saver.setup()
        yield saver
