"""Page texts, answers, web pages, context windows and control answers in SQLite.

Does not know how long anything is believed.
"""

import sqlite3
import time
from dataclasses import astuple, dataclass

from fathom.storage.compression import pack_text, unpack_text
from fathom.storage.database import Database
from fathom.storage.records import StoredReply, WebPage


@dataclass(frozen=True)
class SqlitePages:
    """Texts of pages; see `PageStore`."""

    database: Database

    async def put(self, sha: str, text: str) -> None:
        """Keep a text; keeping it again only notes that it is in use."""
        words = "insert into pages values (?, ?, ?) on conflict do update set used_at = excluded.used_at"
        await self.database.write(lambda c: c.execute(words, (sha, pack_text(text), time.time())))

    async def get(self, sha: str) -> str | None:
        """Return the text, or None."""

        def find(connection: sqlite3.Connection) -> str | None:
            row = connection.execute("select body from pages where sha = ?", (sha,)).fetchone()
            return unpack_text(row[0]) if row else None

        return await self.database.read(find)


@dataclass(frozen=True)
class SqliteReplies:
    """Answers of models and search engines; see `ReplyStore`."""

    database: Database

    async def get(self, call: str, run: str, since: float) -> StoredReply | None:
        """Return the run's own answer, else the newest of any run that is not older than `since`."""
        words = (
            "select reply, run, at, is_own from replies where call = ?1 and (run = ?2 or at >= ?3)"
            " order by run = ?2 desc, at desc limit 1"
        )

        def find(connection: sqlite3.Connection) -> StoredReply | None:
            row = connection.execute(words, (call, run, since)).fetchone()
            return StoredReply(unpack_text(row[0]), row[1], row[2], bool(row[3])) if row else None

        return await self.database.read(find)

    async def put(self, call: str, run: str, text: str, at: float, *, is_own: bool) -> None:
        """Keep an answer; the first one stays."""
        words = "insert or ignore into replies values (?, ?, ?, ?, ?)"
        await self.database.write(lambda c: c.execute(words, (call, run, pack_text(text), at, is_own)))


@dataclass(frozen=True)
class SqliteWebPages:
    """Pages of the web; see `WebPageStore`."""

    database: Database

    async def get(self, address: str) -> WebPage | None:
        """Return the page, or None."""
        words = (
            "select document, checked, fresh_s, fetched, etag, modified, content_type, sha from web_pages"
            " where address = ?"
        )

        def find(connection: sqlite3.Connection) -> WebPage | None:
            row = connection.execute(words, (address,)).fetchone()
            return WebPage(unpack_text(row[0]), *row[1:]) if row else None

        return await self.database.read(find)

    async def put(self, address: str, page: WebPage, forget_before: float) -> None:
        """Replace the page, and forget all pages that were checked before that time."""

        def replace(connection: sqlite3.Connection) -> None:
            _, *about = astuple(page)
            words = "insert or replace into web_pages values (?, ?, ?, ?, ?, ?, ?, ?, ?)"
            connection.execute(words, (address, *about, pack_text(page.document)))
            connection.execute("delete from web_pages where checked < ?", (forget_before,))

        await self.database.write(replace)

    async def drop(self, address: str) -> None:
        """Forget one page."""
        await self.database.write(lambda c: c.execute("delete from web_pages where address = ?", (address,)))


@dataclass(frozen=True)
class SqliteWindows:
    """Context windows of models; see `WindowStore`."""

    database: Database

    async def get(self, name: str, said: int | None, since: float, until: float) -> int | None:
        """Return the size that was learnt in that time while the server said `said` of itself."""
        words = "select size from context_windows where name = ? and said is ? and at between ? and ?"

        def find(connection: sqlite3.Connection) -> int | None:
            row = connection.execute(words, (name, said, since, until)).fetchone()
            return int(row[0]) if row else None

        return await self.database.read(find)

    async def put(self, name: str, size: int, said: int | None, at: float, forget_before: float) -> None:
        """Keep a size, and forget what was learnt before that time."""

        def replace(connection: sqlite3.Connection) -> None:
            words = "insert or replace into context_windows values (?, ?, ?, ?)"
            connection.execute(words, (name, size, said, at))
            connection.execute("delete from context_windows where at < ?", (forget_before,))

        await self.database.write(replace)


@dataclass(frozen=True)
class SqliteControls:
    """Answers to controls; see `ControlStore`."""

    database: Database

    async def put(
        self, verifier: str, call: str, right: int, wrong: int, at: float, forget_before: float
    ) -> None:
        """Keep the answers of one call, once, and forget those that were given before that time."""

        def add(connection: sqlite3.Connection) -> None:
            words = "insert or ignore into control_answers values (?, ?, ?, ?, ?)"
            connection.execute(words, (verifier, call, right, wrong, at))
            connection.execute("delete from control_answers where at < ?", (forget_before,))

        await self.database.write(add)

    async def totals(self, verifier: str) -> tuple[int, int]:
        """Return how many answers of a verifier were right, and how many wrong."""
        words = "select total(right), total(wrong) from control_answers where verifier = ?"

        def add_up(connection: sqlite3.Connection) -> tuple[int, int]:
            right, wrong = connection.execute(words, (verifier,)).fetchone()
            return int(right), int(wrong)

        return await self.database.read(add_up)
