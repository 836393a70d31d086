"""Which dates a page names or means: years written in full or short, "last year", "next month", quarters.

Knows the page's own date, if it has one; does not know today.
"""

import re
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property

from fathom.evidence.dates import Date, dates, day_of
from fathom.evidence.figures import Figure

# How many years off the page's own year a word is.
_RELATIVE_YEARS = {
    (-2,): r"재작년|지지난해|two years (?:ago|earlier)|the year before last",
    (-1,): r"전년|작년|지난해|한 해 전|1년 (?:전|사이|새)|전해|지난(?:달| \d+월| \w+ \d+일)|한 해 사이"
    r"|\b(?:last|previous|prior|past) (?:year|summer|winter|spring"
    r"|autumn|fall|quarter|month|season|week|january|february"
    r"|march|april|may|june|july|august|september|october"
    r"|november|december)\b|\bthe (?:previous|prior) year\b"
    r"|\byears? (?:ago|earlier|before|over|on)\b|\ba year\b|지난 절기|지난 시즌|같은 (?:기간|분기|달)|동기",
    (1,): r"내년|다음 ?해|이듬해|새해"
    r"|\b(?:next|following|coming) (?:year|summer|winter|spring|autumn|quarter|month|season)\b"
    r"|\byears? later\b",
    (-1, 0, 1): r"그해|그 뒤|해마다|\bthat year\b|\bannual(?:ly)?\b|하반기|상반기|\b(?:first|second) half\b",
}
_RELATIVE = {offsets: re.compile(words, re.IGNORECASE) for offsets, words in _RELATIVE_YEARS.items()}
_TOPIC = re.compile(
    r"올해|올 |올[가-힣]|금년|작년|지난해|내년|이번|오는|현재|오늘|최근"
    r"|\b(?:this|last|next) \w+|\b(?:now|today|currently|recent\w*)\b",
    re.IGNORECASE,
)
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
_NEAR_MONTH = re.compile(
    r"지난달|이달|이번 달|다음 ?달|전월|전달|내달|\b(?:last|this|next|previous|following|prior) month\b",
    re.IGNORECASE,
)
_NEAR_DAY = re.compile(
    r"어제|오늘|내일|그제|모레|[월화수목금토일]요일|\d일 [전뒤후]"
    r"|[이사나]흘|이틀|지난주|이번 주|다음 주|\d주 [전뒤후]"
    r"|\b(?:yesterday|today|tomorrow|(?:mon|tues|wednes|thurs|fri|satur|sun)day|days? (?:ago|later|earlier)"
    r"|weeks? (?:ago|later|earlier)|(?:last|this|next) week)\b",
    re.IGNORECASE,
)
_DAYS_NEAR = 15


@dataclass(frozen=True)
class CalendarOfPage:
    """The years, months and days of a page: `text` is quotes and context, `spans` are in years."""

    text: str
    published: str
    spans: frozenset[int]

    @cached_property
    def day(self) -> date | None:
        """The page's own day."""
        return day_of(self.published)

    @cached_property
    def dates(self) -> tuple[Date, ...]:
        """Every date that is written out."""
        return dates(self.text)

    @cached_property
    def own(self) -> frozenset[int]:
        """The years the page may be of."""
        return frozenset({self.day.year} if self.day else {d.year for d in self.dates if d.year and d.month})

    @cached_property
    def named(self) -> frozenset[int]:
        """The years that are written, in full or short."""
        years = {date.year for date in self.dates if date.year}
        for first, last in _SPAN.findall(self.text):
            years |= {int(first), int(last) if len(last) == 4 else int(first[:2] + last)}
        years |= {int(year) for pair in _FULL_YEAR.findall(self.text) for year in pair if year}
        short = {2000 + int(year) for parts in _SHORT_YEAR.findall(self.text) for year in parts if year}
        return frozenset(years | {year for year in short if not self.day or year <= self.day.year + 5})

    @cached_property
    def years(self) -> frozenset[int]:
        """Every year that is named, or follows from the page's date and words such as "last year"."""
        meant = {
            year + offset
            for offsets, words in _RELATIVE.items()
            if words.search(self.text)
            for year in self.own
            for offset in offsets
        }
        years = self.named | self.own | meant
        return frozenset(
            years | {year + sign * span for year in years for span in self.spans for sign in (-1, 1)}
        )

    @cached_property
    def months(self) -> frozenset[int]:
        """Every month that is named, or is next to the page's own, or in a quarter or half that is named."""
        months = {date.month for date in self.dates if date.month}
        if self.day:
            near = (-1, 0, 1) if _NEAR_MONTH.search(self.text) or _NEAR_DAY.search(self.text) else (0,)
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
        """Every bare number that may be a month or a day, as in "오는 22일" or "6.20"."""
        return frozenset(int(number) for number in re.findall(r"(?<!\d)\d{1,2}(?!\d)", self.text))

    def has(self, when: Date) -> bool:
        """Tell whether a date is named or meant."""
        if when.decade:
            decades = {year // 10 * 10 for year in self.years} | {date.decade for date in self.dates}
            return when.decade in decades or when.decade % 100 in self.numbers
        if when.year and when.year not in self.years:
            return False
        if when.month and when.day and self._is_near(when):
            return True
        if when.year and when.month and self._is_of_another_year(when):
            return False
        is_month = not when.month or when.month in self.months or when.month in self.numbers
        return is_month and (not when.day or when.day in self.numbers)

    def _is_near(self, when: Date) -> bool:
        """Tell whether it is near the page's own day, and the page speaks of days near it."""
        if not self.day or not _NEAR_DAY.search(self.text):
            return False
        try:
            meant = date(when.year or self.day.year, when.month, when.day)
        except ValueError:
            return False
        return abs(meant - self.day) <= timedelta(days=_DAYS_NEAR)

    def _is_of_another_year(self, when: Date) -> bool:
        """Tell whether the page gives this very day, or month, only with other years."""
        same = [d for d in self.dates if d.month == when.month and (not when.day or d.day in {0, when.day})]
        if self.day and (self.day.year, self.day.month) == (when.year, when.month):
            return bool(when.day and same and all(d.year not in {0, when.year} for d in same))
        return bool(same) and all(d.year not in {0, when.year} for d in same)

    def explains(self, figure: Figure) -> bool:
        """Tell whether a figure is a year, a number of years between two of them, a quarter or a decade."""
        value = figure.value
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


def is_relative(text: str) -> bool:
    """Tell whether a text is about a time that only the page's date tells, such as "last year"."""
    return _TOPIC.search(text) is not None
