"""Calculations are worked out again from quoted figures: right ones pass, wrong ones say what they give."""

import re

import pytest

from fathom.evidence.calculation import find_calculation_fault, recompute
from fathom.evidence.checks.derivation import Passage
from fathom.state import Calculation, Operand

PASSAGES = {
    "births": Passage(("출생아 수는 2023년 23만 명, 2024년 23만 8,300명이다.",), date="2025-02-26"),
    "rate": Passage(("The total fertility rate was 0.72 in 2023 and 0.75 in 2024.",)),
    "power": Passage(("The first plant makes 240 MW.", "The second makes 0.32 GW.")),
    "share": Passage(("Wind supplied 24% in 2020 and 31.5% in 2024 of 550 TWh.",)),
    "cost": Passage(("It costs $1.2 billion.", "Support was 3조 원 and 5,000억 원.")),
}


def calculation(formula: str, result: str, **operands: tuple[str, str]) -> Calculation:
    named = [Operand(name=name, value=value, claim=claim) for name, (value, claim) in operands.items()]
    return Calculation(formula=formula, operands=named, result=result)


RIGHT = [
    calculation("b - a", "8,300명", a=("23만 명", "births"), b=("23만 8,300명", "births")),
    calculation("(b-a)/a*100", "3.6%", a=("23만", "births"), b=("238,300", "births")),
    calculation("(b - a) / a", "4.2%", a=("0.72", "rate"), b=("0.75", "rate")),
    calculation("growth = (b − a) ÷ a × 100%", "4.2 %", a=("0.72", "rate"), b=("0.75", "rate")),
    calculation("a + b", "560 MW", a=("240 MW", "power"), b=("0.32 GW", "power")),
    calculation("a + b", "0.56 GW", a=("240 MW", "power"), b=("320 MW", "power")),
    calculation("b / a", "1.33 times", a=("240 MW", "power"), b=("0.32 GW", "power")),
    calculation("b - a", "7.5 percentage points", a=("24%", "share"), b=("31.5%", "share")),
    calculation("b * c", "about 173 TWh", b=("31.5%", "share"), c=("550 TWh", "share")),
    calculation("(a + b) / 2", "27.75%", a=("24%", "share"), b=("31.5%", "share")),
    calculation("a + b", "3.5조 원", a=("3조 원", "cost"), b=("5,000억 원", "cost")),
    calculation("b - a", "1 year", a=("2023", "rate"), b=("2024", "rate")),
    calculation("((b / a) ** (1 / 4) - 1) * 100", "7%", a=("24%", "share"), b=("31.5%", "share")),
    calculation(
        "(b - a) / (d - c)",
        "0.03",
        a=("0.72", "rate"),
        b=("0.75", "rate"),
        c=("2023", "rate"),
        d=("2024", "rate"),
    ),
    calculation("max(a, b) - min(a, b)", "0.03", a=("0.72", "rate"), b=("0.75", "rate")),
]
WRONG = [
    (calculation("b - a", "9,300명", a=("23만 명", "births"), b=("23만 8,300명", "births")), "8,300"),
    (calculation("(b-a)/a*100", "4.6%", a=("0.72", "rate"), b=("0.75", "rate")), "4.167"),
    (calculation("b - a", "0.03", a=("0.71", "rate"), b=("0.75", "rate")), "0.71"),
    (calculation("a + b", "560", a=("240 MW", "power"), b=("550 TWh", "share")), "adds"),
    (calculation("b - a", "3", a=("0.72", "rate"), b=("0.75", "nowhere")), "names no claim"),
    (calculation("a * 1.37", "1", a=("0.72", "rate")), "1.37"),
    (calculation("a + c", "1", a=("0.72", "rate")), "no operand"),
    (calculation("__import__('os')", "1", a=("0.72", "rate")), "formula"),
    (calculation("a.real", "1", a=("0.72", "rate")), "formula"),
    (calculation("a / (b - b)", "1", a=("0.72", "rate"), b=("0.75", "rate")), "zero"),
    (calculation("a ** 1000", "1", a=("0.72", "rate")), "power"),
    (calculation("((((", "1", a=("0.72", "rate")), "cannot be read"),
    (calculation("a", "much", a=("0.72", "rate")), "one figure"),
    (
        calculation(
            "(b - a) / (d - c)",
            "0.06",
            a=("0.72", "rate"),
            b=("0.75", "rate"),
            c=("2023", "rate"),
            d=("2024", "rate"),
        ),
        "0.03",
    ),
    (calculation("a", "240 kg", a=("240 MW", "power")), "another unit"),
]


@pytest.mark.parametrize("right", RIGHT, ids=lambda c: f"{c.formula} = {c.result}")
def test_a_right_calculation_passes(right: Calculation) -> None:
    assert recompute(right, PASSAGES).why == ""


@pytest.mark.parametrize(("wrong", "why"), WRONG, ids=lambda c: getattr(c, "result", ""))
def test_a_wrong_one_is_refused_with_the_reason(wrong: Calculation, why: str) -> None:
    assert why in recompute(wrong, PASSAGES).why


def test_about_allows_a_rounder_figure_and_nothing_else_does() -> None:
    given = calculation("a * b", "178 TWh", a=("31.5%", "share"), b=("550 TWh", "share"))
    assert recompute(given, PASSAGES, "Wind gave 178 TWh.").why
    assert not recompute(given, PASSAGES, "Wind gave about 178 TWh.").why


@pytest.mark.parametrize(
    ("quote", "formula", "result", "text"),
    [
        ("It rose by 3 % over 2 years.", "a / b", "1.5 %", "It rose by 1.5 % a year."),
        ("40 MW were added in 4 years.", "a / b", "10 MW", "10 MW were added each year."),
        ("24 % in 2 years", "a / b", "1 %", "That is 1 % a month."),
    ],
)
def test_a_rate_is_computed_per_year_or_per_month_as_the_sentence_says(
    quote: str, formula: str, result: str, text: str
) -> None:
    first, second = re.findall(r"\d+ (?:%|MW|years)", quote)
    given = calculation(formula, result, a=(first, "x"), b=(second, "x"))
    assert recompute(given, {"x": Passage((quote,))}, text).why == ""
    assert recompute(given.model_copy(update={"result": f"7{result}"}), {"x": Passage((quote,))}, text).why


def test_every_other_figure_of_the_sentence_must_be_known() -> None:
    given = calculation("b - a", "0.03", a=("0.72", "rate"), b=("0.75", "rate"))
    own = {"rate": PASSAGES["rate"]}
    assert find_calculation_fault("The rate rose by 0.03, from 0.72 to 0.75 in 2024.", given, own) == ""
    assert "0.81" in find_calculation_fault("The rate rose by 0.03, from 0.72 to 0.81.", given, own)
