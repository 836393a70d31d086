"""A statement that its quotes do not carry is told why, in a short sentence."""

import pytest

from fathom.evidence.flaws import flaws


@pytest.mark.parametrize(
    ("statement", "quote"),
    [
        ("The plant opened in 1966.", "The plant opened in 1966 and makes 240 megawatts."),
        ("발전소는 2011년에 완공되었다.", "시화호 조력발전소는 2011년에 완공되었다."),
        ("Tides are not weather.", "Tides are not weather."),
        ("The group planted trees.", "The non-profit group planted trees."),
        ("The paint is not toxic.", "The paint is non-toxic."),
    ],
)
def test_what_the_quote_carries_has_no_flaw(statement: str, quote: str) -> None:
    assert flaws(statement, [quote]) == []


@pytest.mark.parametrize(
    ("statement", "quote", "why"),
    [
        ("The plant opened in 1967.", "The plant opened in 1966.", "1967 is not in its quotes"),
        ("The plant in Wales opened.", "The plant opened.", "Wales is not in its quotes"),
        ("Terms are renewed.", "Terms are strictly non-renewable.", "the quote says not ('renewabl')"),
    ],
)
def test_a_flaw_is_told(statement: str, quote: str, why: str) -> None:
    assert flaws(statement, [quote]) == [why]
