"""What lasts: checkpoints, page texts and finished calls, in one SQLite file.

Does not know what a run does. Page texts and replies are kept by hash, compressed, shared by all runs.
"""

import asyncio
import time
import zlib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from uuid import uuid4

import aiosqlite

from fathom.database import BUSY_TIMEOUT_S, let_go, looked_up, opened, prepare, written
from fathom.errors import Unreadable
from fathom.packing import ALLOWED, CompressedSerializer
from fathom.saver import ThriftySqliteSaver
from fathom.settings import load_settings
from fathom.turns import ONE_AT_A_TIME


@asynccontextmanager
async def checkpointer(path: Path | None = None) -> AsyncIterator[ThriftySqliteSaver]:
    """The saver that the command line, the facade and `langgraph.json` share."""
    database = path if path is not None else (await asyncio.to_thread(load_settings)).database
    await asyncio.to_thread(prepare, database)
    serde = CompressedSerializer(allowed_msgpack_modules=ALLOWED)
    try:
        async with aiosqlite.connect(database, timeout=BUSY_TIMEOUT_S) as connection:
            saver = ThriftySqliteSaver(connection, database, serde=serde)
            await saver.setup()
            await connection.execute("pragma synchronous=normal")
            yield saver
    finally:
        await let_go(database)


@dataclass(frozen=True)
class Shelf:
    """A table of compressed texts by key; every call is its own short transaction, safe from any thread."""

    database: Path
    table: str
    key: str
    column: str

    async def put(self, key: str, text: str) -> None:
        """Keep a text; keeping it again changes nothing."""
        await written(self.database, self._put, key, text)

    async def get(self, key: str) -> str | None:
        """The text under a key, or None."""
        return await looked_up(self.database, self._get, key)

    def _put(self, key: str, text: str) -> None:
        body = zlib.compress(text.encode("utf-8", "replace"), 9)
        words = f"insert or ignore into {self.table} ({self.key}, {self.column}) values (?, ?)"  # noqa: S608
        with opened(self.database) as connection:
            connection.execute(words, (key, body))
            # Who cleans up meanwhile must know that somebody is about to refer to it.
            connection.execute("insert or replace into seen values (?, ?)", (key, time.time()))

    def _get(self, key: str) -> str | None:
        words = f"select {self.column} from {self.table} where {self.key} = ?"  # noqa: S608
        with opened(self.database) as connection:
            row = connection.execute(words, (key,)).fetchone()
        return zlib.decompress(row[0]).decode() if row else None


@dataclass(frozen=True)
class Pages:
    """Texts of pages that were read, by the hash of the text."""

    shelf: Shelf

    async def put(self, text: str) -> str:
        """Keep a page's text and name it."""
        sha = sha256(text.encode("utf-8", "replace")).hexdigest()
        await self.shelf.put(sha, text)
        return sha

    async def get(self, sha: str) -> str:
        """The text that was kept."""
        text = await self.shelf.get(sha)
        if text is None:
            raise Unreadable(f"The text of page {sha[:12]} is no longer in the database.")
        return text


@dataclass(frozen=True)
class PageLeases:
    """What the branches of a run share; every call is its own short transaction, safe from any thread."""

    database: Path

    async def begin(self) -> str:
        """A name for a run; it is kept in the run's state, so that a resumed run has the same."""
        return uuid4().hex

    async def take(self, run: str, branch: str, addresses: Sequence[str], most: int) -> list[str]:
        """The first addresses that are the branch's; one that was taken before a crash still is."""
        return await written(self.database, self._take, run, branch, addresses, most)

    def _take(self, run: str, branch: str, addresses: Sequence[str], most: int) -> list[str]:
        mine: list[str] = []
        with opened(self.database) as connection:
            for address in addresses:
                if len(mine) == most:
                    break
                connection.execute("insert or ignore into taken values (?, ?, ?)", (run, address, branch))
                words = "select branch from taken where run = ? and address = ?"
                if connection.execute(words, (run, address)).fetchone()[0] == branch:
                    mine.append(address)
        return mine


@dataclass(frozen=True)
class Reply:
    """What a model or an engine answered; `is_own` if it was the run that asks who sent the call."""

    text: str
    is_own: bool


@dataclass(frozen=True)
class Replies:
    """Finished calls: those of the run always, those of other runs if shared and not older than `max_age_s`.

    What was taken from another run stays with the run that took it, however long it is resumed.
    """

    database: Path
    run: str = ""
    is_shared: bool = True
    max_age_s: float = float("inf")

    def within(self, run: str) -> "Replies":
        """The same for one run."""
        return replace(self, run=run)

    def alone(self, call: str) -> asyncio.Lock:
        """Whoever asks the same at the same time waits, and finds what the first was answered."""
        return ONE_AT_A_TIME(call if self.is_shared else f"{self.run} {call}")

    async def get(self, call: str) -> Reply | None:
        """The reply that was kept, or None."""
        row = await looked_up(self.database, self._get, call)
        if row is None:
            return None
        run, text, at, is_own = row
        if run != self.run:
            await written(self.database, self._put, call, text, at, False)
        return Reply(text, run == self.run and bool(is_own))

    async def put(self, call: str, text: str, *, is_for_others: bool = True) -> None:
        """Keep a reply; keeping it again changes nothing. What is not for others is too old for them."""
        at = time.time() if is_for_others else 0.0
        await written(self.database, self._put, call, text, at, True)

    def _get(self, call: str) -> tuple[str, str, float, int] | None:
        words = (
            "select run, reply, at, is_own from replies where call = ? and (run = ? or at >= ?)"
            " order by run = ? desc, at desc limit 1"
        )
        since = time.time() - self.max_age_s if self.is_shared else float("inf")
        with opened(self.database) as connection:
            found: tuple[str, bytes, float, int] | None
            found = connection.execute(words, (call, self.run, since, self.run)).fetchone()
        return (found[0], zlib.decompress(found[1]).decode(), *found[2:]) if found else None

    def _put(self, call: str, text: str, at: float, is_own: bool) -> None:
        row = (call, self.run, zlib.compress(text.encode("utf-8", "replace"), 6), at, is_own)
        with opened(self.database) as connection:
            connection.execute("insert or ignore into replies values (?, ?, ?, ?, ?)", row)


def pages(database: Path) -> Pages:
    """The page texts of a database."""
    return Pages(Shelf(database, "pages", "sha", "body"))


def replies(database: Path, *, is_shared: bool = True, max_age_s: float = float("inf")) -> Replies:
    """The finished calls of a database."""
    return Replies(database, is_shared=is_shared, max_age_s=max_age_s)
