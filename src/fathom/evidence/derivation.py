"""Decide whether each figure and date of a statement is in its evidence or can be derived from it.

Derived means: by unit (0.32 GW for 320 MW), by scale and rounding (about 18,000 for 17,958), by counting
listed items ("five problems" above five of them), or by the calendar ("in 2024" for "last year" in a page of
2025).
This is the one rule about content by which code alone refuses a claim. Sums, differences and shares are
calculations, which have a rule of their own.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from fathom.evidence.dates import Date, dates, day_of
from fathom.evidence.figures import Figure, figures
from fathom.evidence.units import UNITS

_CLOSE = 1e-9
_CONVERTED = 0.006  # two units that are no power of ten apart: the figure is rounded in one of them
_ALWAYS_FINE = 2.0  # "one", "both", "two" in words say hardly more than a plural
_MOST_COUNTED = 20
_YEAR_S = UNITS["year"][1]
_SHARES = frozenset({"percent", "points"})
_MEASURES = _SHARES | {
    "power", "energy", "length", "area", "volume", "mass", "time", "celsius", "fahrenheit", "information",
    "frequency", "speed", "dollar", "euro", "won", "yen", "pound", "yuan", "rupee",
}  # fmt: skip
_RELATIVE_YEAR = re.compile(
    r"전년|작년|지난해|올해|금년|이듬해|내년|다음 ?해|한 해|1년 (?:전|사이|새)|전해|그해|그 뒤|해마다"
    r"|같은 (?:기간|분기|달)"
    r"|\b(?:last|this|next|previous|prior|same|following|that|past|current) (?:year|month|quarter|week)\b"
    r"|\byear(?:s)? (?:ago|earlier|before|later|on|over)\b|\ba year\b|\bnow\b|\btoday\b|\byesterday\b"
    r"|\brecently\b|\bannual(?:ly)?\b",
    re.IGNORECASE,
)
_YEAR_SPAN = re.compile(r"(1\d{3}|20\d{2}|21\d{2})\s?[-–~]\s?(\d{2}|\d{4})(?!\d)")
_LIST_LINE = re.compile(r"^\s*(?:[-*+•·]|\d+[.)]|[①-⑳]|\|)\s*\S", re.MULTILINE)
_TABLE_RULE = re.compile(r"^\s*\|?[\s:|-]+\|?\s*$")
_ENUMERATION = re.compile(r"[^.;:!?\n()|]+(?:,\s?[^.;:!?\n()|]+)+|[^.;:!?\n()|]+·[^.;:!?\n()|]+")
_SEPARATOR = re.compile(r",\s?(?:and |or |그리고 |및 )?|\s(?:and|or|및|그리고)\s|·")
_QUARTER = re.compile(r"([1-4])\s?분기|\bQ([1-4])\b|\b(first|second|third|fourth) quarter\b", re.IGNORECASE)


@dataclass(frozen=True)
class Passage:
    """What a claim stands on: its quotes, and their context on the page."""

    quotes: tuple[str, ...]
    title: str = ""
    headings: str = ""
    date: str = ""  # the page's own date, ISO
    around: str = ""  # up to 400 characters before and after

    @cached_property
    def everything(self) -> str:
        """Quotes and context as one text."""
        parts = (*self.quotes, self.title, self.headings, self.around, self.date)
        return unicodedata.normalize("NFKC", "\n".join(part for part in parts if part))

    @cached_property
    def quoted(self) -> str:
        """The quotes as one text."""
        return "\n".join(self.quotes)

    @cached_property
    def figures(self) -> tuple[Figure, ...]:
        """Every figure of quotes and context."""
        return figures(self.everything)

    @cached_property
    def dates(self) -> tuple[Date, ...]:
        """Every date of quotes and context."""
        return dates(self.everything)

    @cached_property
    def years(self) -> frozenset[int]:
        """Every year that is named, or follows from the page's date and words such as "last year"."""
        years = {date.year for date in self.dates if date.year}
        for first, last in _YEAR_SPAN.findall(self.everything):
            years |= {int(first), int(last) if len(last) == 4 else int(first[:2] + last)}
        day = day_of(self.date)
        own = {day.year} if day else {date.year for date in self.dates if date.year and date.month}
        if _RELATIVE_YEAR.search(self.everything):
            years |= {year + apart for year in own for apart in (-1, 0, 1)}
        spans = {int(f.value) for f in self.figures if f.factor == _YEAR_S and f.value <= 100}
        return frozenset(
            years | own | {year + sign * span for year in years for span in spans for sign in (-1, 1)}
        )

    @cached_property
    def counts(self) -> frozenset[int]:
        """How many items lists, table rows and enumerations have."""
        return frozenset(_counts(self.everything))


def underived(statement: str, passage: Passage) -> list[str]:
    """Return the figures and dates that are neither in the passage nor derivable from it, as written."""
    when = dates(statement)
    taken = [(date.start, date.end) for date in when]
    wrong = [date.text for date in when if not _is_date_known(date, passage)]
    for figure in figures(statement):
        is_in_date = any(figure.start < end and start < figure.end for start, end in taken)
        if not is_in_date and not is_figure_known(figure, passage):
            wrong.append(figure.text)
    return list(dict.fromkeys(wrong))


def is_figure_known(figure: Figure, passage: Passage) -> bool:
    """Tell whether a figure is in the passage, or follows from one that is."""
    if (figure.is_word and figure.value <= _ALWAYS_FINE) or figure.value == 1:
        return True
    if any(is_same(figure, other) for other in passage.figures):
        return True
    if any(figure.value in date.parts.values() for date in passage.dates):
        return True
    return _is_counted(figure, passage) or _is_calendar(figure, passage)


def is_same(figure: Figure, other: Figure) -> bool:
    """Tell whether two figures are one value: as written, converted, or rounded."""
    if _is_near(figure.value, other.value, _CLOSE):
        return is_same_unit(figure, other)
    if figure.dimension and figure.dimension == other.dimension and figure.factor != other.factor:
        apart = abs(figure.base - other.base)
        step = max(figure.step * figure.factor, other.step * other.factor) / 2
        if apart <= max(_CLOSE * abs(figure.base), min(step, _CONVERTED * abs(figure.base))):
            return True
    # A unit that is missing on one side: "320 MW" and "0.32" never meet, "3.6%" and "3.6" do (above).
    return _is_rounded(figure, other)


def is_same_unit(figure: Figure, other: Figure) -> bool:
    """Tell whether two units can stand for each other; a counter ("5명") or no unit can stand for any."""
    if not {figure.dimension, other.dimension} <= _MEASURES:
        return True
    if {figure.dimension, other.dimension} <= _SHARES:
        return True  # "percent" for "percentage points" is a suspicion, not a refusal
    return figure.dimension == other.dimension and figure.factor == other.factor


def _is_rounded(figure: Figure, other: Figure) -> bool:
    """Tell whether the figure is the other one with fewer digits."""
    if not figure.step or not figure.value or (figure.is_word and not figure.is_approximate):
        return False
    if figure.dimension and other.dimension and figure.dimension != other.dimension:
        return False
    step, value = figure.step, figure.value
    while step * 10 <= value and _is_near(value / (step * 10), round(value / (step * 10)), 1e-9):
        step *= 10  # the zeros of "18,000" are no digits
    digits = len(str(round(value / step)))
    base = other.base / figure.factor if figure.dimension == other.dimension else other.value
    apart = abs(value - base)
    if figure.is_approximate:
        return apart <= max(step / 2, 0.03 * value) or (digits == 1 and apart <= step)
    return digits >= 2 and apart <= step / 2 * (1 + 1e-9) and apart <= 0.03 * value


def _is_counted(figure: Figure, passage: Passage) -> bool:
    value = figure.value
    is_small = value == int(value) and value <= _MOST_COUNTED
    is_bare = figure.dimension in {"", "things", "places", "persons", "ordinal", "cases"}
    return is_small and is_bare and int(value) in passage.counts


def _is_calendar(figure: Figure, passage: Passage) -> bool:
    """Tell whether it is a number of years between two that are named, a year, a quarter or an age decade."""
    value = figure.value
    if value != int(value):
        return False
    if 1000 <= value <= 2199 and not figure.dimension and int(value) in passage.years:
        return True
    if figure.dimension in {"time", "ordinal", ""} and value <= 200:
        named = {date.year for date in passage.dates if date.year}
        day = day_of(passage.date)
        years = named | ({day.year} if day else set())
        if any(abs(one - two) in {value, value - 1} for one in years for two in years if one != two):
            return True
    if value in {1, 2, 3, 4} and _QUARTER.search(figure.text):
        return True
    return value in {10, 12, 24, 52, 365} and figure.dimension == "time"


def _is_date_known(date: Date, passage: Passage) -> bool:
    if date.decade:
        return any(date.decade == year // 10 * 10 for year in passage.years) or any(
            date.decade == known.decade for known in passage.dates
        )
    if date.year and date.year not in passage.years:
        return False
    day = day_of(passage.date)
    months = {known.month for known in passage.dates if known.month} | ({day.month} if day else set())
    days = {known.day for known in passage.dates if known.day} | ({day.day} if day else set())
    numbers = {figure.value for figure in passage.figures}
    is_month = (
        not date.month or date.month in months or date.month in numbers or _in_quarter(date.month, passage)
    )
    is_day = not date.day or date.day in days or date.day in numbers
    return is_month and is_day


def _in_quarter(month: int, passage: Passage) -> bool:
    words = {"first": 1, "second": 2, "third": 3, "fourth": 4}
    named = _QUARTER.findall(passage.everything)
    quarters = {int(number or letter or words[word.lower()]) for number, letter, word in named}
    is_relative = _RELATIVE_YEAR.search(passage.everything) is not None and re.search(
        r"지난달|이달|전월|\b(?:last|this|next|previous) month\b", passage.everything, re.IGNORECASE
    )
    return (month + 2) // 3 in quarters or bool(is_relative)


def _counts(text: str) -> Iterable[int]:
    run = 0
    for line in [*text.splitlines(), ""]:
        if _LIST_LINE.match(line):
            run += 0 if _TABLE_RULE.match(line) else 1
            continue
        if not line.strip() and run:
            continue
        if run:
            yield from {run, max(1, run - 1)}  # a table's first row is its header
        run = 0
    if run:
        yield from {run, max(1, run - 1)}
    for match in _ENUMERATION.finditer(text):
        items = [part for part in _SEPARATOR.split(match.group()) if part.strip()]
        yield len(items)
        yield len(items) - 1  # the first may be the lead-in


def _is_near(one: float, two: float, share: float) -> bool:
    return abs(one - two) <= share * max(abs(one), abs(two), 1e-12)


def passage_of(
    quotes: Sequence[str], *, title: str = "", headings: str = "", date: str = "", around: str = ""
) -> Passage:
    """Make a passage from loose parts."""
    return Passage(tuple(quotes), title, headings, date, around)
