"""What a service lists, made into hits: plain words, addresses of the web only, ranks from 1.

Does not know any service.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from html import unescape

from fathom.state import Hit, Query

MAX_SNIPPET_CHARS = 1000
_INLINE = re.compile(
    r"</?(?:jats:)?(?:a|b|bold|code|em|i|italic|mark|s|sc|small|span|strong|sub|sup|u)(?:\s[^<>]*)?/?>",
    re.IGNORECASE,
)
_TAG = re.compile(r"</?[a-z][^<>]*>|<!--.{0,1000}?-->", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True)
class Row:
    """One result as the service wrote it, HTML and all; only the address is needed."""

    address: str | None
    title: str | None = None
    snippet: str | None = None
    published: str | None = None
    authors: tuple[str, ...] = ()
    doi: str = ""
    pdf: str | None = None
    cited_by: int | None = None


def hits(engine: str, query: Query, rows: Iterable[Row], *, limit: int) -> list[Hit]:
    """The first rows that lead into the web: an answer must not point a reader at local files."""
    pages = [(row.address, row) for row in rows if row.address and is_web(row.address)]
    return [
        Hit(
            query=query.id,
            address=address,
            title=plain(row.title),
            snippet=plain(row.snippet)[:MAX_SNIPPET_CHARS],
            engine=engine,
            rank=rank,
            published=row.published,
            authors=list(row.authors),
            doi=row.doi,
            pdf=row.pdf if row.pdf and is_web(row.pdf) else "",
            cited_by=row.cited_by,
        )
        for rank, (address, row) in enumerate(pages[: max(limit, 0)], start=1)
    ]


def is_web(address: str) -> bool:
    """Whether an address is one of the web."""
    return address.lower().startswith(("https://", "http://"))


def plain(text: str | None) -> str:
    """Words without tags and entities, on one line, even where they were escaped twice; "a < b" is no tag."""
    words = text or ""
    if "<" not in words and "&" not in words:
        return " ".join(words.split())
    for _ in range(2):
        words = unescape(_TAG.sub(" ", _INLINE.sub("", words)))
    return " ".join(_TAG.sub(" ", _INLINE.sub("", words)).split())
