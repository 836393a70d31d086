"""The engines, one file each, behind one port: what each promises, and how the rows of a service become hits.

Does not know any engine or service, nor what day it is unless it is told.
"""

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from email.utils import parsedate_to_datetime
from html import unescape
from typing import Literal, NamedTuple, Protocol
from urllib.parse import quote

from fathom.http.urls import is_web_address
from fathom.state import Cost, Failure, Hit, Query
from fathom.storage.content import PageTable

Capability = Literal["web", "news", "academic", "image", "local", "content", "semantic"]


class SearchOutcome(NamedTuple):
    """What a search brought: hits, what was lost on the way, and what it cost."""

    hits: list[Hit]
    failures: list[Failure]
    costs: list[Cost]


class SearchEngine(Protocol):
    """Searches; an empty list means nothing was found, a ProviderError that something failed."""

    @property
    def name(self) -> str:
        """The word by which users choose it."""

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What kinds of sources it finds."""

    async def __call__(self, query: Query, *, limit: int) -> Sequence[Hit]:
        """The best hits for one query, best first."""


_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_UNIT = "sec|second|min|minute|hr|hour|day|week|month|year|초|분|시간|일|주|개월|달|년"
_AGO = re.compile(rf"((?<!\d)\d+|an?)\s*({_UNIT})s?\s*(?:ago|전)", re.IGNORECASE)
_DAYS = {"day": 1, "일": 1, "week": 7, "주": 7}  # seconds to hours are of today
_RECENT = {"today": 0, "just now": 0, "오늘": 0, "yesterday": 1, "어제": 1}
_NUMBERS = re.compile(r"(\d{4})(?:[-/.년]\s*(\d{1,2}))?(?:[-/.월]\s*(\d{1,2}))?(?!\d)")
_YEAR_FIRST = re.compile(r"(\d{4})(?!\d)(?:\s+([A-Za-z]{3})[a-z]*)?(?:\s+(\d{1,2})\b)?")
_MONTH_FIRST = re.compile(r"([A-Za-z]{3})[a-z]*\.?(?:\s+(\d{1,2}),?)?\s+(\d{4})")
_DAY_FIRST = re.compile(r"(\d{1,2})\.?\s+([A-Za-z]{3})[a-z]*\.?\s+(\d{4})")


def iso_date(text: str | None, *, today: date | None = None) -> str | None:
    """`2021-05-04`, `2021-05` or `2021`, from any of the ways services write a date; None if it is none.

    What is said as an age ("3 hours ago") needs to know what day it is.
    """
    words = (text or "").strip()
    if not words:
        return None
    if today is not None and (age := _date_from_age(words, today)):
        return age
    for read in (parsedate_to_datetime, datetime.fromisoformat):
        with suppress(ValueError):
            return read(words).date().isoformat()
    if found := _NUMBERS.match(words):
        year, month, day = (int(part) if part else None for part in found.groups())
        if month:
            return date_from_parts([year, month, day])
    if found := _YEAR_FIRST.match(words):
        return date_from_parts([int(found[1]), _month_number(found[2]), int(found[3]) if found[3] else None])
    if found := _MONTH_FIRST.match(words):
        return date_from_parts([int(found[3]), _month_number(found[1]), int(found[2]) if found[2] else None])
    if found := _DAY_FIRST.match(words):
        return date_from_parts([int(found[3]), _month_number(found[2]), int(found[1])])
    return None


def date_from_parts(parts: Sequence[int | None]) -> str | None:
    """A date from year, month and day, of which the last ones may be missing or impossible."""
    year, month, day = (*parts, None, None, None)[:3]
    if not year or not 1000 <= year <= 9999:
        return None
    if not month or not 1 <= month <= 12:
        return f"{year:04}"
    with suppress(ValueError, TypeError):  # no day, or one that the month does not have
        return date(year, month, day or 0).isoformat()
    return f"{year:04}-{month:02}"


def _month_number(name: str | None) -> int | None:
    word = (name or "").lower()
    return _MONTHS.index(word) + 1 if word in _MONTHS else None


def _date_from_age(words: str, today: date) -> str | None:
    """The day of what is days old, but only the month of what is months old, the year of what is years."""
    if words.lower() in _RECENT:
        return (today - timedelta(days=_RECENT[words.lower()])).isoformat()
    if not (ago := _AGO.search(words)):
        return None
    count, unit = int(ago[1]) if ago[1].isdigit() else 1, ago[2].lower()
    if unit in ("year", "년"):
        return date_from_parts([today.year - count])
    if unit in ("month", "개월", "달"):
        months = today.year * 12 + today.month - 1 - count
        return date_from_parts([months // 12, months % 12 + 1])
    with suppress(OverflowError):  # "99999999 weeks ago" is no date
        return (today - timedelta(days=count * _DAYS.get(unit, 0))).isoformat()
    return None


MAX_SNIPPET_CHARS = 1000
_MAX_ABSTRACT_CHARS = 3000

_INLINE = re.compile(
    r"</?(?:jats:)?(?:a|b|bold|code|em|i|italic|mark|s|sc|small|span|strong|sub|sup|u)(?:\s[^<>]*)?/?>",
    re.IGNORECASE,
)

_TAG = re.compile(r"</?[a-z][^<>]*>|<!--.{0,1000}?-->", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True)
class ResultRow:
    """One result as the service wrote it, HTML and all; only the address is needed."""

    address: str | None
    title: str | None = None
    snippet: str | None = None
    published: str | None = None
    authors: tuple[str, ...] = ()
    doi: str = ""
    pdf: str | None = None
    cited_by: int | None = None
    abstract: str | None = None
    is_retracted: bool = False
    image: str | None = None
    delivered: str = ""


def to_hits(engine: str, query: Query, rows: Iterable[ResultRow], *, limit: int) -> list[Hit]:
    """The first rows that lead into the web: an answer must not point a reader at local files."""
    pages = [(row.address, row) for row in rows if row.address and is_web_address(row.address)]
    return [
        Hit(
            query=query.id,
            address=address,
            title=strip_markup(row.title),
            snippet=strip_markup(row.snippet)[:MAX_SNIPPET_CHARS],
            engine=engine,
            rank=rank,
            published=row.published,
            authors=list(row.authors),
            doi=row.doi,
            pdf=row.pdf if row.pdf and is_web_address(row.pdf) else "",
            cited_by=row.cited_by,
            abstract=clean_abstract(row.abstract)[:_MAX_ABSTRACT_CHARS],
            retracted=engine if row.is_retracted else "",
            image=row.image if row.image and is_web_address(row.image) else "",
            delivered=row.delivered,
        )
        for rank, (address, row) in enumerate(pages[: max(limit, 0)], start=1)
    ]


def strip_markup(text: str | None) -> str:
    """Words without tags and entities, on one line, even where they were escaped twice; "a < b" is no tag."""
    words = text or ""
    if "<" not in words and "&" not in words:
        return " ".join(words.split())
    for _ in range(2):
        words = unescape(_TAG.sub(" ", _INLINE.sub("", words)))
    return " ".join(_TAG.sub(" ", _INLINE.sub("", words)).split())


_DOI = re.compile(r"10\.\d{4,9}/\S+")
_ABSTRACT_HEADING = re.compile(r"^abstract\b[:.]?\s+(?=\S)", re.IGNORECASE)


def extract_doi(text: str | None) -> str:
    """A DOI without what catalogues put in front of it; nothing if it is none."""
    found = _DOI.search(text or "")
    return found.group() if found else ""


def doi_address(doi: str) -> str:
    """Where a DOI leads; nothing for none."""
    return f"https://doi.org/{quote(doi, safe='/:;().-_')}" if doi else ""


def clean_abstract(text: str | None) -> str:
    """An abstract in plain words, without the word Abstract in front."""
    return _ABSTRACT_HEADING.sub("", strip_markup(text))


_MIN_PAGE_CHARS = 400  # less is a snippet, or the words of a wall


async def keep_text(texts: PageTable | None, text: str | None) -> str:
    """Keep a text that was delivered, and return its hash; nothing, if it is too short to be the page."""
    return await texts.put(text) if texts is not None and text and len(text) >= _MIN_PAGE_CHARS else ""
