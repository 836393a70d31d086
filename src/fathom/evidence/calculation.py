"""Recompute the calculations of a report from the figures that its claims quote.

A calculation has a formula over named operands, each a figure from the quotes or context of a claim. Units
are tracked: only equal units can be added, a quotient of equal units is a plain number, and the difference of
two percentages is in percentage points. Only the result is checked, not whether it makes sense.
"""

import ast
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import partial, reduce

from fathom.evidence.checks import UNITS
from fathom.evidence.checks.dates import find_dates
from fathom.evidence.checks.derivation import (
    MEASURES,
    SHARES,
    Passage,
    find_underived,
    is_same_figure,
    is_same_unit,
)
from fathom.evidence.checks.figures import Figure, find_figures
from fathom.evidence.grounding import join_passages
from fathom.state import Calculation, Operand

_MEASURES = MEASURES - {"degree"} | {"century", "quarter"}
_YEAR_S = UNITS["year"][1]
_DAY_S = UNITS["day"][1]
_YEAR = re.compile(r"^(1\d{3}|20\d{2}|21\d{2})(?:년)?$")
_RATE_WORDS = {
    "month": re.compile(r"\b(?:a|per|each|every) month\b|\bmonthly\b|매월|월평균|한 달", re.IGNORECASE),
    "day": re.compile(r"\b(?:a|per|each|every) day\b|\bdaily\b|매일|하루|일평균", re.IGNORECASE),
}
_CONSTANTS = frozenset({24.0, 30.0, 52.0, 60.0, 365.0, 3600.0, *(float(n) for n in range(13))})
_MOST_OPERANDS = 40
_LONGEST = 400
_NEAR = 1e-9
_SIGNS = str.maketrans({"×": "*", "÷": "/", "−": "-", "–": "-", "·": "*", "[": "(", "]": ")", "^": "&"})


class NotComputable(ValueError):
    """The formula cannot be evaluated; the message says why, for the rewrite."""


@dataclass(frozen=True)
class Quantity:
    """A value in base units, with the powers of its dimensions; counters such as "명" have none."""

    value: float
    powers: tuple[tuple[str, int], ...] = ()
    is_literal: bool = False  # a literal in the formula

    @property
    def dimension(self) -> str:
        """Return its one dimension; "" for a plain number, "mixed" otherwise."""
        if not self.powers:
            return ""
        name, power = self.powers[0]
        return name if len(self.powers) == 1 and power == 1 else "mixed"


@dataclass(frozen=True)
class CalculationResult:
    """The computed result in the stated unit, and the fault if there is one."""

    value: float | None = None
    why: str = ""


def recompute(calculation: Calculation, passages: Mapping[str, Passage], text: str = "") -> CalculationResult:
    """Evaluate a calculation and compare it with the stated result.

    `passages` is the evidence of each claim by id; `text` is the sentence, which may say "about".
    """
    stated = find_figures(calculation.result)
    if len(stated) != 1:
        return CalculationResult(why=f"the result '{calculation.result}' should be one figure")
    stated_result = _widen_by_sentence(stated[0], text)
    try:
        operands = {one.name: _find_operand(one, passages) for one in calculation.operands[:_MOST_OPERANDS]}
        values: list[float] = []
        for plain in (False, True):
            answer = _evaluate(calculation.formula, operands, are_shares_plain=plain)
            answer = _rate_as_amount(answer, f"{calculation.result} {text}")
            values += _convert_to_stated_unit(stated_result, answer, calculation, operands)
    except NotComputable as error:
        return CalculationResult(why=str(error))
    if not values:
        return CalculationResult(why=f"the formula gives another unit than '{calculation.result}'")
    best = min(values, key=lambda value: abs(abs(value) - stated_result.value))
    if _is_close(stated_result, abs(best)):
        return CalculationResult(best)
    if _has_other_time_unit(calculation, stated_result):
        return CalculationResult(
            best,
            f"an operand has another unit of time than '{calculation.result}'; name one in the same unit",
        )
    return CalculationResult(best, f"the formula gives {_format_value(best)}, not {calculation.result}")


def find_calculation_fault(text: str, calculation: Calculation, passages: Mapping[str, Passage]) -> str:
    """Return why a sentence with a calculation is wrong; "" if code finds nothing.

    Besides the result and operands it may only have figures that derive from its claims.
    """
    outcome = recompute(calculation, passages, text)
    if outcome.why:
        return outcome.why
    stated = (calculation.result, *(one.value for one in calculation.operands))
    own = [figure for words in stated for figure in find_figures(words)]
    together = join_passages(list(passages.values()))
    extra = [
        word
        for word in find_underived(text, together)
        if not any(is_same_figure(figure, other) for figure in find_figures(word) for other in own)
    ]
    return f"these figures are neither quoted nor computed: {', '.join(extra)}" if extra else ""


def _has_other_time_unit(calculation: Calculation, stated: Figure) -> bool:
    """Whether a duration in months, say, was turned into the days of the result: the value misleads."""
    figures = (f for one in calculation.operands for f in find_figures(one.value) if f.dimension == "time")
    return stated.dimension == "time" and any(figure.factor != stated.factor for figure in figures)


def _widen_by_sentence(stated: Figure, text: str) -> Figure:
    """Return the stated result; approximate also if only the sentence says so."""
    same = [figure for figure in find_figures(text) if is_same_figure(figure, stated)]
    low, high = min(f.low for f in [stated, *same]), max(f.high for f in [stated, *same])
    return replace(stated, low=low, high=high)


def _find_operand(operand: Operand, passages: Mapping[str, Passage]) -> Quantity:
    passage = passages.get(operand.claim)
    if passage is None:
        raise NotComputable(f"operand {operand.name} names no claim of this sentence")
    words = operand.value.strip()
    if (year := _YEAR.match(words)) and int(year[1]) in passage.calendar.named | passage.calendar.own:
        return Quantity(float(year[1]) * _YEAR_S, (("time", 1),))
    if day := _find_quoted_day(words, passage):
        return Quantity(day.toordinal() * _DAY_S, (("time", 1),))
    given = find_figures(words)
    if len(given) != 1:
        raise NotComputable(f"operand {operand.name} should be one figure, not '{operand.value}'")
    found = next((one for one in passage.figures if _is_quoted(given[0], one)), None)
    if found is None:
        raise NotComputable(f"operand {operand.name}, '{operand.value}', is not in the quotes of its claim")
    known = given[0] if given[0].dimension else found
    return _quantity(replace(given[0], dimension=known.dimension, factor=known.factor))


def _find_quoted_day(words: str, passage: Passage) -> date | None:
    """Return the day an operand stands for, if the evidence names it; two days differ by a time."""
    found = find_dates(words)
    if len(found) != 1 or not (found[0].year and found[0].month and found[0].day):
        return None
    wanted = found[0].parts
    own = passage.calendar.day
    if not any(one.parts == wanted for one in passage.calendar.dates) and (
        own is None or (own.year, own.month, own.day) != (found[0].year, found[0].month, found[0].day)
    ):
        raise NotComputable(f"the day '{words}' is not in the quotes of its claim")
    try:
        return date(found[0].year, found[0].month, found[0].day)
    except ValueError:
        raise NotComputable(f"'{words}' is no day") from None


def _is_quoted(figure: Figure, other: Figure) -> bool:
    """Tell whether an operand is a figure of the evidence, exact to the digit, in any unit."""
    if abs(figure.value - other.value) <= _NEAR * max(1.0, abs(other.value)):
        return is_same_unit(figure, other)
    return (
        bool(figure.dimension)
        and figure.dimension == other.dimension
        and abs(figure.base - other.base) <= _NEAR * abs(other.base)
    )


def _quantity(figure: Figure) -> Quantity:
    if figure.dimension not in _MEASURES:
        return Quantity(figure.value)
    return Quantity(figure.base, ((figure.dimension, 1),))


def _evaluate(formula: str, operands: Mapping[str, Quantity], *, are_shares_plain: bool) -> Quantity:
    """Evaluate a formula; a percentage is a share of one in products, or a plain number."""
    words = formula.translate(_SIGNS).replace("&", "**").rpartition("=")[2].strip()
    words = re.sub(r"\b100\s*%", "100", words)
    words = re.sub(r"(?<!\d)(\d+(?:\.\d+)?)\s*%", r"(\1/100)", words)
    words = re.sub(r"(?<=\d),(?=\d{3}\b)", "", words)
    if not words or len(words) > _LONGEST:
        raise NotComputable("there is no formula of a usable length")
    try:
        tree = ast.parse(words, mode="eval")
    except (SyntaxError, RecursionError):
        raise NotComputable(f"the formula '{formula}' cannot be read") from None
    if are_shares_plain:
        operands = {name: Quantity(q.value) if q.dimension in SHARES else q for name, q in operands.items()}
    return _evaluate_node(tree.body, operands)


def _evaluate_node(node: ast.expr, operands: Mapping[str, Quantity]) -> Quantity:
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            if not _is_constant(float(number)):
                raise NotComputable(f"{number} stands in the formula; figures are named as operands")
            return Quantity(float(number), is_literal=True)
        case ast.Name(id=name):
            if name not in operands:
                raise NotComputable(f"the formula uses {name}, which is no operand")
            return operands[name]
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            found = _evaluate_node(inner, operands)
            return replace(found, value=-found.value)
        case ast.UnaryOp(op=ast.UAdd(), operand=inner):
            return _evaluate_node(inner, operands)
        case ast.BinOp(left=left, op=operator, right=right):
            return _combine(operator, _evaluate_node(left, operands), _evaluate_node(right, operands))
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if arguments:
            return _call(name, [_evaluate_node(argument, operands) for argument in arguments])
        case _:
            raise NotComputable("a formula has operands, numbers, + - * / ** and min, max, round, abs only")


def _is_constant(number: float) -> bool:
    return number in _CONSTANTS or (number > 0 and math.log10(number) == int(math.log10(number)))


def _combine(operator: ast.operator, left: Quantity, right: Quantity) -> Quantity:
    match operator:
        case ast.Add():
            return _sum(left, right, 1)
        case ast.Sub():
            return _sum(left, right, -1)
        case ast.Mult():
            return _product(left, right, 1)
        case ast.Div():
            if not right.value:
                raise NotComputable("the formula divides by zero")
            return _product(left, right, -1)
        case ast.Pow():
            return _power(left, right)
        case _:
            raise NotComputable("a formula uses + - * / and ** only")


def _sum(left: Quantity, right: Quantity, sign: int) -> Quantity:
    dimension = _common_dimension(left, right)
    if sign < 0 and left.dimension == right.dimension == "percent":
        dimension = "points"
    powers = ((dimension, 1),) if dimension else left.powers
    return Quantity(left.value + sign * right.value, powers, left.is_literal and right.is_literal)


def _common_dimension(left: Quantity, right: Quantity) -> str:
    """Return the dimension in which two quantities can be added; a missing unit fits any."""
    one, two = left.dimension, right.dimension
    if "mixed" in {one, two} and left.powers != right.powers:
        raise NotComputable("the formula adds different units")
    if one == two or not two:
        return "" if one == "mixed" else one
    if not one:
        return two
    if {one, two} <= SHARES:
        return "percent"
    raise NotComputable(f"the formula adds {one} and {two}")


def _product(left: Quantity, right: Quantity, sign: int) -> Quantity:
    if not (left.is_literal or right.is_literal):
        left, right = _share(left), _share(right)
    powers = dict(left.powers)
    for name, power in right.powers:
        powers[name] = powers.get(name, 0) + sign * power
    kept = tuple((name, power) for name, power in sorted(powers.items()) if power)
    value = left.value * right.value if sign > 0 else left.value / right.value
    if not math.isfinite(value):
        raise NotComputable("the formula gives no finite number")
    return Quantity(value, kept, left.is_literal and right.is_literal)


def _share(quantity: Quantity) -> Quantity:
    return Quantity(quantity.value / 100) if quantity.dimension in SHARES else quantity


def _power(left: Quantity, right: Quantity) -> Quantity:
    """Return a power of plain numbers, as for annual growth; the exponent may be a number of years."""
    exponent = right.value / _YEAR_S if right.dimension == "time" else right.value
    if left.powers or abs(exponent) > 100 or (left.value <= 0 and exponent != int(exponent)):
        raise NotComputable("only plain numbers can be raised to a power")
    try:
        return Quantity(float(left.value**exponent))
    except (OverflowError, ZeroDivisionError):
        raise NotComputable("the formula gives no finite number") from None


def _call(name: str, given: Sequence[Quantity]) -> Quantity:
    choose: dict[str, Callable[[list[Quantity]], Quantity]] = {
        "min": lambda all_of: min(all_of, key=lambda one: one.value),
        "max": lambda all_of: max(all_of, key=lambda one: one.value),
        "abs": lambda all_of: replace(all_of[0], value=abs(all_of[0].value)),
        "sum": lambda all_of: reduce(partial(_sum, sign=1), all_of),
        "round": lambda all_of: all_of[0],  # the stated result implies the rounding
    }
    if name not in choose:
        raise NotComputable(f"a formula has no function {name}")
    for one in given[1:] if name in {"min", "max"} else []:
        _common_dimension(given[0], one)
    return choose[name](list(given))


def _rate_as_amount(answer: Quantity, words: str) -> Quantity:
    """Return what a rate makes in a year, or in the shorter time that the words name ("a month")."""
    powers = dict(answer.powers)
    if powers.pop("time", 0) != -1:
        return answer
    named = next((unit for unit, pattern in _RATE_WORDS.items() if pattern.search(words)), "year")
    return Quantity(answer.value * UNITS[named][1], tuple(sorted(powers.items())))


def _convert_to_stated_unit(
    stated: Figure, answer: Quantity, calculation: Calculation, operands: Mapping[str, Quantity]
) -> list[float]:
    """Return the answer in the unit of the stated result; none if it cannot be converted."""
    dimension, value = answer.dimension, answer.value
    has_hundred = re.search(r"\b100\b", calculation.formula) is not None
    if stated.dimension in SHARES:
        if dimension in SHARES:
            return [value]
        return ([value] if has_hundred else [100 * value]) if not dimension else []
    if stated.dimension in _MEASURES:
        if not dimension:
            return (
                [value] if not any(one.dimension in _MEASURES - SHARES for one in operands.values()) else []
            )
        return [value / stated.factor] if dimension == stated.dimension else []
    if not dimension or dimension in SHARES:
        return [value]
    factors = {
        f.factor for one in calculation.operands for f in find_figures(one.value) if f.dimension == dimension
    }
    if dimension == "time" and not factors:
        factors = {_YEAR_S}
    return [value / factor for factor in sorted(factors)]


def _is_close(stated: Figure, value: float) -> bool:
    """Tell whether a value rounds to the stated one, or fits its wording ("about", "over")."""
    half = stated.step / 2 * (1 + 1e-6) + _NEAR * abs(value)
    return abs(stated.value - value) <= half or stated.low <= value <= stated.high


def _format_value(value: float) -> str:
    return f"{value:,.4g}" if abs(value) < 10_000 else f"{value:,.0f}"
