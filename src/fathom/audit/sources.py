"""Read what a report cites, and tell a source that never existed from one that cannot be reached now.

A page that is gone (404, no such host, a page that says so) is looked for in the Internet Archive. Only when
the archive answers that it never saw it, the source is called invented; without that answer it is
unreachable.
"""

import asyncio
import re
import socket
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

from pydantic import BaseModel

from fathom.audit import CitedSource, ReadSource, SourceStatus
from fathom.errors import ProviderError
from fathom.evidence.checks import has_phrase
from fathom.evidence.checks.derivation import Passage
from fathom.evidence.grounding import build_passage, describe_context, heading_path, join_passages
from fathom.http.guard import HostUnknown
from fathom.reading import Document, Reader
from fathom.search.api_client import ApiClient
from fathom.search.local_index import list_documents
from fathom.state import Hit, Page, Quote
from fathom.text.messages import Messages
from fathom.text.ranking import score_relevance, terms
from fathom.text.sentences import split_sentences

_GONE = frozenset({404, 410})
_SHORT_PAGE = 1500
_UNKNOWN_HOST = {socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)}
_SNAPSHOT = re.compile(r"(/web/\d{4,14})(?:[a-z]{2}_)?/")
_LEAST_TITLE_WORDS = 3
_SHARED_TITLE = 0.34
_SHARED_WORDS = 0.25
_ROW = re.compile(r"^\|.*\|$", re.MULTILINE)
_WHOLE_CHARS = 3000  # of a source that is shown whole
_AROUND_CHARS = 240
_NEAREST = 3
_LEAST_CHARS = 12  # of a sentence that is compared
_MOST_SPANS = 4000
_SUFFIX = re.compile(r"\.(?:pdf|docx|md|markdown|html?|txt|csv|rst)$", re.IGNORECASE)


@dataclass(frozen=True)
class CitedText:
    """A source that was read: what is told of it, the page for quoting, and its text."""

    about: ReadSource
    page: Page | None = None
    text: str = ""


class SourcePassages:
    """The sentences and table rows of one source that was read."""

    def __init__(self, source: CitedText) -> None:
        assert source.page is not None
        self.about, self.page, self.text = source.about, source.page, source.text

    @cached_property
    def quotes(self) -> list[Quote]:
        """Every sentence and table row, in order."""
        spans = [(span.start, span.end) for span in split_sentences(self.text)]
        spans += [found.span() for found in _ROW.finditer(self.text)]
        kept = sorted(span for span in spans if span[1] - span[0] >= _LEAST_CHARS)[:_MOST_SPANS]
        return [self._quote(start, end) for start, end in kept]

    def nearest(self, statement: str, most: int = _NEAREST) -> list[Quote]:
        """Return the quotes that are most about a statement, best first."""
        scores = score_relevance([statement], [quote.text for quote in self.quotes])[0]
        return [self.quotes[n] for n in sorted(range(len(scores)), key=lambda n: -scores[n])[:most]]

    def describe(self, quotes: Sequence[Quote]) -> str:
        """Return the source as a model sees it: short ones whole, long ones around the quotes."""
        if len(self.text) <= _WHOLE_CHARS:
            return describe_context([self._quote(0, len(self.text))], self.page, self.text, 0)
        opening = self._quote(0, min(len(self.text), _AROUND_CHARS))
        return describe_context([opening, *quotes], self.page, self.text, _AROUND_CHARS)

    def passage(self, quotes: Sequence[Quote]) -> Passage:
        """Return quotes with their context, for the checks."""
        return build_passage(quotes, self.page, self.text)

    def with_heading(self, quote: Quote) -> Quote:
        """Return the quote with the headings it stands under."""
        return quote.model_copy(update={"heading": " > ".join(heading_path(self.text, quote.start))})

    def _quote(self, start: int, end: int) -> Quote:
        return Quote(page=self.page.sha, start=start, end=end, text=self.text[start:end])


class JoinedSources(SourcePassages):
    """Several sources that a statement cites together, read as one."""

    def __init__(self, sources: Sequence[SourcePassages]) -> None:
        self._by_page = {one.page.sha: one for one in sources}
        self.about, self.page = sources[0].about, sources[0].page
        self.text = "\n\n".join(one.text for one in self._by_page.values())

    @cached_property
    def quotes(self) -> list[Quote]:
        """The sentences and table rows of all."""
        return [quote for one in self._by_page.values() for quote in one.quotes]

    def passage(self, quotes: Sequence[Quote]) -> Passage:
        """Return quotes with their context, each from its own source."""
        own = ((one, [q for q in quotes if q.page == sha]) for sha, one in self._by_page.items())
        return join_passages([one.passage(its) for one, its in own if its])


class _Snapshot(BaseModel):
    available: bool = False
    url: str = ""


class _Snapshots(BaseModel):
    closest: _Snapshot | None = None


class _Availability(BaseModel):
    """What `/wayback/available` answers (https://archive.org/help/wayback_api.php)."""

    archived_snapshots: _Snapshots = _Snapshots()


@dataclass(frozen=True)
class SourceReader:
    """Reads cited sources: from the web, from the archive, or from files at hand; tells why not, in words."""

    reader: Reader
    archive_url: str
    say: Messages
    roots: Sequence[Path] = ()

    async def read_all(
        self,
        sources: Sequence[CitedSource],
        statements: dict[str, list[str]],
        tell: Callable[[ReadSource], None],
    ) -> dict[str, CitedText]:
        """Read all sources at once, by id; `statements` are those that cite each."""
        files = await asyncio.to_thread(
            lambda: [Path(name) for name in list_documents(tuple(self.roots)).files]
        )

        async def read(source: CitedSource) -> CitedText:
            citing = statements.get(source.id, [])
            found = await self._read(source, citing, files)
            found = replace(found, about=found.about.model_copy(update={"cited_by": len(citing)}))
            tell(found.about)
            return found

        texts = await asyncio.gather(*(read(source) for source in sources))
        return {found.about.source.id: found for found in texts}

    async def _read(self, source: CitedSource, statements: Sequence[str], files: Sequence[Path]) -> CitedText:
        path = _find_file(source, files)
        if path is None and urlsplit(source.address).scheme not in {"http", "https"}:
            return _unread(
                source, "unreachable", self.say("why.not_web" if source.address else "why.no_address")
            )
        address = path.as_uri() if path else urldefrag(source.address)[0]
        try:
            document = await self.reader(_hit(address, source.label))
        except ProviderError as error:
            if error.status in _GONE:
                return await self._read_archived(source, address, self.say("why.status", status=error.status))
            if _is_host_unknown(error):
                why = self.say("why.no_host", host=urlsplit(address).hostname)
                return await self._read_archived(source, address, why)
            return _unread(source, "unreachable", str(error))
        if path is None and _says_it_is_gone(document):
            return await self._read_archived(source, address, self.say("why.gone"))
        if path is None and _is_other_topic(source, document, statements):
            why = self.say("why.other_topic", title=document.title, label=source.label[:120])
            return _unread(source, "another topic", why, document.title)
        return _read_source(source, document, "read", address)

    async def _read_archived(self, source: CitedSource, address: str, why: str) -> CitedText:
        api = ApiClient("The Internet Archive", self.archive_url)
        try:
            answer = await api.get("/wayback/available", {"url": address}, _Availability)
        except ProviderError as error:
            return _unread(source, "unreachable", f"{why}; {error}")
        copy = answer.archived_snapshots.closest
        if copy is None or not copy.available or not copy.url:
            return _unread(source, "invented", f"{why}; {self.say('why.never_archived')}")
        place = _SNAPSHOT.sub(r"\1id_/", copy.url, count=1)
        try:
            document = await self.reader(_hit(place, source.label))
        except ProviderError as error:
            return _unread(source, "unreachable", f"{why}; {self.say('why.no_copy', error=error)}")
        return _read_source(source, document, "archived", place, why)


async def read_hit(reader: Callable[[Hit], Awaitable[Document]], hit: Hit) -> CitedText | None:
    """Read one search result as a source; None if it cannot be read."""
    try:
        document = await reader(hit)
    except ProviderError:
        return None
    source = CitedSource(id=hit.address, label=hit.title, address=hit.address)
    return _read_source(source, document, "read", hit.address)


def _hit(address: str, title: str) -> Hit:
    return Hit(query="audit", address=address, title=title, snippet="", engine="audit", rank=1)


def _unread(source: CitedSource, status: SourceStatus, why: str, title: str = "") -> CitedText:
    return CitedText(ReadSource(source=source, status=status, why=why, title=title))


def _read_source(
    source: CitedSource, document: Document, status: SourceStatus, address: str, why: str = ""
) -> CitedText:
    sha = sha256(document.text.encode("utf-8", "replace")).hexdigest()
    page = Page(
        sha=sha,
        address=address,
        title=document.title,
        how=document.how,
        chars=len(document.text),
        fetched=document.fetched or "",
        published=document.published,
        author=document.author,
        publisher=document.publisher,
    )
    about = ReadSource(
        source=source,
        status=status,
        why=why,
        title=document.title,
        published=document.published or "",
        page=sha,
        read_at=address,
    )
    return CitedText(about, page, document.text)


def _is_host_unknown(error: ProviderError) -> bool:
    """Tell whether the web says that there is no such host; a failure of ours says nothing."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, HostUnknown):
            found = cause.__cause__
            return not isinstance(found, socket.gaierror) or found.errno in _UNKNOWN_HOST
        cause = cause.__cause__
    return False


def _says_it_is_gone(document: Document) -> bool:
    told = (document.title, document.text[:300])
    return len(document.text) < _SHORT_PAGE and any(has_phrase("gone_page", words) for words in told)


def _is_other_topic(source: CitedSource, document: Document, statements: Sequence[str]) -> bool:
    """Tell whether a page is not the cited one: neither title nor statements have much to do with it."""
    wanted, page = terms(source.label), terms(f"{document.title}\n{document.text}")
    if len(wanted) < _LEAST_TITLE_WORDS or len(wanted & page) / len(wanted) >= _SHARED_TITLE:
        return False
    shares = [len(own & page) / len(own) for own in map(terms, statements) if own]
    return all(share < _SHARED_WORDS for share in shares)


def _find_file(source: CitedSource, files: Sequence[Path]) -> Path | None:
    """Return the file at hand that a citation names: by its name, or by a title like its name."""
    if not files:
        return None
    named = Path(unquote(urlsplit(source.address).path)).name.lower()
    by_name = {path.name.lower(): path for path in reversed(files)}
    if named in by_name:
        return by_name[named]
    by_stem = {_simple(path.stem): path for path in reversed(files)}
    for words in (_SUFFIX.sub("", named), source.label):
        if (found := by_stem.get(_simple(words))) is not None and _simple(words):
            return found
    return None


def _simple(words: str) -> str:
    return re.sub(r"[\W_]+", "", words.lower())
