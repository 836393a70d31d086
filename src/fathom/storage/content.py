"""Page texts, replies, web pages and control answers."""

import asyncio
import time
from dataclasses import astuple, dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING

from fathom.concurrency import ONE_AT_A_TIME
from fathom.errors import Unreadable
from fathom.storage.records import (
    Connection,
    StoredReply,
    Table,
    WebPage,
    pack_text,
    replace_row,
    unpack_text,
)

if TYPE_CHECKING:
    from fathom.storage import Storage

_REPLACE_PAGE = replace_row(
    "web_pages",
    "address",
    *("checked", "fresh_s", "fetched", "etag", "modified", "content_type", "sha", "document"),
)


class PageTable(Table):
    """Texts of pages, by the hash of the text."""

    async def put(self, text: str) -> str:
        """Store a text and return its hash; storing it again only marks it as in use."""
        sha = sha256(text.encode("utf-8", "replace")).hexdigest()
        words = (
            "insert into pages values (?, ?, ?) on conflict (sha) do update set used_at = excluded.used_at"
        )
        await self._write(words, sha, pack_text(text), time.time())
        return sha

    async def get(self, sha: str) -> str:
        """Return the text; raise Unreadable if it was removed."""
        text = await self.find(sha)
        if text is None:
            raise Unreadable(f"The text of page {sha[:12]} is no longer in the database.")
        return text

    async def names(self) -> set[str]:
        """Return the hashes of all stored texts."""
        return {sha for (sha,) in await self._rows("select sha from pages")}

    async def find(self, sha: str) -> str | None:
        """Return the text, or None."""
        rows = await self._rows("select body from pages where sha = ?", sha)
        return unpack_text(rows[0][0]) if rows else None


class ReplyTable(Table):
    """Replies of models and search engines, by call and by the run that got them; see `Replies`."""

    async def get(self, call: str, run: str, since: float) -> StoredReply | None:
        """Return the run's own reply, else the newest of any run since that time."""
        words = (
            "select reply, run, at, is_own from replies where call = ? and (run = ? or at >= ?)"
            " order by run = ? desc, at desc limit 1"
        )
        rows = await self._rows(words, call, run, since, run)
        return (
            StoredReply(unpack_text(rows[0][0]), rows[0][1], rows[0][2], bool(rows[0][3])) if rows else None
        )

    async def put(self, call: str, run: str, text: str, at: float, *, is_own: bool) -> None:
        """Store a reply; the first one stays."""
        words = "insert into replies values (?, ?, ?, ?, ?) on conflict do nothing"
        await self._write(words, call, run, pack_text(text), at, int(is_own))


@dataclass(frozen=True)
class CachedReply:
    """What a model or an engine answered; `is_own` if it was the run that asks who sent the call."""

    text: str
    is_own: bool


@dataclass(frozen=True)
class Replies:
    """Finished calls: the run's own always, those of other runs if shared and not older than `max_age_s`.

    A reply taken from another run is stored for the run that took it too, so that a resume finds it.
    """

    storage: "Storage"
    run: str = ""
    is_shared: bool = True
    max_age_s: float = float("inf")

    def within(self, run: str) -> "Replies":
        """Return the same for one run."""
        return replace(self, run=run)

    def alone(self, call: str) -> asyncio.Semaphore:
        """Return a lock on a call: the same call at the same time waits, and finds the first one's reply."""
        return ONE_AT_A_TIME(call if self.is_shared else f"{self.run} {call}")

    async def get(self, call: str) -> CachedReply | None:
        """Return the stored reply, or None."""
        replies = self.storage.replies
        since = time.time() - self.max_age_s if self.is_shared else float("inf")
        found = await replies.get(call, self.run, since)
        if found is None:
            return None
        if found.run != self.run:
            await replies.put(call, self.run, found.text, found.at, is_own=False)
        return CachedReply(found.text, found.run == self.run and found.is_own)

    async def put(self, call: str, text: str, *, is_for_others: bool = True) -> None:
        """Store a reply; the first one stays. One that is not for others is stored as too old for them."""
        at = time.time() if is_for_others else 0.0
        await self.storage.replies.put(call, self.run, text, at, is_own=True)


class WebPageTable(Table):
    """Web pages as they were last read, by address."""

    async def get(self, address: str) -> WebPage | None:
        """Return the page, or None."""
        words = (
            "select document, checked, fresh_s, fetched, etag, modified, content_type, sha from web_pages"
            " where address = ?"
        )
        rows = await self._rows(words, address)
        return WebPage(unpack_text(rows[0][0]), *rows[0][1:]) if rows else None

    async def put(self, address: str, page: WebPage, forget_before: float) -> None:
        """Replace the page, and delete all pages checked before that time."""

        def replace(connection: Connection) -> None:
            _, *about = astuple(page)
            connection.execute(_REPLACE_PAGE, (address, *about, pack_text(page.document)))
            connection.execute("delete from web_pages where checked < ?", (forget_before,))

        await self.database.write(replace)

    async def drop(self, address: str) -> None:
        """Delete one page."""
        await self._write("delete from web_pages where address = ?", address)


class ControlTable(Table):
    """How verifiers judged the controls among their claims, by call."""

    async def put(
        self, verifier: str, call: str, right: int, wrong: int, at: float, forget_before: float
    ) -> None:
        """Store the answers of one call once, and delete answers given before that time."""

        def add(connection: Connection) -> None:
            words = "insert into control_answers values (?, ?, ?, ?, ?) on conflict do nothing"
            connection.execute(words, (verifier, call, right, wrong, at))
            connection.execute("delete from control_answers where at < ?", (forget_before,))

        await self.database.write(add)

    async def totals(self, verifier: str) -> tuple[int, int]:
        """Return how many answers of a verifier were right and wrong."""
        words = """select coalesce(sum("right"), 0), coalesce(sum(wrong), 0)
            from control_answers where verifier = ?"""
        ((right, wrong),) = await self._rows(words, verifier)
        return int(right), int(wrong)
