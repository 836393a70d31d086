"""Any LangChain retriever or vector store, named by where it is imported from, as an engine and as a reader.

Does not know LangChain: what has `ainvoke`, `invoke` or `as_retriever` will do, imported when first asked.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from fathom.errors import Refused, Unreadable
from fathom.reading.documents import parse
from fathom.reading.port import Document
from fathom.search.dates import iso_date
from fathom.search.foreign import checked_place, described, loaded, outcome
from fathom.search.port import Capability
from fathom.search.remembered import Remembered
from fathom.search.rows import MAX_SNIPPET_CHARS, is_web, plain
from fathom.state import Hit, Query
from fathom.turns import PerLoop

SCHEME = "retriever://"
_WHERE = ("source", "url")
_WHEN = ("published", "published_date", "date")


class _Found(NamedTuple):
    text: str
    metadata: Mapping[str, Any]


@dataclass
class _Loaded:
    """What the place holds; for each event loop its own, for clients cannot be shared between them."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    thing: Any = None


@dataclass(frozen=True)
class RetrieverSearch:
    """https://docs.langchain.com/oss/python/langchain/retrieval

    `place` names a retriever or vector store, or a class or factory that makes one of the `arguments`.
    Key: whatever the retriever wants, by its own means. Quirks: a retriever finds as many documents as it was
    made for, a vector store as many as it is asked for; documents are pieces of pages, so a page is one hit;
    a piece whose source nobody may read is its own page, `retriever://NAME/HASH`, kept in `texts`.
    """

    place: str
    arguments: Mapping[str, Any] = field(default_factory=dict, hash=False)
    texts: Remembered = field(default_factory=Remembered, repr=False)
    roots: tuple[Path, ...] = ()
    timeout_s: float = 60.0
    usd_per_call: float = 0.0
    pause_s: float = 0.0
    name: str = "retriever"
    capabilities: frozenset[Capability] = field(default=frozenset({"content"}), init=False)
    _loaded: PerLoop[_Loaded] = field(default_factory=lambda: PerLoop(_Loaded), init=False, repr=False)

    def __post_init__(self) -> None:
        checked_place(self.place)

    async def prepare(self) -> None:
        """Import it now; BadInput says what is wrong with it."""
        await self._thing()

    async def __call__(self, query: Query, *, limit: int) -> list[Hit]:
        """The documents it finds, in its order, one hit a page."""
        thing = await self._thing()
        answer = await outcome(_asked(thing, query.text, limit), self.timeout_s)
        if isinstance(answer, Exception):
            raise described(self.name, answer, self.timeout_s) from None
        pages: dict[str, _Found] = {}
        for found in _documents(self.name, answer):
            if (address := await self._address(found)) and address not in pages:
                pages[address] = found
        return [
            self._hit(query, rank, *page)
            for rank, page in enumerate(list(pages.items())[: max(limit, 0)], start=1)
        ]

    async def _thing(self) -> Any:
        mine = self._loaded()
        async with mine.lock:
            if mine.thing is None:
                mine.thing = await loaded(self.place, self.timeout_s, self.arguments)
            return mine.thing

    async def _address(self, found: _Found) -> str:
        """A page of the web, a file that may be read, or the words themselves; nothing without words."""
        for source in (found.metadata.get(key) for key in _WHERE):
            if not isinstance(source, str) or not source.strip():
                continue
            if is_web(source.strip()):
                return source.strip()
            if path := await asyncio.to_thread(self._file, source.strip()):
                return path.as_uri()
        if not found.text.strip():
            return ""
        return f"{SCHEME}{self.name}/{await self.texts.put(found.text)}"

    def _file(self, source: str) -> Path | None:
        is_uri = source.lower().startswith("file://")
        path = Path(unquote(urlsplit(source).path) if is_uri else source)
        try:
            if not path.is_absolute() or not path.is_file():
                return None
            real = path.resolve()
            is_allowed = any(real.is_relative_to(root.resolve()) for root in self.roots)
        except (OSError, ValueError):  # a name that no file can have
            return None
        return real if is_allowed else None

    def _hit(self, query: Query, rank: int, address: str, found: _Found) -> Hit:
        words = {key: value for key, value in found.metadata.items() if isinstance(value, str)}
        when = next((words[key] for key in _WHEN if words.get(key)), None)
        return Hit(
            query=query.id,
            address=address,
            title=plain(words.get("title")),
            snippet=plain(found.text[: 4 * MAX_SNIPPET_CHARS])[:MAX_SNIPPET_CHARS],
            engine=self.name,
            rank=rank,
            published=iso_date(when),
        )


@dataclass(frozen=True)
class RetrieverReader:
    """Reads `retriever://NAME/HASH`: words that an engine found, in this process or in one before it."""

    texts: Remembered

    async def __call__(self, hit: Hit) -> Document:
        """The document behind one hit."""
        if not hit.address.startswith(SCHEME):
            raise Refused(f"{hit.address} is not a document of a retriever")
        text = await self.texts.get(hit.address.rpartition("/")[2])
        if text is None:
            raise Unreadable(f"the text of {hit.address} is no longer known")
        body = text.encode("utf-8", "replace")
        read = parse(body, content_type="text/plain; charset=utf-8", name=hit.address)
        return replace(read, title=hit.title or read.title, how="retriever", published=hit.published)


async def _asked(thing: Any, text: str, limit: int) -> object:
    """What it finds: asked in its own way, in a thread if it knows no other."""
    if hasattr(thing, "as_retriever"):
        thing = thing.as_retriever(search_kwargs={"k": limit})
    if hasattr(thing, "ainvoke"):
        return await thing.ainvoke(text)
    return await asyncio.to_thread(thing.invoke, text)


def _documents(name: str, answer: object) -> list[_Found]:
    if not isinstance(answer, Sequence) or isinstance(answer, str):
        raise Unreadable(f"{name} gave a {type(answer).__name__} where documents were expected")
    found = [(getattr(d, "page_content", None), getattr(d, "metadata", None) or {}) for d in answer]
    if not all(isinstance(text, str) and isinstance(more, Mapping) for text, more in found):
        raise Unreadable(f"{name} gave something that is not a document")
    return [_Found(str(text), more) for text, more in found]
