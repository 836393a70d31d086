"""LangGraph's own PostgreSQL saver, whose errors are told as ours are.

Does not know what a run does. What is superseded goes by itself: see `fathom.storage.postgres_layout`.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.checkpoint.serde.base import SerializerProtocol
from psycopg import AsyncConnection, AsyncCursor
from psycopg.rows import DictRow
from psycopg_pool import AsyncConnectionPool

from fathom.settings.database_address import DatabaseAddress
from fathom.storage.postgres import SAVER_OPTIONS, WAIT_S, prepare_server, told_plainly

_CONNECTIONS = 2  # it uses one at a time; another takes the place of one that broke


class PlainlyFailingSaver(AsyncPostgresSaver):
    """The saver, with one sentence in the place of what psycopg raises."""

    def __init__(
        self,
        pool: "AsyncConnectionPool[AsyncConnection[DictRow]]",
        serde: SerializerProtocol,
        address: DatabaseAddress,
    ) -> None:
        super().__init__(pool, serde=serde)
        self._address = address

    @asynccontextmanager
    async def _cursor(self, *, pipeline: bool = False) -> AsyncIterator[AsyncCursor[DictRow]]:
        with told_plainly(self._address):
            async with super()._cursor(pipeline=pipeline) as cursor:
                yield cursor


@asynccontextmanager
async def open_saver(
    address: DatabaseAddress, serde: SerializerProtocol
) -> AsyncIterator[AsyncPostgresSaver]:
    """Open the saver of a server that has our layout."""
    await asyncio.to_thread(prepare_server, address)
    pool: AsyncConnectionPool[Any] = AsyncConnectionPool(
        address.url.get_secret_value(),
        kwargs=SAVER_OPTIONS,
        min_size=1,
        max_size=_CONNECTIONS,
        timeout=WAIT_S,
        num_workers=1,
        check=AsyncConnectionPool.check_connection,
        open=False,
        name="fathom-checkpoints",
    )
    async with pool:
        saver = PlainlyFailingSaver(pool, serde, address)
        await saver.setup()
        yield saver
