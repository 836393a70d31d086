"""Dates that a page names or means: full and short years, "last year", "next month", quarters.

Relative dates use the page's own date, never today.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property, lru_cache
from itertools import combinations

from fathom.evidence.checks import has_phrase
from fathom.evidence.checks.figures import Figure

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
    """The given parts of a date; zero means not given."""

    text: str
    start: int
    end: int
    year: int = 0
    month: int = 0
    day: int = 0
    decade: int = 0

    @cached_property
    def parts(self) -> dict[str, int]:
        """Return the given parts."""
        all_parts = {"year": self.year, "month": self.month, "day": self.day, "decade": self.decade}
        return {name: value for name, value in all_parts.items() if value}


@lru_cache(maxsize=2048)
def find_dates(text: str) -> tuple[Date, ...]:
    """Return every date, in order."""
    found = [_parse_english_date(match) for match in _ENGLISH.finditer(text)]
    if not text.isascii():
        found += [_parse_korean_date(match) for match in _KOREAN.finditer(text)]
    return tuple(sorted(found, key=lambda date: date.start))


def resolve_years(text: str, year: int) -> set[int]:
    """Return the years that "last year" and such mean on a page of a year; its own too beside comparisons."""
    found = set()
    for match in _NAMED_YEAR.finditer(text):
        found.add(year + (match.lastindex or 0) - 3)
        if _COMPARED.match(text, match.end()) or _COMPARED_TO.search(text[: match.start()][-10:]):
            found.add(year)
    return found


def find_wrong_dates(statement: str, quotes: Sequence[str]) -> list[str]:
    """Return the dates of a statement that no quote gives."""
    known = [date for quote in quotes for date in find_dates(quote)]
    wrong = [date.text for date in find_dates(statement) if not _is_date_given(date, known)]
    seasons = _find_seasons(statement)
    given = {_SEASONS[season] for season in _find_seasons(" ".join(quotes))} if seasons else set()
    return wrong + [season for season in seasons if given and _SEASONS[season] not in given]


def _find_seasons(text: str) -> list[str]:
    low = text.lower()
    if not any(season in low for season in _SEASONS):
        return []
    return [english or korean for english, korean in _SEASON.findall(low)]


def _is_date_given(date: Date, known: Sequence[Date]) -> bool:
    """Tell whether one date gives all its parts, or several give them without a conflict."""
    if any(date.parts.items() <= other.parts.items() for other in known):
        return True
    if date.decade and any(date.decade == other.year // 10 * 10 for other in known):
        return True
    if len(date.parts) < 2:
        return False
    said = [other for other in known if set(date.parts) & set(other.parts)]
    agreeing = [o for o in said if all(o.parts.get(n, v) == v for n, v in date.parts.items())]
    return {n for o in agreeing for n in o.parts} >= set(date.parts)


def _parse_english_date(match: re.Match[str]) -> Date:
    year = match["iy"] or match["y1"] or match["y2"] or match["y3"] or match["y4"]
    name = match["m1"] or match["m2"] or match["m3"] or match["m5"]
    month = int(match["im"]) if match["im"] else _MONTHS[name.lower()] if name else 0
    day = match["id"] or match["d1"] or match["d2"]
    return Date(match.group(), *match.span(), int(year or 0), month, int(day or 0), int(match["dec"] or 0))


def _parse_korean_date(match: re.Match[str]) -> Date:
    got = {name: int(value) for name, value in match.groupdict().items() if value}
    month, day = got.get("m") or got.get("m1", 0), got.get("d") or got.get("d1", 0)
    return Date(match.group(), *match.span(), got.get("y", 0), month, day, got.get("dec", 0))


def parse_day(published: str | None) -> date | None:
    """Return the day a page was published, if given."""
    try:
        return date.fromisoformat((published or "")[:10])
    except ValueError:
        return None


# Phrases for years relative to the page's own year.
_RELATIVE = {"two_years_before": (-2,), "a_year_before": (-1,), "a_year_after": (1,), "that_year": (-1, 0, 1)}
# Years as seen from the page's own; behind a comparison the figures are of another year.
_NAMED_YEAR = re.compile(
    r"(재작년)|(지난해|작년|\blast year\b)|(올해|\bthis year\b)|(내년|\bnext year\b)", re.IGNORECASE
)
_COMPARED = re.compile(r"\s?(?:보다|대비|에 비|[과와] (?:비교|견)|동기|(?:\S+ )?같은)|['’]s\b")
_COMPARED_TO = re.compile(r"\b(?:than|from|over|against|with|to|on) $", re.IGNORECASE)
_SPAN = re.compile(r"(1\d{3}|20\d{2}|21\d{2})\s?[-–~/]\s?(\d{2}|\d{4})(?!\d)")
_SHORT_YEAR = re.compile(
    r"['’‘](\d\d)(?=[년.~\s\-–])|(?<!\d)(\d\d)년(?!간|\s?(?:동안|만에|전|뒤|후|째|연속|이상|이하|넘))"
    r"|\b[1-4]Q\s?['’]?(\d\d)\b|\b(?:FY|CY)\s?['’]?(\d\d)(?!\d)",
    re.IGNORECASE,
)
_FULL_YEAR = re.compile(
    r"(?:FY|CY|[1-4]Q)\s?(20\d\d)|(20\d\d)(?:회계연도|년도|학년도|[./]\d|\s?FY)", re.IGNORECASE
)
_QUARTER = re.compile(
    r"([1-4])\s?분기|\bQ([1-4])\b|\b([1-4])Q|\b(first|second|third|fourth) quarter\b|([1-4])/4분기",
    re.IGNORECASE,
)
_QUARTER_WORDS = {"first": 1, "second": 2, "third": 3, "fourth": 4}
_HALF = re.compile(r"(상반기|\bfirst half\b|\bH1\b)|(하반기|\bsecond half\b|\bH2\b)", re.IGNORECASE)


_DAYS_NEAR = 15
_MOST_DATES = 12


@dataclass(frozen=True)
class PageCalendar:
    """The years, months and days of a page: `text` is quotes and context; spans are in years and months."""

    text: str
    published: str
    spans: frozenset[int]
    month_spans: frozenset[int] = frozenset()

    @cached_property
    def day(self) -> date | None:
        """Return the page's own day."""
        return parse_day(self.published)

    @cached_property
    def dates(self) -> tuple[Date, ...]:
        """Return every written date."""
        return find_dates(self.text)

    @cached_property
    def own(self) -> frozenset[int]:
        """Return the possible years of the page itself."""
        return frozenset({self.day.year} if self.day else {d.year for d in self.dates if d.year and d.month})

    @cached_property
    def named(self) -> frozenset[int]:
        """Return the written years, full or short."""
        years = {date.year for date in self.dates if date.year}
        for first, last in _SPAN.findall(self.text):
            years |= {int(first), int(last) if len(last) == 4 else int(first[:2] + last)}
        years |= {int(year) for pair in _FULL_YEAR.findall(self.text) for year in pair if year}
        short = {2000 + int(year) for parts in _SHORT_YEAR.findall(self.text) for year in parts if year}
        return frozenset(years | {year for year in short if not self.day or year <= self.day.year + 5})

    @cached_property
    def years(self) -> frozenset[int]:
        """Return every year named, or implied by the page's date and words such as "last year"."""
        meant = {
            year + offset
            for words, offsets in _RELATIVE.items()
            if has_phrase(words, self.text)
            for year in self.own
            for offset in offsets
        }
        if has_phrase("year_before_another", self.text):  # than the page's own
            meant |= {year - 1 for year in self.named | meant}
        years = self.named | self.own | meant
        return frozenset(
            years | {year + sign * span for year in years for span in self.spans for sign in (-1, 1)}
        )

    @cached_property
    def months(self) -> frozenset[int]:
        """Return every month named, adjacent to the page's own, or in a named quarter or half."""
        months = {date.month for date in self.dates if date.month}
        if self.day:
            is_near = has_phrase("near_month", self.text) or has_phrase("near_day", self.text)
            near = (-1, 0, 1) if is_near else (0,)
            months |= {(self.day.month - 1 + apart) % 12 + 1 for apart in near}
        for parts in _QUARTER.findall(self.text):
            name = next(part for part in parts if part).lower()
            quarter = _QUARTER_WORDS.get(name) or int(name)
            months |= {quarter * 3 - 2, quarter * 3 - 1, quarter * 3}
        for first, _ in _HALF.findall(self.text):
            months |= {1, 6} if first else {7, 12}
        return frozenset(months)

    @cached_property
    def numbers(self) -> frozenset[int]:
        """Return every bare number that may be a month or day, as in "오는 22일" or "6.20"."""
        return frozenset(int(number) for number in re.findall(r"(?<!\d)\d{1,2}(?!\d)", self.text))

    def _is_near_year(self, when: Date) -> bool:
        """Tell whether it is a year beside the page's own: "December" on a page of January is last year's."""
        if self.day is None or abs(when.year - self.day.year) > 1:
            return False
        is_bare = any(date.month == when.month and not date.year for date in self.dates if date.month)
        return is_bare or self.named <= {self.day.year}

    def has(self, when: Date) -> bool:
        """Tell whether a date is named or implied."""
        if when.decade:
            decades = {year // 10 * 10 for year in self.years} | {date.decade for date in self.dates}
            return when.decade in decades or when.decade % 100 in self.numbers
        if self._is_months_apart(when):
            return True
        if when.year and when.year not in self.years and not self._is_near_year(when):
            return False
        if when.month and when.day and self._is_near(when):
            return True
        if (when.month, when.day) in {(1, 1), (12, 31)} and has_phrase("edge_of_year", self.text):
            return True
        if when.year and when.month and self._is_of_another_year(when):
            return False
        months = self.months
        if has_phrase("months_apart", self.text):
            months |= {(month - 1 + apart) % 12 + 1 for month in months for apart in (-1, 1)}
        is_month = not when.month or when.month in months or when.month in self.numbers
        return is_month and (not when.day or when.day in self.numbers)

    def _is_months_apart(self, when: Date) -> bool:
        """Tell whether it is a month that a quoted number of months leads to: "for five months"."""
        if not (when.year and when.month and self.month_spans) or when.day:
            return False
        known = {12 * d.year + d.month for d in self.dates if d.year and d.month}
        known |= {12 * self.day.year + self.day.month} if self.day else set()
        apart = {abs(12 * when.year + when.month - month) for month in known}
        # The first and the last month may be counted, and a page is often of the month after.
        return any(span + more in apart for span in self.month_spans for more in (-1, 0, 1))

    def _is_near(self, when: Date) -> bool:
        """Tell whether it is near the page's own day, and the page mentions days near it."""
        if not self.day or not has_phrase("near_day", self.text):
            return False
        try:
            meant = date(when.year or self.day.year, when.month, when.day)
        except ValueError:
            return False
        return abs(meant - self.day) <= timedelta(days=_DAYS_NEAR)

    def _is_of_another_year(self, when: Date) -> bool:
        """Tell whether the page gives this day or month only with other years."""
        same = [d for d in self.dates if d.month == when.month and (not when.day or d.day in {0, when.day})]
        if self.day and (self.day.year, self.day.month) == (when.year, when.month):
            return bool(when.day and same and all(d.year not in {0, when.year} for d in same))
        return bool(same) and all(d.year not in {0, when.year} for d in same)

    def explains(self, figure: Figure) -> bool:
        """Tell whether a figure is a year, a difference of years, a quarter or a decade."""
        value = figure.value
        if figure.dimension == "time" and self._is_between_dates(figure):
            return True
        if value != int(value):
            return False
        if 1000 <= value <= 2199 and not figure.dimension and int(value) in self.years:
            return True
        if value in {part for date in self.dates for part in date.parts.values()}:
            return True
        if figure.dimension in {"time", "ordinal", ""} and value <= 200:
            years = {date.year for date in self.dates if date.year} | ({self.day.year} if self.day else set())
            if any(abs(one - two) in {value, value - 1} for one in years for two in years if one != two):
                return True
        if figure.dimension == "quarter" or (figure.code == "q" and value <= 4):
            return bool({value * 3 - 2, value * 3 - 1, value * 3} & self.months)
        return value in {10, 12, 24, 52, 365} and figure.dimension == "time"

    def _is_between_dates(self, figure: Figure) -> bool:
        """Tell whether it is the time between two dates, by month or day."""
        days = [
            (date(d.year or (self.day.year if self.day else 2001), d.month, min(d.day or 1, 28)), d.day > 0)
            for d in self.dates
            if d.month and d.month <= 12
        ]
        if self.day:
            days.append((self.day, True))
        for (one, is_exact), (other, is_too) in combinations(days[:_MOST_DATES], 2):
            spare = max(figure.step * figure.factor / 86400 / 2, 3 if is_exact and is_too else 31)
            if abs(abs((one - other).days) - figure.base / 86400) <= min(spare, figure.base / 86400 / 4):
                return True
        return False
