"""The `local` engine: finds documents in folders on this machine, with no key and no network.

The first search reads the folders into an index; later ones read only what changed since. Does not know what
questions are asked, and never writes into the folders.
"""

import asyncio
import logging
import re
import sqlite3
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from threading import Lock

from filelock import FileLock, Timeout

from fathom.concurrency import PerLoop
from fathom.errors import Refused, Unavailable
from fathom.reading import parsers
from fathom.search import Capability
from fathom.search.local_index import LocalIndex, ParseFile, PassageMatch, ProgressCallback, list_documents
from fathom.state import Failure, Hit, Query
from fathom.text.normalization import shorten_line
from fathom.text.similarity import embed, is_embeddable
from fathom.text.tokens import query_terms

_log = logging.getLogger(__name__)
_PASSAGES = 200
_RESCORED = 15
_SNIPPET_CHARS = 300
_MEANING_WEIGHT = 0.4
_FURTHER_WEIGHT = 0.05
_NAMED_WEIGHT = 1.5
_DEFINED_WEIGHT = 2.5
_FURTHER_PASSAGES = 4
_LOG_EVERY_S = 5.0
_TERM = re.compile(r"^ *- ([^:\n=`-][^:\n=`]{0,60}): ", re.MULTILINE)  # no option of a command
_BRACKETS = re.compile(r"(?<!\s)\s*\([^)]{0,200}\)")


@dataclass
class _OpenIndex:
    """What one engine has opened; shared by all threads and event loops that use it."""

    opening: Lock = field(default_factory=Lock)
    turn: PerLoop[asyncio.Lock] = field(default_factory=lambda: PerLoop(asyncio.Lock))
    index: LocalIndex | None = None
    unread: list[tuple[str, str]] = field(default_factory=list)


@dataclass(frozen=True)
class LocalEngine:
    """An index of files and folders; two engines or processes may share one `index_home`."""

    roots: tuple[Path, ...]
    index_home: Path
    is_rescored: bool = True
    lock_wait_s: float = 120.0
    parse: ParseFile = parsers.parse_document
    progress: ProgressCallback | None = field(default=None, compare=False)
    name: str = "local"
    capabilities: frozenset[Capability] = frozenset({"local", "content"})
    _session: _OpenIndex = field(default_factory=_OpenIndex, init=False, repr=False, compare=False)

    async def __call__(self, query: Query, *, limit: int) -> list[Hit]:
        """The best files for one query, one hit a file."""
        index = await self._ensure_index()
        best = await asyncio.to_thread(self._search, index, query.text)
        return [
            Hit(
                query=query.id,
                address=Path(found.path).as_uri(),
                title=found.title,
                snippet=shorten_line(found.text, _SNIPPET_CHARS),
                engine=self.name,
                rank=rank,
                published=found.published,
            )
            for rank, found in enumerate(best[:limit], start=1)
        ]

    async def prepare(self) -> int:
        """Bring the index up to date and tell how many documents it holds."""
        index = await self._ensure_index()
        return await asyncio.to_thread(index.manifest.count)

    async def failures(self) -> list[Failure]:
        """The files that could not be read, for the reader of the report."""
        await self._ensure_index()
        return [Failure(where=self.name, what=path, why=why) for path, why in self.unread]

    @property
    def unread(self) -> list[tuple[str, str]]:
        """Path and reason of what could not be read; known after the first search."""
        return list(self._session.unread)

    async def _ensure_index(self) -> LocalIndex:
        """The index, brought up to date by the first who asks while the others wait without a thread."""
        if self._session.index is not None:
            return self._session.index
        async with self._session.turn():
            return await asyncio.to_thread(self._open)

    def _open(self) -> LocalIndex:
        with self._session.opening:
            if self._session.index is None:
                try:
                    self._session.index = self._open_and_sync()
                except (OSError, ValueError, sqlite3.Error) as error:
                    raise Refused(
                        f"the index of {self._named()} cannot be kept in {self.index_home}: {error}"
                    ) from error
            return self._session.index

    def _open_and_sync(self) -> LocalIndex:
        key = "\n".join(sorted(str(root.resolve()) for root in self.roots))
        home = self.index_home / sha256(key.encode("utf-8", "surrogateescape")).hexdigest()[:16]
        self.index_home.mkdir(parents=True, exist_ok=True)
        listing = list_documents(self.roots)
        try:
            with FileLock(f"{home}.lock", timeout=self.lock_wait_s):
                index = LocalIndex(home)
                index.sync(listing, self.parse, self.progress or _LogProgress())
        except Timeout:
            index = self._open_unsynced(home)
        self._session.unread = sorted({**listing.unread, **index.manifest.unread()}.items())
        return index

    def _open_unsynced(self, home: Path) -> LocalIndex:
        """The index while somebody else is writing it; nothing is mended under their hands."""
        try:
            if home.exists():
                return LocalIndex(home, is_repair_allowed=False)
        except (OSError, ValueError, sqlite3.Error):
            pass  # told below: half an index is none
        raise Unavailable(f"another process is still indexing {self._named()}")

    def _named(self) -> str:
        return ", ".join(str(root) for root in self.roots)

    def _search(self, index: LocalIndex, text: str) -> list[PassageMatch]:
        wanted = query_terms(text)
        best = _rank_files(index.search(wanted, limit=_PASSAGES), set(wanted))
        if self.is_rescored and len(best) > 1 and is_embeddable(text):
            best = _rescore(text, best[:_RESCORED]) + best[_RESCORED:]
        return best


class _LogProgress:
    """Says in the log how far indexing is, every few seconds."""

    def __init__(self) -> None:
        self._said = time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        if time.monotonic() - self._said >= _LOG_EVERY_S:
            self._said = time.monotonic()
            _log.info("Indexed %d of %d files", done, total)


def _rank_files(found: Iterable[PassageMatch], wanted: set[str]) -> list[PassageMatch]:
    """Each file's best passage, best file first.

    Further passages that match count a little; a file is about the query if its whole title is in it, or if
    it defines all that the query names.
    """
    passages: dict[str, list[PassageMatch]] = {}
    for passage in found:
        passages.setdefault(passage.path, []).append(passage)

    def score(path: str) -> float:
        first, *further = [passage.score for passage in passages[path]]
        is_named = _is_named(passages[path][0].title, wanted)
        is_defined = any(_defines(passage.text, wanted) for passage in passages[path])
        weight = _DEFINED_WEIGHT if is_defined else _NAMED_WEIGHT if is_named else 1.0
        return weight * (first + _FURTHER_WEIGHT * sum(further[:_FURTHER_PASSAGES]))

    return [passages[path][0] for path in sorted(passages, key=lambda path: (-score(path), path))]


def _is_named(title: str, wanted: set[str]) -> bool:
    words = _words_of(title)
    return bool(words) and words <= wanted


def _words_of(name: str) -> set[str]:
    bare = _BRACKETS.sub("", name) or name  # what stands in brackets tells namesakes apart
    return {word for word in query_terms(bare) if not word.isdigit()}


def _defines(text: str, wanted: set[str]) -> bool:
    """Whether a list of definitions has an entry for just these words."""
    return any(_words_of(term) == wanted for term in _TERM.findall(text))


def _rescore(text: str, best: list[PassageMatch]) -> list[PassageMatch]:
    """Meaning beside words: the lexical rank and the cosine count together."""
    vectors = embed([text, *(f"{found.title}. {found.text}" for found in best)])
    closeness = vectors[1:] @ vectors[0]
    scores = {
        found.path: 10 / (10 + rank) + _MEANING_WEIGHT * float(closeness[rank])
        for rank, found in enumerate(best)
    }
    return sorted(best, key=lambda found: -scores[found.path])
