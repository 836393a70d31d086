"""From an address to text: fetched with a guard, parsed by kind. Documents, and what a reader promises."""

from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Protocol

from fathom.state import Hit, Page


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
