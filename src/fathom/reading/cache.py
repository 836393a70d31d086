"""Pages cached between runs: revalidated when they may have changed, and downloaded only if they did.

One row per address in the database. If the cache fails, the page is fetched again.
"""

import asyncio
import json
import logging
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pydantic import TypeAdapter

from fathom.concurrency import ONE_AT_A_TIME
from fathom.errors import BadInput, Unreadable
from fathom.http.fetch import Fetch, FetchResult
from fathom.http.guard import check_address
from fathom.http.urls import canonical_address
from fathom.reading.documents import parse_in_thread
from fathom.reading.protocol import Document, Parse
from fathom.state import Hit
from fathom.storage import STORAGE_ERRORS, Storage
from fathom.storage.files import replace_file
from fathom.storage.records import WebPage
from fathom.tracing import TracedRun

if TYPE_CHECKING:
    from fathom.storage.postgres_server import PaperTable


@dataclass(frozen=True)
class PdfStore:
    """A folder of PDFs by the hash of their text; keeping one again changes nothing."""

    folder: Path
    shared: "PaperTable | None" = None  # for other machines, which have no such folder

    async def keep(self, text: str, body: bytes) -> None:
        """Keep a PDF under the hash of the text that was read out of it."""
        sha = sha256(text.encode("utf-8", "replace")).hexdigest()
        await asyncio.to_thread(self._keep, sha, body)
        if self.shared:
            await self.shared.put(sha, body)

    async def find(self, sha: str) -> Path | None:
        """Return the PDF whose text has that hash, if this or another machine stored it."""
        place = self._place(sha)
        if await asyncio.to_thread(place.is_file):
            return place
        body = await self.shared.get(sha) if self.shared else None
        if body is None:
            return None
        await asyncio.to_thread(self._keep, sha, body)
        return place

    def _keep(self, sha: str, body: bytes) -> None:
        place = self._place(sha)
        if not place.exists():
            replace_file(place, body)

    def _place(self, sha: str) -> Path:
        return self.folder / f"{sha}.pdf"


_log = logging.getLogger(__name__)
_UNWRITABLE: tuple[type[Exception], ...] = (BadInput, OSError, *STORAGE_ERRORS)
_DAMAGED: tuple[type[Exception], ...] = (*_UNWRITABLE, ValueError, TypeError, KeyError)
_MAX_KEPT_S = 30 * 24 * 3600.0
_LONGEST_FRESH_S = 7 * 24 * 3600.0
_DOCUMENT = TypeAdapter(Document)
_MAX_AGE = re.compile(r"(?:^|[\s,])max-age=\"?(\d{1,9})")


class CachedPage(NamedTuple):
    """A page as it was read, and its row, with what its server said about keeping it."""

    document: Document
    row: WebPage

    @property
    def conditions(self) -> dict[str, str]:
        """What to tell the server so that it sends the page only if it is another one."""
        said = {"If-None-Match": self.row.etag, "If-Modified-Since": self.row.modified}
        return {name: value for name, value in said.items() if value}


@dataclass(frozen=True)
class PageCache:
    """The pages of the web that a storage keeps."""

    storage: Storage

    async def get(self, address: str) -> CachedPage | None:
        """What is known of an address; nothing if the row is damaged or the database will not say."""
        try:
            row = await self.storage.web_pages.get(page_key(address))
            return CachedPage(_DOCUMENT.validate_json(row.document), row) if row else None
        except _DAMAGED as error:
            _log.warning("The kept copy of %s cannot be used: %s", address, error)
            return None

    async def put(self, address: str, row: WebPage) -> None:
        """Store a page, replacing an older one; a full disk is only logged."""
        try:
            await self.storage.web_pages.put(page_key(address), row, row.checked - _MAX_KEPT_S)
        except _UNWRITABLE as error:
            _log.warning("%s cannot be kept for later: %s", address, error)

    async def drop(self, address: str) -> None:
        """Forget a page."""
        try:
            await self.storage.web_pages.drop(page_key(address))
        except _UNWRITABLE as error:
            _log.warning("The kept copy of %s cannot be removed: %s", address, error)


@dataclass(frozen=True)
class CachedReader:
    """A web reader that remembers; `is_fresh_wanted` asks every server again, and keeps what it says."""

    fetch: Fetch
    cache: PageCache
    parse: Parse = parse_in_thread
    fresh_s: float = 24 * 3600.0
    is_fresh_wanted: bool = False
    clock: Callable[[], float] = time.time
    pdf_store: PdfStore | None = None

    async def __call__(self, hit: Hit) -> Document:
        """The document behind a web address, as it was read before if it may still be the same.

        Whoever wants the page that another run is reading waits, and finds it kept.
        """
        async with TracedRun("tool", "fetch", hit.address, engine=hit.engine) as run:
            document = await self._read_page(hit, run)
            run.output = {"title": document.title, "chars": len(document.text), "how": document.how}
        return document

    async def _read_page(self, hit: Hit, run: TracedRun) -> Document:
        check_address(hit.address)
        if self.is_fresh_wanted:
            return await self._fetch_page(hit, None, run)
        async with ONE_AT_A_TIME(f"{self.cache.storage.name} {page_key(hit.address)}"):
            return await self._fetch_page(hit, await self.cache.get(hit.address), run)

    async def _fetch_page(self, hit: Hit, kept: CachedPage | None, run: TracedRun) -> Document:
        is_fresh = kept is not None and 0 <= self.clock() - kept.row.checked < kept.row.fresh_s
        run.note(is_reused=is_fresh, cost_usd=0.0)
        if kept is not None and is_fresh:
            return replace(kept.document, fetched=kept.row.fetched)
        fetched = await self.fetch(hit.address, kept.conditions if kept else {})
        run.note(status=fetched.status, bytes=len(fetched.body))
        if kept is not None and fetched.status == 304:
            row = replace(kept.row, checked=self.clock(), fresh_s=self._fresh_s(fetched.headers))
            await self.cache.put(hit.address, row)
            return replace(kept.document, fetched=row.fetched)
        return await self._read(hit.address, fetched, kept)

    async def _read(self, address: str, fetched: FetchResult, kept: CachedPage | None) -> Document:
        sha = sha256(fetched.body).hexdigest()
        is_same = kept is not None and (kept.row.sha, kept.row.content_type) == (sha, fetched.content_type)
        try:
            document = (
                kept.document
                if kept is not None and is_same
                else await self.parse(fetched.body, content_type=fetched.content_type, name=fetched.address)
            )
        except Unreadable:
            await self.cache.drop(address)  # what was there before is gone from the web
            raise
        if self.pdf_store is not None and document.how == "pdf":
            await self.pdf_store.keep(document.text, fetched.body)
        if "no-store" in fetched.headers.get("cache-control", "").lower():
            await self.cache.drop(address)
            return document
        now = self.clock()
        await self.cache.put(
            address,
            WebPage(
                document=json.dumps(asdict(document)),
                checked=now,
                fresh_s=self._fresh_s(fetched.headers),
                fetched=datetime.fromtimestamp(now, UTC).isoformat(timespec="seconds"),
                etag=fetched.headers.get("etag"),
                modified=fetched.headers.get("last-modified"),
                content_type=fetched.content_type,
                sha=sha,
            ),
        )
        return document

    def _fresh_s(self, headers: Mapping[str, str]) -> float:
        """How long the page need not be asked for: what the server says, or else our own guess."""
        said = headers.get("cache-control", "").lower()
        if "no-cache" in said:
            return 0.0
        found = _MAX_AGE.search(said)
        return min(float(found.group(1)), _LONGEST_FRESH_S) if found else self.fresh_s


def page_key(address: str) -> str:
    """Return the key of a page: its canonical address, but different for a paper and its abstract."""
    key = canonical_address(address)
    return address.partition("#")[0] if key.startswith("https://arxiv.org/abs/") else key


PDF_FOLDER = "papers"
