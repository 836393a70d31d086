"""Page texts, page leases and finished calls, as a run uses them.

Does not know how they are kept: `fathom.storage` does.
"""

import asyncio
import time
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Protocol, Self
from uuid import uuid4

from fathom.concurrency import ONE_AT_A_TIME
from fathom.errors import Unreadable
from fathom.storage import Storage


class KeptReply(Protocol):
    """A reply that was kept."""

    @property
    def text(self) -> str:
        """The reply."""

    @property
    def is_own(self) -> bool:
        """Whether the run that asks has paid for it, and not another one."""


class ReplyCache(Protocol):
    """Where replies are kept, for the run that got them and perhaps for others."""

    def within(self, run: str) -> Self:
        """The same for one run."""

    def alone(self, call: str) -> AbstractAsyncContextManager[object]:
        """Whoever asks the same at the same time waits, and finds what the first was answered."""

    async def get(self, call: str) -> KeptReply | None:
        """The reply that was kept, or None."""

    async def put(self, call: str, text: str, *, is_for_others: bool = True) -> None:
        """Keep a reply."""


@dataclass(frozen=True)
class PageTexts:
    """Texts of pages that were read, by the hash of the text."""

    storage: Storage

    async def put(self, text: str) -> str:
        """Keep a page's text and return its name."""
        sha = sha256(text.encode("utf-8", "replace")).hexdigest()
        await self.storage.pages.put(sha, text)
        return sha

    async def get(self, sha: str) -> str:
        """Return the text that was kept."""
        text = await self.storage.pages.get(sha)
        if text is None:
            raise Unreadable(f"The text of page {sha[:12]} is no longer in the database.")
        return text


@dataclass(frozen=True)
class PageLeases:
    """Which branch of a run reads which page."""

    storage: Storage

    async def begin(self) -> str:
        """Return a name for a run; it is kept in the run's state, so that a resumed run has the same."""
        return uuid4().hex

    async def take(self, run: str, branch: str, addresses: Sequence[str], most: int) -> list[str]:
        """Return the first addresses that are the branch's; one that was taken before a crash still is."""
        return await self.storage.leases.take(run, branch, addresses, most)


@dataclass(frozen=True)
class CachedReply:
    """What a model or an engine answered; `is_own` if it was the run that asks who sent the call."""

    text: str
    is_own: bool


@dataclass(frozen=True)
class Replies:
    """Finished calls: those of the run always, those of other runs if shared and not older than `max_age_s`.

    What was taken from another run stays with the run that took it, however long it is resumed.
    """

    storage: Storage
    run: str = ""
    is_shared: bool = True
    max_age_s: float = float("inf")

    def within(self, run: str) -> "Replies":
        """Return the same for one run."""
        return replace(self, run=run)

    def alone(self, call: str) -> asyncio.Semaphore:
        """Return one place: who asks the same at the same time waits, and finds the first one's answer."""
        return ONE_AT_A_TIME(call if self.is_shared else f"{self.run} {call}")

    async def get(self, call: str) -> CachedReply | None:
        """Return the reply that was kept, or None."""
        replies = self.storage.replies
        since = time.time() - self.max_age_s if self.is_shared else float("inf")
        found = await replies.get(call, self.run, since)
        if found is None:
            return None
        if found.run != self.run:
            await replies.put(call, self.run, found.text, found.at, is_own=False)
        return CachedReply(found.text, found.run == self.run and found.is_own)

    async def put(self, call: str, text: str, *, is_for_others: bool = True) -> None:
        """Keep a reply; keeping it again changes nothing. What is not for others is too old for them."""
        at = time.time() if is_for_others else 0.0
        await self.storage.replies.put(call, self.run, text, at, is_own=True)


def open_page_texts(storage: Storage) -> PageTexts:
    """Return the page texts of a database."""
    return PageTexts(storage)


def open_replies(storage: Storage, *, is_shared: bool = True, max_age_s: float = float("inf")) -> Replies:
    """Return the finished calls of a database."""
    return Replies(storage, is_shared=is_shared, max_age_s=max_age_s)
