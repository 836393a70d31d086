"""Decide whether each figure and date of a statement is in its evidence or can be derived from it.

Derivations are: units (0.32 GW for 320 MW), scale and rounding (about 18,000 for 17,958; thousands by a
table's header), counting listed items ("five problems" above five of them), and the calendar ("in 2024" for
"last year" on a page of 2025).

This is the only content rule by which code alone refuses a claim. A difference or share of two quoted figures
is not refused, but flagged for the verifier (`find_calculation`).
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, combinations, permutations

from fathom.evidence.checks import UNITS
from fathom.evidence.checks.dates import Date, PageCalendar, find_dates
from fathom.evidence.checks.figures import (
    Figure,
    find_figures,
    find_loose_figures,
    normalize_letters,
    scale_of,
)
from fathom.text.tokens import TakenSpans

_CLOSE = 1e-9
_CONVERTED = 0.006  # units that differ by no power of ten: the figure is rounded in one of them
_ALWAYS_FINE = 2.0  # "one", "both", "two" as words say hardly more than a plural
_ROUNDED = 0.02  # relative, of a share of a quoted figure
_ROUGHLY = 2.0  # percentage points that "a quarter" may be off
_MOST_COUNTED = 60
_MOST_OPERANDS = 12
_TRIFLE = 0.005  # of the other operand: 65,022 - 1 is chance
_SMALL = 5
_EXACT_DIGITS = 3
_MOST_QUOTED = 4000
_FACTORS = (2.0, 3.0, 4.0, 7.0, 12.0, 24.0, 30.0, 52.0, 60.0, 100.0, 365.0)  # "a month" for "a year", a half
SHARES = frozenset({"percent", "points"})
MEASURES = SHARES | {
    "power", "energy", "length", "area", "volume", "mass", "time", "degree", "celsius", "fahrenheit",
    "information", "frequency", "speed", "dollar", "euro", "won", "yen", "pound", "yuan", "rupee",
}  # fmt: skip
_LIST_LINE = re.compile(r"^\s*(?:[-*+•·]|\d+[.)]|\|)\s*\S")
_WRAPPED = re.compile(r"(?<=[a-z,])\n {0,8}(?=[a-z(`])")
_TABLE_RULE = re.compile(r"^[\s:|-]+$")
_ENUMERATION = re.compile(r"(?:[^.;:!?\n()|]|\.(?=\d))+")
_SEPARATOR = re.compile(r",\s?(?:and |or |그리고 |및 )?|\s(?:and|or|및|그리고)\s|·|[와과]\s|(?<=[고며])\s")
_VERSION = re.compile(r"(?<![\d.])\d{1,3}(?:\.\d{1,4}){2,3}(?![\d.]*\d)")
_BRACKETS = re.compile(r"\([^()\n]*\)")
_LARGE = 10_000  # a bare figure from here on may be another one written out, "£112m" as 112 million
_CLOCK = re.compile(r"(?<![\d:])(\d{1,3}):(\d\d)(?::(\d\d))?(?![\d:])")
_CENTURY = re.compile(r"century|세기", re.IGNORECASE)
_OUT_OF = re.compile(r"\s(?:중|가운데|in|out of)\s")
_TABLE_SCALE = re.compile(
    r"(?:단위\s?[:：]?\s?|[(\[])(?P<korean>[십백천]?[만억조]|[백천])\s?(?P<thing>[가-힣$]{1,6}|달러|TOE)?\s?[,)\]\s]"
    r"|[(\[]\s?(?:in |US)?\$?\s?(?P<english>thousand|million|billion|trillion|mn|bn)s?\b[^)\]\n]{0,20}[)\]]"
    r"|[(\[](?:US)?[$€£¥]\s?(?P<short>bn|mn|m|k)[)\]]|(?P<zeros>['’]000)\b"
    r"|\bin (?P<plural>thousand|million|billion|trillion)s\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Passage:
    """The evidence of a claim: its quotes and their context on the page."""

    quotes: tuple[str, ...]
    title: str = ""
    headings: str = ""
    date: str = ""  # the page's own date, ISO
    around: str = ""  # up to 400 characters before and after

    @cached_property
    def everything(self) -> str:
        """Return quotes and context as one text."""
        parts = (*self.quotes, self.title, self.headings, self.around, self.date)
        return normalize_letters("\n".join(part for part in parts if part))

    @cached_property
    def quoted(self) -> str:
        """Return the quotes as one text, with wrapped lines joined, truncated if very long."""
        return normalize_letters(_WRAPPED.sub(" ", "\n".join(self.quotes)[:_MOST_QUOTED]))

    @cached_property
    def figures(self) -> tuple[Figure, ...]:
        """Return every figure of quotes and context, also scaled by a table's header."""
        found = (*find_figures(self.everything), *find_loose_figures(self.everything))
        return (*found, *(_scale_figure(figure, scale) for scale in self.scales for figure in found))

    @cached_property
    def scales(self) -> dict[float, str]:
        """Return the scales in table headers, each with what is counted, if given."""
        found = {}
        for match in _TABLE_SCALE.finditer(self.everything):
            word = match["korean"] or match["english"] or match["short"] or match["plural"] or "thousand"
            found[scale_of(word.lower())] = match["thing"] or ""
        return found

    @cached_property
    def calendar(self) -> PageCalendar:
        """Return the years, months and days that the page names or implies."""
        times = [f for f in find_figures(self.quoted) if f.dimension == "time" and 1 <= f.value <= 100]
        years, months = (
            frozenset(int(f.value) for f in times if least < f.factor < 10 * least) for least in (3e7, 2.6e6)
        )
        return PageCalendar(self.everything, self.date, years, months)

    @cached_property
    def counts(self) -> frozenset[int]:
        """Return the item counts of lists, table rows and enumerations."""
        return frozenset(_count_items(self.everything))


def find_underived(statement: str, passage: Passage) -> list[str]:
    """Return the figures and dates that are neither in the passage nor derivable, as written.

    Uncounted numbers up to five are suspicions, not refusals.
    """
    text = normalize_letters(statement)
    when = find_dates(text)
    versions = [v for v in _VERSION.findall(text) if v not in passage.everything]
    quoted = [date.parts for date in find_dates(passage.quoted)]
    wrong = [date.text for date in when if date.parts not in quoted and not passage.calendar.has(date)]
    wrong += [f.text for f in find_figures_outside_dates(text, when) if not is_figure_known(f, passage)]
    return list(dict.fromkeys([*wrong, *versions]))


def is_on_page(fact: str, page: str) -> bool:
    """Tell whether a figure or date stands anywhere in the text of a page, in any way of writing."""
    text = normalize_letters(page)
    if fact in text:
        return True
    days = {tuple(date.parts.items()) for date in find_dates(text)}
    if when := find_dates(fact):
        return all(tuple(date.parts.items()) in days for date in when)
    known = find_figures(text)
    return any(is_same_figure(figure, other) for figure in find_figures(fact) for other in known)


def find_figures_outside_dates(text: str, when: Iterable[Date] | None = None) -> list[Figure]:
    """Return the figures of a text that are not part of a date."""
    taken = TakenSpans(text, find_dates(text) if when is None else when)
    return [figure for figure in find_figures(text) if not taken.has(figure.start, figure.end)]


def is_figure_known(figure: Figure, passage: Passage) -> bool:
    """Tell whether a figure is in the passage or derivable from it."""
    if is_figure_found(figure, passage) or is_small_number(figure) or is_fraction(figure):
        return True
    return bool(find_calculation(figure, passage))


def is_figure_found(figure: Figure, passage: Passage) -> bool:
    """Tell the same without calculations: as written, converted, rounded, counted, or by the calendar."""
    if (figure.is_word and figure.value <= _ALWAYS_FINE) or figure.value == 1:
        return True
    if figure.code and figure.code not in passage.everything.lower():
        return True  # "COVID-19" for "the pandemic": a missing name, not a number
    # Most are in the quote itself; to parse all of the passage takes long.
    if any(is_same_figure(figure, other) for other in find_figures(passage.quoted)):
        return True
    if any(is_same_figure(figure, other) or _is_multiple(figure, other) for other in passage.figures):
        return True
    if figure.is_word and len(parts := _OUT_OF.split(figure.text)) == 2:
        return all(is_figure_found(part, passage) for text in parts for part in find_figures(text))
    if _CENTURY.search(figure.text):
        return any(figure.value in {year // 100 + 1, year // 100} for year in passage.calendar.years)
    if is_age_group(figure) and any(0 <= f.value - figure.value < 10 for f in passage.figures):
        return True
    is_counted = is_small_count(figure) and int(figure.value) in passage.counts
    return is_counted or _is_on_clock(figure, passage) or passage.calendar.explains(figure)


def _is_on_clock(figure: Figure, passage: Passage) -> bool:
    """Tell whether the source gives a duration as on a stopwatch: "+1:55", "2:05:30"."""
    if figure.dimension != "time":
        return False
    for found in _CLOCK.finditer(passage.everything):
        parts = [int(part) for part in found.groups() if part]
        seconds = sum(part * 60**place for place, part in enumerate(reversed(parts)))
        if round(figure.base) in (seconds, seconds * 60):  # minutes and seconds, or hours and minutes
            return True
    return False


def is_age_group(figure: Figure) -> bool:
    """Tell whether it may mean ten years of age: "fifties", "50대"."""
    is_group = (figure.dimension == "age" and figure.is_word) or figure.text.endswith("대")
    return is_group and figure.value % 10 == 0 and 10 <= figure.value <= 90


def is_same_figure(figure: Figure, other: Figure) -> bool:
    """Tell whether two figures have one value: as written, converted, or rounded."""
    if _is_near(figure.value, other.value):
        return is_same_unit(figure, other)
    is_heat = "fahrenheit" in (pair := {figure.dimension, other.dimension}) and pair & {"celsius", "degree"}
    if not is_heat and figure.dimension and other.dimension and figure.dimension != other.dimension:
        return False
    if figure.dimension and figure.dimension == other.dimension and figure.factor != other.factor:
        apart = abs(figure.base - other.base)
        step = max(figure.step * figure.factor, other.step * other.factor) / 2
        if apart <= max(_CLOSE * abs(figure.base), min(step, _CONVERTED * abs(figure.base))):
            return True
    if is_heat:
        is_hot = figure.dimension == "fahrenheit"
        true = other.value * 1.8 + 32 if is_hot else (other.value - 32) / 1.8
        return abs(true - figure.value) <= max(figure.step, 0.5)
    true = other.base / figure.factor if figure.dimension == other.dimension else other.value
    # The first of "1억1200만~1억2000만 파운드" has its unit behind the second.
    is_whole = not figure.dimension and figure.value >= _LARGE and _is_near(figure.value, other.base)
    return is_whole or figure.low <= true <= figure.high


def is_same_unit(figure: Figure, other: Figure) -> bool:
    """Tell whether two units are compatible; a counter ("5명") or no unit fits any."""
    if not {figure.dimension, other.dimension} <= MEASURES:
        return True
    if {figure.dimension, other.dimension} <= SHARES and figure.factor == other.factor:
        return True  # "percent" for "percentage points" is a suspicion, not a refusal
    if {figure.dimension, other.dimension} <= {"degree", "celsius", "fahrenheit"}:
        return "degree" in {figure.dimension, other.dimension} or figure.dimension == other.dimension
    return figure.dimension == other.dimension and figure.factor == other.factor


def is_small_count(figure: Figure) -> bool:
    """Tell whether a figure may count listed things."""
    is_small = figure.value == int(figure.value) and figure.value <= _MOST_COUNTED
    return is_small and figure.dimension not in MEASURES


def find_calculation(figure: Figure, passage: Passage) -> str:
    """Return how a figure is computed from one or two quoted figures, "69.6% - 68.2%"; "" if it is not.

    Sums, differences, shares, percent changes, products and rates of the quotes' own figures.
    """
    if figure.code or not figure.value:
        return ""
    operands = find_figures_outside_dates(passage.quoted)[:_MOST_OPERANDS]
    if "|" in passage.quoted and figure.dimension in MEASURES - SHARES:
        operands = [in_unit for one in operands for in_unit in _give_unit(one, figure, passage)]
    pairs = (_calculate(figure, one, other) for one, other in permutations(operands, 2))
    scaled = (_scale(figure, one) for one in operands)
    return next(filter(None, chain(pairs, scaled)), "") or _find_total_or_rest(figure, operands, passage)


def _find_total_or_rest(figure: Figure, operands: Sequence[Figure], passage: Passage) -> str:
    """Return the formula if a figure is the sum of several quoted ones, or their difference from another one.

    Only that other one may stand around the quote, and only for a figure with enough digits not to be chance.
    """
    like = [one for one in operands if is_same_kind(one, figure) and one.value]
    is_exact = len(str(figure.value / (figure.step or 1)).partition(".")[0]) >= _EXACT_DIGITS
    others = [f for f in find_figures(passage.everything) if is_same_kind(f, figure)] if is_exact else []
    for first, last in combinations(range(len(like) + 1), 2):
        some = like[first:last]
        total = sum(one.base for one in some)
        if len(some) > 2 and _is_in_range(total / figure.factor, figure):
            return " + ".join(one.text for one in some)
        for other in others:
            if _is_near(abs(other.base - total), figure.base) and not _is_trifle(other.base, total):
                whole = (other, *some) if other.base > total else (*some, other)
                return " - ".join(one.text for one in whole)
    return ""


def _is_trifle(one: float, other: float) -> bool:
    """Tell whether one of two operands is so small that a result beside the other one is chance."""
    return min(abs(one), abs(other)) < _TRIFLE * max(abs(one), abs(other))


def is_same_kind(one: Figure, other: Figure) -> bool:
    """Tell whether two figures can be added: amounts of one measure, or counts."""
    return one.dimension == other.dimension or not {one.dimension, other.dimension} & MEASURES


def _give_unit(one: Figure, figure: Figure, passage: Passage) -> list[Figure]:
    """Return a bare figure of a table in the unit of another one: units are in headers and captions."""
    if one.dimension:
        return [one]
    bare = [one, *(_scale_figure(one, scale) for scale in passage.scales)]
    return [replace(f, dimension=figure.dimension, factor=figure.factor) for f in bare]


def _calculate(figure: Figure, one: Figure, other: Figure) -> str:
    if not other.base:
        return ""
    if formula := _find_share_of(figure, one, other):
        return formula
    are_shares = {one.dimension, other.dimension, figure.dimension} <= SHARES
    is_one_kind = one.dimension == other.dimension or not {one.dimension, other.dimension} <= MEASURES
    is_ratio = figure.dimension in {"percent", "times"} and one.dimension not in SHARES
    is_like_them = figure.dimension in {one.dimension, other.dimension} or figure.dimension not in MEASURES
    results: list[tuple[str, float]] = []
    if not _is_trifle(one.base, other.base) and (
        (is_one_kind and is_like_them and not is_ratio) or are_shares
    ):
        results += [("-", one.base - other.base), ("+", one.base + other.base)]
    if is_one_kind and is_ratio:
        by = 100 if figure.dimension == "percent" else 1
        results += [("/", by * share) for share in (one.base / other.base, abs(one.base / other.base - 1))]
    elif is_like_them and not are_shares and figure.value > 2:
        results += [("x", one.base * other.base)]
        results += [("/", one.base / other.base), ("/", one.value / other.value)]
    for sign, result in results:
        if _is_in_range(result / figure.factor, figure):
            return f"{one.text} {sign} {other.text}"
    return ""


def _is_in_range(result: float, figure: Figure) -> bool:
    """Tell whether a calculated value rounds to a figure, or fits its "about" or "over"."""
    half = figure.step / 2 * (1 + 1e-9) if figure.dimension in {"percent", "times", "points"} else 0.0
    spare = max(half, _CLOSE * abs(figure.value), _ROUGHLY * is_fraction(figure))
    return min(figure.low, figure.value - spare) <= result <= max(figure.high, figure.value + spare)


def _scale(figure: Figure, one: Figure) -> str:
    """Return the formula for twelve times a monthly figure, a half, or what a share leaves."""
    if figure.dimension == "percent" == one.dimension and _is_near(figure.value, 100 - one.value):
        return f"100% - {one.text}"
    is_other = figure.dimension != one.dimension and {figure.dimension, one.dimension} <= MEASURES
    if is_other or figure.dimension in SHARES or figure.value <= _SMALL:
        return ""
    for by in _FACTORS:
        for sign, result in (("x", one.base * by), ("÷", one.base / by)):
            if figure.low <= result / figure.factor <= figure.high:
                return f"{one.text} {sign} {by:g}"
    return ""


def _find_share_of(figure: Figure, share: Figure, whole: Figure) -> str:
    """Return the formula if a figure is a percentage of another one, or what that one is a percentage of."""
    if share.dimension != "percent" or not share.value or whole.dimension in SHARES:
        return ""
    if figure.dimension != whole.dimension and (figure.dimension or abs(figure.value) < _MOST_COUNTED):
        return ""
    factors = {factor for kind, factor in UNITS.values() if kind == whole.dimension} or {1.0}
    for result, sign in ((share.value / 100, "of"), (100 / share.value, "is the share of")):
        for factor in factors if figure.dimension != whole.dimension else {figure.factor}:
            value = whole.base * result / factor
            if (
                figure.low <= value <= figure.high
                or abs(value - figure.value) <= abs(figure.value) * _ROUNDED / 2
            ):
                return f"{share.text} {sign} {whole.text}"
    return ""


def is_fraction(figure: Figure) -> bool:
    """Tell whether it is a share in words, "half" or "a third", which may be rounded."""
    return figure.is_word and figure.dimension == "percent"


def is_small_number(figure: Figure) -> bool:
    """Tell whether it is a small number of things or times, whose count code may miss."""
    return figure.value == int(figure.value) <= _SMALL and figure.dimension not in MEASURES - {"time"}


def _is_multiple(figure: Figure, other: Figure) -> bool:
    """Tell whether percent and multiples agree: 60% more is 1.6 times as much, a third is 3 times less."""
    if figure.dimension == "percent" and other.dimension == "times" and other.value:
        parts = [other.value - 1, other.value, 1 / other.value, 1 - 1 / other.value]
        spare = 50 * other.step if 0 < other.step < 1 else _CLOSE
        return any(figure.low - spare <= 100 * part <= figure.high + spare for part in parts)
    if figure.dimension == "times" and other.dimension == "percent" and other.value:
        parts = [other.value / 100 + 1, other.value / 100, 100 / other.value]
        return any(abs(part - figure.value) <= max(figure.step / 2, 0.03 * figure.value) for part in parts)
    return False


def _scale_figure(figure: Figure, by: float) -> Figure:
    return replace(figure, value=figure.value * by, step=figure.step * by)


def _count_items(text: str) -> Iterator[int]:
    run = 0
    for line in [*text.splitlines(), "."]:
        if _LIST_LINE.match(line):
            run += 0 if _TABLE_RULE.match(line) else 1
        elif line.strip() and run:
            yield from {run, max(1, run - 1)}  # a table's first row is its header
            run = 0
    for match in _ENUMERATION.finditer(_BRACKETS.sub("", text)):
        items = [part for part in _SEPARATOR.split(match.group()) if part.strip()]
        yield len(items)
        yield len(items) - 1  # the first may be the lead-in


def _is_near(one: float, two: float) -> bool:
    return abs(one - two) <= _CLOSE * max(abs(one), abs(two), 1e-12)
