"""Where the links of a document stand in its extracted text.

A parser reports each link as an `Anchor`: its words, the words right before it, and its address as written.
Text extraction drops and adds marks, so an anchor is found again by its letters and digits alone. Bounded in
number and length. Does not fetch anything: what a link leads to is decided when it is read.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from urllib.parse import urljoin, urlsplit

from fathom.http.urls import canonical_address
from fathom.reading.protocol import Link

_MOST_LINKS = 300
_MOST_CHARS = 2_000_000  # a longer text is a book: its links are not looked up
_WORDS_CHARS = 120
_BEFORE_CHARS = 60
_FEW_CHARS = 12
_TELLING_CHARS = 20
_ADDRESS_CHARS = 500
_BARE = re.compile(r"https?://[^\s<>\"'`|()\[\]{}]{4,500}", re.IGNORECASE)
_LETTER = re.compile(r"\w")


@dataclass(frozen=True)
class Anchor:
    """A link as its format has it; `before` are the words in front of it in the same block."""

    address: str
    words: str
    before: str = ""


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
