"""Page texts, answers, web pages, context windows and control answers in tables.

Does not know how long anything is believed.
"""

import time
from dataclasses import astuple

from fathom.storage.compression import pack_text, unpack_text
from fathom.storage.records import StoredReply, WebPage
from fathom.storage.sql import Connection, Table, replace_row

_REPLACE_PAGE = replace_row(
    "web_pages",
    "address",
    *("checked", "fresh_s", "fetched", "etag", "modified", "content_type", "sha", "document"),
)
_REPLACE_WINDOW = replace_row("context_windows", "name", "size", "said", "at")


class PageTable(Table):
    """Texts of pages, by the hash of the text."""

    async def put(self, sha: str, text: str) -> None:
        """Keep a text; keeping it again only notes that it is in use."""
        words = (
            "insert into pages values (?, ?, ?) on conflict (sha) do update set used_at = excluded.used_at"
        )
        await self._write(words, sha, pack_text(text), time.time())

    async def get(self, sha: str) -> str | None:
        """Return the text, or None."""
        rows = await self._rows("select body from pages where sha = ?", sha)
        return unpack_text(rows[0][0]) if rows else None


class ReplyTable(Table):
    """Answers of models and search engines, by call and by the run that got them."""

    async def get(self, call: str, run: str, since: float) -> StoredReply | None:
        """Return the run's own answer, else the newest of any run that is not older than `since`."""
        words = (
            "select reply, run, at, is_own from replies where call = ? and (run = ? or at >= ?)"
            " order by run = ? desc, at desc limit 1"
        )
        rows = await self._rows(words, call, run, since, run)
        return (
            StoredReply(unpack_text(rows[0][0]), rows[0][1], rows[0][2], bool(rows[0][3])) if rows else None
        )

    async def put(self, call: str, run: str, text: str, at: float, *, is_own: bool) -> None:
        """Keep an answer; the first one stays."""
        words = "insert into replies values (?, ?, ?, ?, ?) on conflict do nothing"
        await self._write(words, call, run, pack_text(text), at, int(is_own))


class WebPageTable(Table):
    """Pages of the web as they were last read, by address."""

    async def get(self, address: str) -> WebPage | None:
        """Return the page, or None."""
        words = (
            "select document, checked, fresh_s, fetched, etag, modified, content_type, sha from web_pages"
            " where address = ?"
        )
        rows = await self._rows(words, address)
        return WebPage(unpack_text(rows[0][0]), *rows[0][1:]) if rows else None

    async def put(self, address: str, page: WebPage, forget_before: float) -> None:
        """Replace the page, and forget all pages that were checked before that time."""

        def replace(connection: Connection) -> None:
            _, *about = astuple(page)
            connection.execute(_REPLACE_PAGE, (address, *about, pack_text(page.document)))
            connection.execute("delete from web_pages where checked < ?", (forget_before,))

        await self.database.write(replace)

    async def drop(self, address: str) -> None:
        """Forget one page."""
        await self._write("delete from web_pages where address = ?", address)


class WindowTable(Table):
    """Context windows of models, as servers have shown them."""

    async def get(self, name: str, said: int | None, since: float, until: float) -> int | None:
        """Return the size that was learnt in that time while the server said `said` of itself."""
        words = (
            "select size from context_windows"
            " where name = ? and coalesce(said, -1) = ? and at between ? and ?"
        )
        rows = await self._rows(words, name, -1 if said is None else said, since, until)
        return int(rows[0][0]) if rows else None

    async def put(self, name: str, size: int, said: int | None, at: float, forget_before: float) -> None:
        """Keep a size, and forget what was learnt before that time."""

        def replace(connection: Connection) -> None:
            connection.execute(_REPLACE_WINDOW, (name, size, said, at))
            connection.execute("delete from context_windows where at < ?", (forget_before,))

        await self.database.write(replace)


class ControlTable(Table):
    """What verifiers made of the controls they were shown, call by call."""

    async def put(
        self, verifier: str, call: str, right: int, wrong: int, at: float, forget_before: float
    ) -> None:
        """Keep the answers of one call, once, and forget those that were given before that time."""

        def add(connection: Connection) -> None:
            words = "insert into control_answers values (?, ?, ?, ?, ?) on conflict do nothing"
            connection.execute(words, (verifier, call, right, wrong, at))
            connection.execute("delete from control_answers where at < ?", (forget_before,))

        await self.database.write(add)

    async def totals(self, verifier: str) -> tuple[int, int]:
        """Return how many answers of a verifier were right, and how many wrong."""
        words = """select coalesce(sum("right"), 0), coalesce(sum(wrong), 0)
            from control_answers where verifier = ?"""
        ((right, wrong),) = await self._rows(words, verifier)
        return int(right), int(wrong)
