"""Code that is not ours, named as `package.module:attribute`: loaded, run, and its errors made ours.

A class may also be named as `package.module.Class`, and what makes one as `package.module.Class.method`.

Does not know what it is for. It may raise anything, and a run must not end for it: this is the one place
where all of it is caught.
"""

import asyncio
import importlib
import inspect
import re
import threading
import warnings
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from urllib.parse import unquote, urlsplit

from fathom.concurrency import PerLoop
from fathom.errors import BadInput, ProviderError, Refused, Unavailable, Unreadable
from fathom.http.urls import is_web_address
from fathom.reading import Document
from fathom.reading.parsers import parse_document
from fathom.search import MAX_SNIPPET_CHARS, Capability, iso_date, strip_markup
from fathom.state import Hit, Query
from fathom.storage.content import PageTable

T = TypeVar("T")
_NAME = r"[^\W\d]\w*"
_PLACE = re.compile(rf"{_NAME}(?:\.{_NAME})*(?:\.{_NAME}|:{_NAME}(?:\.{_NAME})*)")

# The package says on import that nobody maintains it any more; our documentation says it instead.
_SUNSET_WARNING = r"`langchain-community` is being sunset"
_COMMUNITY = "langchain_community"
_PASSWORD = re.compile(r"(?<=://)[^/\s@]+@")
_SAID_CHARS = 200
_import_lock = threading.Lock()  # filters of warnings are the process's
_RETRIEVER_METHODS = ("ainvoke", "invoke", "as_retriever")

# Mistakes in the code itself: asking again would not help, as it may with a vendor's own errors.
_MISTAKES = (ArithmeticError, AssertionError, AttributeError, LookupError, NameError, TypeError, ValueError)


def split_place(place: str) -> tuple[str, str]:
    """Return the module and the attribute of a place; without a colon, the attribute begins at the class."""
    if not _PLACE.fullmatch(place):
        raise BadInput(f"The retriever {place!r} should be written package.module:attribute.")
    if ":" in place:
        module, _, attribute = place.partition(":")
        return module, attribute
    parts = place.split(".")
    start = next((n for n, part in enumerate(parts) if n and part[0].isupper()), len(parts) - 1)
    return ".".join(parts[:start]), ".".join(parts[start:])


async def load_retriever(place: str, timeout_s: float, arguments: Mapping[str, Any] | None = None) -> Any:
    """Return what is at a place, or what a class or factory there makes of the arguments; it can be asked."""
    thing = await run_within(asyncio.to_thread(_import_place, place), timeout_s)
    if isinstance(thing, BadInput):
        raise thing
    if arguments and not isinstance(thing, Exception) and not _is_factory(thing):
        raise BadInput(f"The retriever {place} is made already and takes no retriever_arguments.")
    if not isinstance(thing, Exception) and _is_factory(thing):
        thing = await run_within(_call_factory(thing, arguments or {}), timeout_s)
    if isinstance(thing, Exception):
        raise BadInput(f"The retriever {place} cannot be loaded: {_describe_exception(thing)}.") from None
    if isinstance(thing, type) or not any(hasattr(thing, way) for way in _RETRIEVER_METHODS):
        raise BadInput(f"The retriever {place} is a {type(thing).__name__}, which cannot be searched.")
    return thing


async def run_within(work: Awaitable[T], timeout_s: float) -> T | Exception:
    """What the work returns, or what it raises, within its time."""
    (result,) = await asyncio.gather(asyncio.wait_for(work, timeout_s), return_exceptions=True)
    if isinstance(result, BaseException) and not isinstance(result, Exception):
        raise result
    return result


def to_provider_error(who: str, error: Exception, timeout_s: float) -> ProviderError:
    """Our error for one of theirs."""
    if isinstance(error, ProviderError):
        return error
    if isinstance(error, TimeoutError):
        return Unavailable(f"{who} did not answer within {timeout_s:g} s")
    kind = Unreadable if isinstance(error, _MISTAKES) else Unavailable
    return kind(f"{who} failed: {_describe_exception(error)}")


def _import_place(place: str) -> Any:
    module, attribute = split_place(place)
    with _import_lock, warnings.catch_warnings():
        warnings.filterwarnings("ignore", _SUNSET_WARNING, DeprecationWarning)
        try:
            thing: Any = importlib.import_module(module)
            for part in attribute.split("."):
                thing = getattr(thing, part)  # some packages import what they offer only here
        except SystemExit:
            raise BadInput(f"The retriever {place} cannot be loaded: its module ends the program.") from None
        except ModuleNotFoundError as error:
            raise BadInput(
                f"The retriever {place} cannot be loaded: {_missing_module(error.name or '')}."
            ) from None
        except AttributeError as error:
            if error.name not in attribute.split("."):
                raise
            raise BadInput(f"The retriever {place} cannot be loaded: {module} has no {attribute}.") from None
    return thing


def _missing_module(module: str) -> str:
    hint = "; pip install 'fathom-research[community]'" if module.partition(".")[0] == _COMMUNITY else ""
    return f"there is no module {module}{hint}"


def _is_factory(thing: object) -> bool:
    return isinstance(thing, type) or (
        callable(thing) and not any(hasattr(thing, way) for way in _RETRIEVER_METHODS)
    )


async def _call_factory(factory: Any, arguments: Mapping[str, Any]) -> Any:
    """What a factory makes, in a thread: it may open files and connections."""
    thing = await asyncio.to_thread(factory, **arguments)
    return await thing if inspect.isawaitable(thing) else thing


def _describe_exception(error: Exception) -> str:
    said = " ".join(_PASSWORD.sub("***@", str(error)).split()).rstrip(".")[:_SAID_CHARS]
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


RETRIEVER_SCHEME = "retriever://"
_ADDRESS_KEYS = ("source", "url")
_DATE_KEYS = ("published", "published_date", "date")


class _RetrievedDocument(NamedTuple):
    text: str
    metadata: Mapping[str, Any]


@dataclass
class _LoadedRetriever:
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
    texts: PageTable | None = field(default=None, repr=False)
    roots: tuple[Path, ...] = ()
    timeout_s: float = 60.0
    name: str = "retriever"
    capabilities: frozenset[Capability] = field(default=frozenset({"content"}), init=False)
    _loaded: PerLoop[_LoadedRetriever] = field(
        default_factory=lambda: PerLoop(_LoadedRetriever), init=False, repr=False
    )

    def __post_init__(self) -> None:
        split_place(self.place)

    async def prepare(self) -> None:
        """Import it now; BadInput says what is wrong with it."""
        await self._get_retriever()

    async def __call__(self, query: Query, *, limit: int) -> list[Hit]:
        """The documents it finds, in its order, one hit a page."""
        thing = await self._get_retriever()
        answer = await run_within(_invoke(thing, query.text, limit), self.timeout_s)
        if isinstance(answer, Exception):
            raise to_provider_error(self.name, answer, self.timeout_s) from None
        pages: dict[str, _RetrievedDocument] = {}
        for found in _check_documents(self.name, answer):
            if (address := await self._address(found)) and address not in pages:
                pages[address] = found
        return [
            self._hit(query, rank, *page)
            for rank, page in enumerate(list(pages.items())[: max(limit, 0)], start=1)
        ]

    async def _get_retriever(self) -> Any:
        mine = self._loaded()
        async with mine.lock:
            if mine.thing is None:
                mine.thing = await load_retriever(self.place, self.timeout_s, self.arguments)
            return mine.thing

    async def _address(self, found: _RetrievedDocument) -> str:
        """A page of the web, a file that may be read, or the words themselves; nothing without words."""
        for source in (found.metadata.get(key) for key in _ADDRESS_KEYS):
            if not isinstance(source, str) or not source.strip():
                continue
            if is_web_address(source.strip()):
                return source.strip()
            if path := await asyncio.to_thread(self._file, source.strip()):
                return path.as_uri()
        if not found.text.strip() or self.texts is None:
            return ""
        return f"{RETRIEVER_SCHEME}{self.name}/{await self.texts.put(found.text)}"

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

    def _hit(self, query: Query, rank: int, address: str, found: _RetrievedDocument) -> Hit:
        words = {key: value for key, value in found.metadata.items() if isinstance(value, str)}
        when = next((words[key] for key in _DATE_KEYS if words.get(key)), None)
        return Hit(
            query=query.id,
            address=address,
            title=strip_markup(words.get("title")),
            snippet=strip_markup(found.text[: 4 * MAX_SNIPPET_CHARS])[:MAX_SNIPPET_CHARS],
            engine=self.name,
            rank=rank,
            published=iso_date(when),
        )


@dataclass(frozen=True)
class RetrieverReader:
    """Reads `retriever://NAME/HASH`: words that an engine found, in this process or in one before it."""

    texts: PageTable

    async def __call__(self, hit: Hit) -> Document:
        """The document behind one hit."""
        if not hit.address.startswith(RETRIEVER_SCHEME):
            raise Refused(f"{hit.address} is not a document of a retriever")
        text = await self.texts.find(hit.address.rpartition("/")[2])
        if text is None:
            raise Unreadable(f"the text of {hit.address} is no longer known")
        body = text.encode("utf-8", "replace")
        read = parse_document(body, content_type="text/plain; charset=utf-8", name=hit.address)
        return replace(read, title=hit.title or read.title, how="retriever", published=hit.published)


async def _invoke(thing: Any, text: str, limit: int) -> object:
    """What it finds: asked in its own way, in a thread if it knows no other."""
    if hasattr(thing, "as_retriever"):
        thing = thing.as_retriever(search_kwargs={"k": limit})
    if hasattr(thing, "ainvoke"):
        return await thing.ainvoke(text)
    return await asyncio.to_thread(thing.invoke, text)


def _check_documents(name: str, answer: object) -> list[_RetrievedDocument]:
    if not isinstance(answer, Sequence) or isinstance(answer, str):
        raise Unreadable(f"{name} gave a {type(answer).__name__} where documents were expected")
    found = [(getattr(d, "page_content", None), getattr(d, "metadata", None) or {}) for d in answer]
    if not all(isinstance(text, str) and isinstance(more, Mapping) for text, more in found):
        raise Unreadable(f"{name} gave something that is not a document")
    return [_RetrievedDocument(str(text), more) for text, more in found]
