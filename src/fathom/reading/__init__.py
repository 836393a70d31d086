"""From an address to text: fetched with a guard, parsed by kind.

Here: what a reader promises, and the one shape all documents are brought into. Blocks have blank lines
between them: headings that begin with `#`, paragraphs on one line, lists and tables with a line an entry,
fenced code.
"""

import re
import unicodedata
from collections.abc import Awaitable, Iterable
from dataclasses import dataclass
from datetime import date
from itertools import chain
from typing import Protocol
from urllib.parse import urljoin, urlsplit

from fathom.errors import Unreadable
from fathom.http.urls import canonical_address
from fathom.state import Hit, Page
from fathom.text.normalization import one_line


@dataclass(frozen=True)
class Link:
    """A link to another page of the web: whole address, words, and where the words stand in the text."""

    address: str
    words: str
    start: int
    end: int


@dataclass(frozen=True)
class Document:
    """A source as text: blank lines between blocks, `#` before headings, fences around code.

    `pages` are the places in the text where the printed pages begin; `fetched` is when the text was had, if
    that was not just now.
    """

    text: str
    title: str
    how: str
    published: str | None = None
    author: str | None = None
    publisher: str | None = None
    language: str | None = None
    pages: tuple[int, ...] = ()
    links: tuple[Link, ...] = ()
    fetched: str | None = None


class Reader(Protocol):
    """Turns a hit into its text, or raises a ProviderError that says why not."""

    async def __call__(self, hit: Hit) -> Document:
        """The document behind one hit."""


class Parse(Protocol):
    """Turns bytes into the document in them, or raises Unreadable."""

    def __call__(self, body: bytes, *, content_type: str | None, name: str) -> Awaitable[Document]:
        """The document in some bytes, which a server called so."""


def hit_for_page(page: Page) -> Hit:
    """The hit that leads to a page once more."""
    return Hit(
        query="",
        address=page.address,
        title=page.title,
        snippet="",
        engine="recheck",
        rank=1,
        published=page.published,
        authors=[page.author] if page.author else [],
        doi=page.doi,
        pdf=page.pdf,
        cited_by=page.cited_by,
    )


_FENCE = "```"
_CONTROL = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060\ufeff]"
)
_BREAKS = re.compile("\r\n?|[\u2028\u2029\x85]")
_SURROGATES = re.compile("[\ud800-\udfff]")
_HEADING = re.compile(r"#{1,6} (.+)")
# What programs write as a title: "Microsoft Word - draft3.docx", "untitled", the name of a file.
_NO_TITLE = re.compile(
    r"^(?:untitled|no title|microsoft (?:word|powerpoint|excel)\b.*)$"
    r"|\.(?:docx?|pptx?|xlsx?|odt|rtf|pdf|tex|dvi|indd|qxd|md|rst|txt|html?)$",
    re.IGNORECASE,
)
_TITLE_LINE = re.compile(r"[^\W_`|#-].*[^.!?:;,。]")
_TITLE_CHARS = 100
_ISO_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True)
class Anchor:
    """A link as its format has it; `before` are the words in front of it in the same block."""

    address: str
    words: str
    before: str = ""


class EmptyDocument(Unreadable):
    """There is nothing to read in it, and nothing is wrong with that."""


def clean_text(text: str) -> str:
    """The same text without characters that nobody sees: composed, one kind of line break, no controls."""
    text = _BREAKS.sub("\n", text)
    text = _CONTROL.sub("", text.replace("\x0c", "\n\n").replace("\xa0", " "))
    if not text.isascii():
        text = unicodedata.normalize("NFC", _SURROGATES.sub("\ufffd", text))
    return text


def iso_day(stamp: str) -> str | None:
    """The day at the start of an ISO date or time; nothing if it is none."""
    found = _ISO_DAY.match(stamp.strip())
    try:
        return date.fromisoformat(found.group()).isoformat() if found else None
    except ValueError:
        return None


def heading_block(level: int, text: str) -> str:
    """A heading block; nothing for a heading without words."""
    words = one_line(text)
    return f"{'#' * max(1, min(level, 6))} {words}" if words else ""


def code_block(lines: Iterable[str]) -> str:
    """A fenced block, with a fence that the code cannot close; nothing for no code."""
    kept = [line.expandtabs(4).rstrip() for line in lines]
    while kept and not kept[0]:
        kept.pop(0)
    while kept and not kept[-1]:
        kept.pop()
    if not kept:
        return ""
    margin = min(len(line) - len(line.lstrip()) for line in kept if line)
    inside = [line[margin:] for line in kept]
    fence = _FENCE
    while any(line.startswith(fence) for line in inside):
        fence += "`"
    return "\n".join([fence, *inside, fence])


def build_document(
    blocks: Iterable[str],
    *,
    how: str,
    name: str,
    title: str | None = None,
    published: str | None = None,
    author: str | None = None,
    publisher: str | None = None,
    language: str | None = None,
    anchors: Iterable[Anchor] = (),
) -> Document:
    """The finished document; `name` is its address or path, against which links are resolved."""
    kept = tidy_blocks(blocks)
    if not kept:
        raise EmptyDocument(f"{name} has no text")
    given = one_line(clean_text(title or ""))
    chosen = given if given and not _NO_TITLE.search(given) else _title_from_text(kept, name)
    text = "\n\n".join(kept)
    return Document(
        text=text,
        title=chosen[:300],
        how=how,
        published=published,
        author=one_line(clean_text(author or ""))[:300] or None,
        publisher=one_line(clean_text(publisher or ""))[:300] or None,
        language=language,
        links=locate_links(text, anchors, name),
    )


def _title_from_text(blocks: list[str], name: str) -> str:
    """The first heading, else a first line that is no sentence, else the name of the file."""
    for block in blocks:
        if found := _HEADING.fullmatch(block):
            return found[1]
    if len(blocks) > 1 and len(blocks[0]) <= _TITLE_CHARS and _TITLE_LINE.fullmatch(blocks[0]):
        return blocks[0]
    return name.rstrip("/").rpartition("/")[2] or name


def table_block(rows: Iterable[Iterable[str]]) -> str:
    """A table block with a line a row; rows without words are left out."""
    lines = [[one_line(cell) for cell in row] for row in rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines if any(cells))


def tidy_blocks(blocks: Iterable[str]) -> list[str]:
    """The blocks that say something, as they will stand in the document."""
    return [block for block in map(_tidy_block, blocks) if block]


def _tidy_block(block: str) -> str:
    return "\n".join(line.rstrip() for line in clean_text(block).split("\n")).strip("\n")


_MOST_LINKS = 300
_MOST_CHARS = 2_000_000  # a longer text is a book: its links are not looked up
_WORDS_CHARS = 120
_BEFORE_CHARS = 60
_FEW_CHARS = 12
_TELLING_CHARS = 20
_ADDRESS_CHARS = 500
_BARE = re.compile(r"https?://[^\s<>\"'`|()\[\]{}]{4,500}", re.IGNORECASE)
_LETTER = re.compile(r"\w")


def locate_links(text: str, anchors: Iterable[Anchor], base: str) -> tuple[Link, ...]:
    """Return the links that lead to another page of the web and whose place in the text is certain.

    Relative addresses are resolved against `base`, the page's own address. Addresses that are written out in
    the text are links too.
    """
    if len(text) > _MOST_CHARS:
        return ()
    own = canonical_address(base)
    found: dict[tuple[str, int], Link] = {}
    letters = _LetterIndex(text)
    placed = ((anchor.address, letters.find(anchor)) for anchor in anchors)
    spelled = ((match.start(), match.group().rstrip(".,;:!?")) for match in _BARE.finditer(text))
    bare = ((address, (start, start + len(address))) for start, address in spelled)
    for written, place in chain(placed, bare):
        address = _web_address(written, base)
        if not place or not address or canonical_address(address) == own:
            continue
        words = text[place[0] : place[1]][:_WORDS_CHARS]
        found.setdefault((canonical_address(address), place[0]), Link(address, words, *place))
        if len(found) >= _MOST_LINKS:
            break
    return tuple(sorted(found.values(), key=lambda link: (link.start, link.address)))


def resolve_link(base: str, written: str) -> str:
    """Return a link's whole address, with `base` for what it leaves out; nothing if it is broken."""
    try:
        return urljoin(base if base.startswith(("http://", "https://")) else "", written.strip())
    except ValueError:
        return ""


def _web_address(written: str, base: str) -> str:
    """The whole address without its fragment; nothing if it is none of the web."""
    address = resolve_link(base, written)
    try:
        parts = urlsplit(address)._replace(fragment="")
    except ValueError:
        return ""
    is_web = parts.scheme in {"http", "https"} and parts.hostname and "@" not in parts.netloc
    return parts.geturl() if is_web and len(address) <= _ADDRESS_CHARS else ""


class _LetterIndex:
    """A text as its letters and digits, each with its place; anchors are looked up in document order."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._places: list[int] | None = None
        self._key = ""
        self._last = 0

    def find(self, anchor: Anchor) -> tuple[int, int] | None:
        """Where the anchor stands; with nothing but a footnote's mark, the end of the words before it."""
        words, before = _letters_only(anchor.words), _letters_only(anchor.before)
        for prefix in dict.fromkeys((before[-_BEFORE_CHARS:], before[-_FEW_CHARS:])):
            at = self._search(prefix + words, is_unique=len(prefix + words) < _TELLING_CHARS) if words else -1
            if at >= 0:
                return self._span(at + len(prefix), at + len(prefix) + len(words))
        if len(words) <= 3 and len(before) >= _FEW_CHARS:  # a footnote's mark, which extraction may drop
            end = before[-_BEFORE_CHARS:]
            at = self._search(end)
            return self._span(at + len(end) - 1, at + len(end)) if at >= 0 else None
        return None

    def _search(self, wanted: str, *, is_unique: bool = False) -> int:
        self._prepare()
        at = self._key.find(wanted, self._last)
        if at < 0:
            at = self._key.find(wanted)
        if at < 0 or (is_unique and self._key.count(wanted) > 1):
            return -1
        self._last = max(0, at - _BEFORE_CHARS)
        return at

    def _prepare(self) -> None:
        if self._places is None:
            self._places = [match.start() for match in _LETTER.finditer(self._text)]
            self._key = _letters_only(self._text)

    def _span(self, start: int, end: int) -> tuple[int, int]:
        assert self._places is not None
        return self._places[start], self._places[end - 1] + 1


def _letters_only(text: str) -> str:
    return "".join(_LETTER.findall(text))
