"""Amounts of a statement in base units, for comparisons of statements; the figures are those of `figures`.

Dates are no amounts.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log10

from fathom.evidence.checks.dates import find_dates
from fathom.evidence.checks.figures import Figure, find_figures
from fathom.evidence.checks.words import is_same_measure
from fathom.text.tokens import TakenSpans

_APPROXIMATE = re.compile(
    r"\b(?:about|around|roughly|approximately|nearly|almost|some|over|more than|under|less than|up to"
    r"|close to)\s*\S{0,3}$"
    r"|(?:약|대략|거의|무려|최대|최소)\s*$"
)
_DENIED_BEFORE = re.compile(r"\b(?:not|rather than|instead of)(?: the| from)?\s+[$€£¥₩]?$", re.IGNORECASE)
_DENIED_AFTER = re.compile(r"\s?[가-힣]{0,6}?(?:이|가)?\s?(?:아니라|아닌|아니고)")
_DEFINITE = re.compile(r"\b(?:the|these|those|both|other)\s$", re.IGNORECASE)
_IN_A_ROW = re.compile(
    r"연속|내리|째|\b(?:consecutive|successive|straight|running|in a row)\b", re.IGNORECASE
)
_ONCE = re.compile(r"\bonce\b(?=[.,;]|$)")
_NEAR = 0.03
_CONVERTED = 0.006  # relative rounding error, at most, between miles and kilometres or thirds and percent


@dataclass(frozen=True)
class Amount:
    """An amount in base units of its measure; the measure is empty for a plain number.

    `unit` is one of its own units in base units, 0 for a fraction; `step` is the value of its last digit.
    """

    text: str
    start: int
    end: int
    value: float
    measure: str
    is_approximate: bool = False
    unit: float = 1.0
    step: float = 0.0


@lru_cache(maxsize=2048)
def find_amounts(text: str) -> tuple[Amount, ...]:
    """Return every amount in order, without parts of dates and of names such as "GX-4"."""
    taken = TakenSpans(text, find_dates(text))
    found = (figure for figure in find_figures(text) if not taken.has(figure.start, figure.end))
    once = [Amount(match.group(), *match.span(), 1, "times") for match in _ONCE.finditer(text)]
    amounts = [_make_amount(figure, text) for figure in found if figure.code in {"", "v"}]
    return tuple(sorted([*amounts, *once], key=lambda amount: amount.start))


def _make_amount(figure: Figure, text: str) -> Amount:
    is_fraction = figure.is_word and figure.dimension == "percent"
    is_about = _APPROXIMATE.search(text[max(0, figure.start - 24) : figure.start].lower()) is not None
    unit = 0.0 if is_fraction else figure.factor
    step = 0.0 if is_fraction else figure.step * figure.factor
    return Amount(figure.text, figure.start, figure.end, figure.base, figure.dimension, is_about, unit, step)


def find_wrong_amounts(statement: str, quotes: Sequence[str]) -> list[str]:
    """Return the amounts of a statement that no quote gives."""
    every = [amount for quote in quotes for amount in find_amounts(quote)]
    known = [amount for quote in quotes for amount in _find_asserted(quote)]
    asserted = frozenset(_find_asserted(statement))
    is_in_a_row = _IN_A_ROW.search(statement) is not None
    spare = {float(value) for quote in quotes for date in find_dates(quote) for value in date.parts.values()}
    return [
        said.text
        for said in find_amounts(statement)
        if not any(is_same_amount(said, other) for other in (known if said in asserted else every))
        and not (not said.measure and said.value in spare)
        and not (said.value == 1 and said.text.lower() in {"one", "한"})
        and not (said.value == 2 and _DEFINITE.search(statement[max(0, said.start - 10) : said.start]))
        and not (is_in_a_row and any(_is_same_run(said, other) for other in every))
    ]


def _is_same_run(said: Amount, other: Amount) -> bool:
    """Tell whether "8 years in a row" and "the eighth" say the same."""
    return {said.measure, other.measure} == {
        "time",
        "ordinal",
    } and said.value / said.unit == other.value / other.unit


def find_denied_span(amount: Amount, text: str) -> tuple[int, int] | None:
    """Return the span that denies an amount, as in "9 crowns, not 7", including "not"."""
    head = text[max(0, amount.start - 40) : amount.start]
    is_led = head.rstrip().rstrip("$€£¥₩").rstrip().lower().endswith(("not", "than", "of", " the", " from"))
    if is_led and (before := _DENIED_BEFORE.search(head)):
        return amount.start - len(head) + before.start(), amount.end
    after = _DENIED_AFTER.match(text, amount.end)
    return (amount.start, after.end()) if after else None


def _find_asserted(text: str) -> tuple[Amount, ...]:
    """Return the amounts of a text without those it denies."""
    found = find_amounts(text)
    return tuple(amount for amount in found if find_denied_span(amount, text) is None) or found


def is_same_amount(said: Amount, other: Amount) -> bool:
    """Tell whether two amounts are equal: exactly, or within "about" or a unit conversion."""
    if not is_same_measure(said.measure, other.measure):
        return False
    size, apart = max(abs(said.value), abs(other.value)), abs(said.value - other.value)
    if said.is_approximate:
        return apart <= _NEAR * size
    rounded = min(_CONVERTED * size, max(said.step, other.step) / 2) if _is_converted(said, other) else 0.0
    return apart <= max(rounded, 1e-9 * size)


def _is_converted(said: Amount, other: Amount) -> bool:
    """Tell whether the units differ by no power of ten, so that a figure is rounded in one of them."""
    if not said.unit or not other.unit:
        return said.unit != other.unit
    power = log10(said.unit / other.unit)
    return abs(power - round(power)) > 1e-9
