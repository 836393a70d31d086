"""The engines, one file each, behind one port.

Here: what each engine promises, how the rows that services answer become hits, and what a search is limited
to, hosts, dates and a language. Each engine passes on what its service understands; the rest is sorted out
here. Does not know any engine or service, nor what day it is unless it is told.
"""

import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from email.utils import parsedate_to_datetime
from html import unescape
from typing import Literal, NamedTuple, Protocol, TypeVar
from urllib.parse import quote

from fathom.http.urls import is_web_address, parse_host
from fathom.state import Cost, Failure, Hit, Query
from fathom.storage.content import PageTable
from fathom.text.tokens import STOP_WORDS

T = TypeVar("T")

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


_EARLIEST = date(1990, 1, 1)


@dataclass(frozen=True)
class Scope:
    """Limits of one run; empty means none."""

    include_domains: tuple[str, ...] = ()
    exclude_domains: tuple[str, ...] = ()
    since: date | None = None
    until: date | None = None
    language: str | None = None

    def days(self, today: date, between: str, form: str = "%Y-%m-%d") -> str | None:
        """The first and the last day, for services that want both; None without any limit."""
        if not (self.since or self.until):
            return None
        return f"{self.since or _EARLIEST:{form}}{between}{self.until or today:{form}}"

    def admits(self, hit: Hit) -> bool:
        """Whether a hit is inside the limits; one without a date is not held to them."""
        if not hit.address.lower().startswith(("https:", "http:")):
            return self._is_timely(hit.published)  # a file or a server's own document is in no domain
        host = parse_host(hit.address)
        if self.include_domains and not any(_is_within(host, d) for d in self.include_domains):
            return False
        if any(_is_within(host, d) for d in self.exclude_domains):
            return False
        return self._is_timely(hit.published)

    def _is_timely(self, published: str | None) -> bool:
        try:
            day = date.fromisoformat((published or "")[:10])
        except ValueError:
            return True
        return (self.since is None or day >= self.since) and (self.until is None or day <= self.until)


def _is_within(host: str, domain: str) -> bool:
    wanted = bare_domain(domain)
    return host.removeprefix("www.") == wanted or host.endswith(f".{wanted}")


def add_site_operators(text: str, scope: Scope, *, max_chars: int = 2000, max_words: int = 300) -> str:
    """The query and its hosts within the limits; the query's own words keep at least half the room."""
    marks = _site_operators(scope, max_chars // 2, max_words // 2)
    room_chars = max_chars - sum(len(mark) + 1 for mark in marks)
    room_words = max_words - sum(len(mark.split()) for mark in marks)
    words = " ".join(text.split()[:room_words])[:room_chars].rstrip()
    return " ".join([words, *marks]).strip()


def _site_operators(scope: Scope, max_chars: int, max_words: int) -> list[str]:
    """All hosts to look in or none, for a part would hide the others; hosts to avoid while they fit."""
    wanted = " OR ".join(f"site:{bare_domain(domain)}" for domain in scope.include_domains)
    if len(scope.include_domains) > 1:
        wanted = f"({wanted})"
    marks: list[str] = []
    for mark in (wanted, *(f"-site:{bare_domain(domain)}" for domain in scope.exclude_domains)):
        taken = " ".join([*marks, mark])
        if mark and len(taken) < max_chars and len(taken.split()) < max_words:
            marks.append(mark)
    return marks


def bare_domain(domain: str) -> str:
    """A host as services want it: no star, no `www.`, no blanks that would end the operator."""
    return "".join(domain.split()).lower().removeprefix("*.").removeprefix("www.")


_WORD = re.compile(r"\w+(?:[-.'’]\w+)*")
_OPERATORS = frozenset({"and", "andnot", "not", "or", "to", "near"})
_HANGUL = re.compile("[\uac00-\ud7a3\u1100-\u11ff\u3130-\u318f]")

# The codes of the libraries (MARC), which are those of ISO 639-2 in their bibliographic form.
_LIBRARY_CODES = {
    "ar": "ara", "de": "ger", "en": "eng", "es": "spa", "fr": "fre", "it": "ita", "ja": "jpn", "ko": "kor",
    "nl": "dut", "pl": "pol", "pt": "por", "ru": "rus", "tr": "tur", "uk": "ukr", "zh": "chi",
}  # fmt: skip


def query_words(text: str, *, most: int = 12) -> list[str]:
    """The words that carry the query, each once; nothing is left that a query language could act on."""
    words = [word for word in _WORD.findall(text) if word.lower() not in _OPERATORS]
    telling = [word for word in words if word.lower() not in STOP_WORDS or _is_acronym(word)]
    return list(dict.fromkeys(telling or words))[:most]


async def ask_for_all_or_any(
    words: Sequence[str],
    ask: Callable[[str], Awaitable[list[T]]],
    all_of: str = " AND ",
    max_chars: int = 2000,
) -> list[T]:
    """What is found with all of the words, or else with any of them, as many as fit; nothing for no words."""
    found = await ask(_join_words(all_of, words, max_chars)) if words else []
    return found if found or len(words) < 2 else await ask(_join_words(" OR ", words, max_chars))


def _join_words(mark: str, words: Sequence[str], max_chars: int) -> str:
    while len(words) > 1 and len(mark.join(words)) > max_chars:
        words = words[:-1]
    return mark.join(words)[:max_chars]


def has_hangul(text: str) -> bool:
    """Whether a text has Hangul in it."""
    return _HANGUL.search(text) is not None


def language_code(language: str | None) -> str | None:
    """Two letters from a language tag such as `ko-KR`; None when it is no tag."""
    code = re.split(r"[-_]", (language or "").strip().lower())[0]
    return code if re.fullmatch(r"[a-z]{2,3}", code) else None


def library_code(language: str | None) -> str | None:
    """The three letters by which libraries know a language; None when it is not one of the common ones."""
    return _LIBRARY_CODES.get(language_code(language) or "")


def _is_acronym(word: str) -> bool:
    """Whether it is WHO rather than who."""
    return len(word) > 1 and word.isupper()
