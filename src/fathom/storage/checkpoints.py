"""LangGraph's own SQLite saver on our database, with one compressing serializer.

Does not know what a run does. What is superseded goes by itself: see `fathom.storage.prune`.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiosqlite
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from fathom import state
from fathom.settings import load_settings
from fathom.storage.compression import deflate, inflate
from fathom.storage.schema import BUSY_TIMEOUT_S, prepare
from fathom.storage.sqlite import close_storage, path_of

# Every type that may stand in a checkpoint: the records that `fathom.state` exports, and the run
# configuration. Anything else comes back as plain data, and a test fails.
ALLOWED = [
    (kind.__module__, kind.__name__)
    for kind in (getattr(state, name) for name in state.__all__)
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
        return self._inner.loads_typed(inflate(*data))


@asynccontextmanager
async def checkpointer(database: Path | str | None = None) -> AsyncIterator[AsyncSqliteSaver]:
    """Open the saver that the command line, the facade and `langgraph.json` share."""
    place = database if database is not None else (await asyncio.to_thread(load_settings)).database
    path = path_of(place)
    await asyncio.to_thread(prepare, path)
    try:
        async with aiosqlite.connect(path, timeout=BUSY_TIMEOUT_S) as connection:
            saver = AsyncSqliteSaver(connection, serde=CompressedSerializer())
            await saver.setup()
            await connection.execute("pragma synchronous=normal")
            yield saver
    finally:
        await close_storage(path)
