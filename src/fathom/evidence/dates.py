"""Dates in a text, English and Korean: year, month, day, season, decade, as far as they are given.

Does not know today.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property, lru_cache

from fathom.text.spotting import spotted

_MONTHS = {
    name: place
    for place, names in enumerate(
        ("january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul",
         "august aug", "september sept sep", "october oct", "november nov", "december dec"), 1)
    for name in names.split()
}  # fmt: skip
_MONTH = (
    r"(?P<{0}>January|February|March|April|May|June|July|August|September|October|November|December"
    r"|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept|Sep|Oct|Nov|Dec)\b\.?"
)
_YEAR = r"(?P<{0}>1\d{{3}}|20\d{{2}}|21\d{{2}})"
_ENGLISH = re.compile(
    rf"(?<![\w.,$€£-]){_YEAR.format('iy')}-(?P<im>\d\d)-(?P<id>\d\d)(?!\d)"
    rf"|(?<![\w.])(?P<d1>\d{{1,2}})(?:st|nd|rd"
    rf"|th)?(?: of)? {_MONTH.format('m1')}(?:,? {_YEAR.format('y1')}(?!\w))?"
    rf"|\b{_MONTH.format('m2')} (?P<d2>\d{{1,2}})(?:st|nd|rd|th)?(?![\d%])(?:,? {_YEAR.format('y2')}(?!\w))?"
    rf"|\b{_MONTH.format('m3')}(?: of)?,? {_YEAR.format('y3')}(?!\w)"
    rf"|(?<![\w.,$€£₩-]){_YEAR.format('dec')}s\b"
    rf"|(?<![\w.,$€£₩])(?<![A-Za-z]-){_YEAR.format('y4')}(?![\w%]|[.,]\d|년| ?(?:people|percent"
    rf"|per cent|metres|km|kg|MW|kW|tonnes|dollars|euros|won|원|명|개))"
    rf"|(?<=[a-z,] ){_MONTH.format('m5')}(?! (?:be|have|not|also|cause|help|reduce|lower)\b)"
)
_ENGLISH_BEGINS = re.compile(r"[\dJFMASOND]")  # a figure, or the name of a month
_KOREAN = re.compile(
    r"(?P<y>\d{4})년(?!대|간)(?:\s*(?P<m>\d{1,2})월)?(?:\s*(?P<d>\d{1,2})일)?"
    r"|(?P<dec>\d{4})년대|(?<!\d)(?P<m1>\d{1,2})월(?:\s*(?P<d1>\d{1,2})일)?"
)
_SEASONS = {
    "spring": 1, "summer": 2, "autumn": 3, "winter": 4, "봄": 1, "여름": 2, "가을": 3, "겨울": 4,
}  # fmt: skip
_SEASON = re.compile(
    r"\b(spring|summer|autumn|winter)\b|(?<![가-힣])(봄|여름|가을|겨울)(?=철|이|은|에|의|마다|부터|까지|\s|$)"
)


@dataclass(frozen=True)
class Date:
    """What is given of a date; a zero is not given."""

    text: str
    start: int
    end: int
    year: int = 0
    month: int = 0
    day: int = 0
    decade: int = 0

    @cached_property
    def parts(self) -> dict[str, int]:
        """What is given."""
        all_parts = {"year": self.year, "month": self.month, "day": self.day, "decade": self.decade}
        return {name: value for name, value in all_parts.items() if value}


@lru_cache(maxsize=4096)
def dates(text: str) -> tuple[Date, ...]:
    """Every date, in order."""
    found = [_english(match) for match in spotted(_ENGLISH, _ENGLISH_BEGINS, text)]
    if not text.isascii():
        found += [_korean(match) for match in _KOREAN.finditer(text)]
    return tuple(sorted(found, key=lambda date: date.start))


def wrong_dates(statement: str, quotes: Sequence[str]) -> list[str]:
    """The dates of a statement that no quote gives."""
    known = [date for quote in quotes for date in dates(quote)]
    wrong = [date.text for date in dates(statement) if not _is_given(date, known)]
    told = _seasons(statement)
    given = {_SEASONS[season] for season in _seasons(" ".join(quotes))} if told else set()
    return wrong + [season for season in told if given and _SEASONS[season] not in given]


def _seasons(text: str) -> list[str]:
    low = text.lower()
    if not any(season in low for season in _SEASONS):
        return []
    return [english or korean for english, korean in _SEASON.findall(low)]


def _is_given(date: Date, known: Sequence[Date]) -> bool:
    """Whether one date gives all its parts, or several give them without one that says otherwise."""
    if any(date.parts.items() <= other.parts.items() for other in known):
        return True
    if date.decade and any(date.decade == other.year // 10 * 10 for other in known):
        return True
    if len(date.parts) < 2:
        return False
    said = [other for other in known if set(date.parts) & set(other.parts)]
    agreeing = [o for o in said if all(o.parts.get(n, v) == v for n, v in date.parts.items())]
    return {n for o in agreeing for n in o.parts} >= set(date.parts)


def _english(match: re.Match[str]) -> Date:
    year = match["iy"] or match["y1"] or match["y2"] or match["y3"] or match["y4"]
    name = match["m1"] or match["m2"] or match["m3"] or match["m5"]
    month = int(match["im"]) if match["im"] else _MONTHS[name.lower()] if name else 0
    day = match["id"] or match["d1"] or match["d2"]
    return Date(match.group(), *match.span(), int(year or 0), month, int(day or 0), int(match["dec"] or 0))


def _korean(match: re.Match[str]) -> Date:
    got = {name: int(value) for name, value in match.groupdict().items() if value}
    month, day = got.get("m") or got.get("m1", 0), got.get("d") or got.get("d1", 0)
    return Date(match.group(), *match.span(), got.get("y", 0), month, day, got.get("dec", 0))


def day_of(published: str | None) -> date | None:
    """The day a page says it was published, if it says one."""
    try:
        return date.fromisoformat((published or "")[:10])
    except ValueError:
        return None
