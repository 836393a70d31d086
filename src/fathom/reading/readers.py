"""The default web reader: guarded, polite, with limits and a cache; reads papers in full.

Pages are cached between runs, one row per address in the database. They are revalidated when they may have
changed, and downloaded only if they did. If the cache fails, the page is fetched again.
"""

import asyncio
import json
import logging
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from pydantic import TypeAdapter

from fathom.concurrency import ONE_AT_A_TIME, PerLoop
from fathom.errors import BadInput, ProviderError, Refused, Unreadable
from fathom.http import RetryPolicy, retry
from fathom.http.fetch import Fetch, Fetcher, FetchResult, make_polite
from fathom.http.guard import check_address
from fathom.http.urls import canonical_address
from fathom.reading import Document, Parse, Reader
from fathom.reading.parsers import parse_in_thread
from fathom.reading.sandbox import BoundedParser, parser_pool
from fathom.state import Hit
from fathom.storage import STORAGE_ERRORS, Storage
from fathom.storage.files import PdfStore
from fathom.storage.records import WebPage
from fathom.tracing import TracedRun

ARXIV_URL = "https://arxiv.org"
_ARXIV_HOSTS = frozenset({"arxiv.org", "www.arxiv.org", "export.arxiv.org"})
_ARXIV_ABSTRACT = re.compile(r"/abs/((?:[a-z.-]+/\d{7}|\d{4}\.\d{4,5})(?:v\d+)?)/?", re.IGNORECASE)
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


@dataclass(frozen=True)
class PaperReader:
    """Reads a paper rather than the page that announces it; other hits pass as they are."""

    reader: Reader
    arxiv: str = ARXIV_URL

    async def __call__(self, hit: Hit) -> Document:
        """The fullest text that can be had; the error of the page itself if there is none."""
        for address in self._fuller_addresses(hit):
            try:
                found = await self.reader(hit.model_copy(update={"address": address}))
            except ProviderError:
                continue  # the next place may have it, and the last one tells what is wrong
            # A PDF's own title and date are its typesetter's; the engine's are the paper's.
            return replace(found, title=hit.title or found.title, published=hit.published or found.published)
        return await self.reader(hit.model_copy(update={"address": self._plain(hit)}))

    def _fuller_addresses(self, hit: Hit) -> list[str]:
        paper = self._paper(hit.address)
        if paper:
            return [f"{self.arxiv}/pdf/{paper}", f"{self.arxiv}/html/{paper}"]
        return [hit.pdf] if hit.pdf and hit.pdf != hit.address else []

    def _plain(self, hit: Hit) -> str:
        paper = self._paper(hit.address)
        return f"{self.arxiv}/abs/{paper}" if paper else hit.address

    def _paper(self, address: str) -> str:
        """The paper an address is the abstract of, with its version if it names one."""
        try:
            parts = urlsplit(address)
        except ValueError:
            return ""
        found = _ARXIV_ABSTRACT.fullmatch(parts.path) if parts.hostname in _ARXIV_HOSTS else None
        return found.group(1) if found else ""


@dataclass(frozen=True)
class DeliveredReader:
    """Reads the text that an engine delivered with a hit, as a page that was fetched; other hits are fetched.

    A paper is fetched all the same where its full text can be had: engines deliver its abstract.
    """

    reader: Reader
    find: Callable[[str], Awaitable[str | None]]
    parse: Parse = parse_in_thread

    async def __call__(self, hit: Hit) -> Document:
        """The document; from the web, if the text that was delivered is gone or cannot be read."""
        if not hit.delivered or hit.pdf:
            return await self.reader(hit)
        text = await self.find(hit.delivered)
        if not text:
            return await self.reader(hit)
        async with TracedRun("tool", "fetch", hit.address, engine=hit.engine, is_reused=True) as run:
            try:
                read = await self.parse(text.encode(), content_type="text/markdown", name=hit.address)
            except Unreadable:
                return await self.reader(hit)
            run.output = {"title": hit.title, "chars": len(read.text), "how": "delivered"}
        return replace(read, title=hit.title or read.title, how="delivered")


@cache
def reader_slots(at_once: int) -> PerLoop[asyncio.Semaphore]:
    """So many places to read at, shared by all runs of an event loop."""
    return PerLoop(lambda: asyncio.Semaphore(at_once))


@dataclass(frozen=True)
class LimitedReader:
    """Waits for a free place, then reads."""

    reader: Reader
    places: PerLoop[asyncio.Semaphore]

    async def __call__(self, hit: Hit) -> Document:
        """The document behind one hit."""
        async with self.places():
            return await self.reader(hit)


@dataclass(frozen=True)
class FileReader:
    """Reads `file://` addresses, only inside its roots and only after following every link."""

    roots: tuple[Path, ...]
    max_bytes: int = 20 * 1024 * 1024
    parse: Parse = parse_in_thread

    async def __call__(self, hit: Hit) -> Document:
        """The document in a file."""
        path, body = await asyncio.to_thread(self._read, hit.address)
        return await self.parse(body, content_type=None, name=str(path))

    def _read(self, address: str) -> tuple[Path, bytes]:
        path = self._check_inside_roots(address)
        try:
            if not path.is_file():
                raise Unreadable(f"{path} is not a file")
            if path.stat().st_size > self.max_bytes:
                raise Unreadable(f"{path} is larger than {self.max_bytes:,} bytes")
            return path, path.read_bytes()
        except OSError as error:
            raise Unreadable(f"{path} cannot be opened: {error.strerror}") from error

    def _check_inside_roots(self, address: str) -> Path:
        parts = urlsplit(address)
        if parts.scheme != "file" or parts.netloc not in {"", "localhost"} or "\0" in unquote(parts.path):
            raise Refused(f"{address} is not a file of this machine")
        try:
            path = Path(unquote(parts.path)).resolve()
            roots = [root.resolve() for root in self.roots]
        except (OSError, RuntimeError) as error:
            raise Unreadable(f"{address} cannot be opened: {error}") from error
        if not any(path.is_relative_to(root) for root in roots):
            raise Refused(f"{path} is outside the folders that may be read")
        return path


@dataclass(frozen=True)
class RoutingReader:
    """Chooses by the address: files here, what others keep with them, the rest on the web."""

    files: Reader
    web: Reader
    others: Mapping[str, Reader] = field(default_factory=dict)

    async def __call__(self, hit: Hit) -> Document:
        """The document, wherever it is."""
        scheme = hit.address.partition(":")[0].lower()
        reader = self.files if scheme == "file" else self.others.get(scheme, self.web)
        return await reader(hit)


@dataclass(frozen=True)
class RetryingReader:
    """A reader that is asked again when the page is unavailable."""

    reader: Reader
    policy: RetryPolicy = field(default_factory=RetryPolicy)

    async def __call__(self, hit: Hit) -> Document:
        """Return the document behind one hit."""
        return await retry(lambda: self.reader(hit), self.policy)


@dataclass(frozen=True)
class WebAccess:
    """What all runs of a process share when they read the web."""

    fetch: Fetcher
    parse: Parse
    cache: PageCache
    pdf_store: PdfStore
    arxiv: str = ARXIV_URL

    def reader(
        self, *, is_fresh_wanted: bool = False, has_papers: bool = True, policy: RetryPolicy | None = None
    ) -> Reader:
        """A reader for one run, which tries again when a page is unavailable; of papers their full text."""
        once = CachedReader(
            self.fetch,
            self.cache,
            parse=self.parse,
            is_fresh_wanted=is_fresh_wanted,
            pdf_store=self.pdf_store,
        )
        again = RetryingReader(once, policy or RetryPolicy())
        return PaperReader(again, self.arxiv) if has_papers else again


def open_web(
    storage: Storage,
    pdf_store: Path,
    *,
    is_private_allowed: bool = False,
    is_robots_obeyed: bool = True,
    is_proxied: bool = False,
    pause_s: float = 0.5,
    parse: Parse | None = None,
    arxiv: str = ARXIV_URL,
) -> WebAccess:
    """Return the web reader of this process, with pages cached in a storage and PDFs in a folder."""
    fetcher = Fetcher(is_private_allowed=is_private_allowed, is_proxied=is_proxied)
    return WebAccess(
        fetch=make_polite(fetcher, pause_s=pause_s, is_robots_obeyed=is_robots_obeyed),
        parse=parse or BoundedParser(parser_pool()),
        cache=PageCache(storage),
        pdf_store=PdfStore(pdf_store, storage.papers),
        arxiv=arxiv.rstrip("/"),
    )
