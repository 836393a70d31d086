"""The default web reader: guarded, polite, with limits and a cache; reads papers in full."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

from fathom.concurrency import PerLoop
from fathom.errors import ProviderError, Refused, Unreadable
from fathom.http.fetch import Fetcher, make_polite
from fathom.http.retry import RetryPolicy, retry
from fathom.reading.cache import CachedReader, PageCache, PdfStore
from fathom.reading.documents import parse_in_thread
from fathom.reading.protocol import Document, Parse, Reader
from fathom.reading.sandbox import BoundedParser, parser_pool
from fathom.state import Hit
from fathom.storage import Storage
from fathom.tracing import TracedRun

ARXIV_URL = "https://arxiv.org"
_ARXIV_HOSTS = frozenset({"arxiv.org", "www.arxiv.org", "export.arxiv.org"})
_ARXIV_ABSTRACT = re.compile(r"/abs/((?:[a-z.-]+/\d{7}|\d{4}\.\d{4,5})(?:v\d+)?)/?", re.IGNORECASE)


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
        self,
        *,
        is_fresh_wanted: bool = False,
        has_papers: bool = True,
        policy: RetryPolicy | None = None,
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
