"""Recompute what a report worked out, from the figures of the sources that it names.

A calculation is written as "FORMULA = RESULT" with figures in the formula. Figures with a unit, and dates,
must be in a source; plain numbers may be the formula's own.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from string import ascii_lowercase

from fathom.audit.sources import SourcePassages
from fathom.evidence.calculation import recompute
from fathom.evidence.checks.dates import Date, find_dates
from fathom.evidence.checks.derivation import find_figures_outside_dates, is_same_figure
from fathom.evidence.checks.figures import Figure
from fathom.state import Calculation, Operand, Quote


@dataclass(frozen=True)
class RecomputedCalculation:
    """What recomputing found: `wrong` is why it does not come out, `missing` a figure that no source has."""

    quote: Quote | None = None  # where its first figure is from
    wrong: str = ""
    missing: str = ""


def recompute_written(said: str, sources: Sequence[SourcePassages]) -> RecomputedCalculation:
    """Recompute "FORMULA = RESULT", or several of them with semicolons between."""
    done = [_recompute_one(part, sources) for part in said.split("; ")]
    return next((one for one in done if one.wrong or one.missing), done[0])


def _recompute_one(said: str, sources: Sequence[SourcePassages]) -> RecomputedCalculation:
    formula, _, result = said.rpartition(" = ")
    operands, passages, quotes, shown = list[Operand](), {}, list[Quote](), formula
    for name, value in zip(ascii_lowercase, reversed(list(_find_values(formula))), strict=False):
        found = next(_find_quotes(value, sources), None)
        if found:
            source, quote = found
            operands.append(Operand(name=name, value=value.text, claim=name))
            passages[name] = source.passage([quote])
            quotes.append(quote)
            shown = f"{shown[: value.start]}{name}{shown[value.end :]}"
        elif isinstance(value, Date) or value.dimension:
            return RecomputedCalculation(missing=value.text)
    if not operands:
        return RecomputedCalculation(missing=formula)
    why = recompute(Calculation(formula=shown, operands=operands, result=result), passages).why
    return RecomputedCalculation(quotes[-1], why)


def _find_values(formula: str) -> Iterator[Figure | Date]:
    """Yield the figures and dates of a formula, in order."""
    found: list[Figure | Date] = [*find_dates(formula), *find_figures_outside_dates(formula)]
    yield from sorted(found, key=lambda one: one.start)


def _find_quotes(
    value: Figure | Date, sources: Sequence[SourcePassages]
) -> Iterator[tuple[SourcePassages, Quote]]:
    for source in sources:
        for quote in source.quotes:
            others = (
                find_dates(quote.text) if isinstance(value, Date) else find_figures_outside_dates(quote.text)
            )
            if any(_is_same(value, other) for other in others):
                yield source, quote


def _is_same(value: Figure | Date, other: Figure | Date) -> bool:
    if isinstance(value, Date) and isinstance(other, Date):
        return (value.year, value.month, value.day) == (other.year, other.month, other.day)
    return isinstance(value, Figure) and isinstance(other, Figure) and is_same_figure(value, other)
