"""How far quotes carry a statement is a number between nothing and all."""

import pytest

from fathom.evidence.support import SUPPORTED_FROM, WEIGHTS, signs, support
from fathom.evidence.words import split


@pytest.mark.parametrize(
    ("statement", "quote", "is_carried"),
    [
        ("The plant makes power.", "the plant makes power from tides", True),
        ("The plant makes diamonds and gold.", "the plant makes power from tides", False),
        ("Osby is a small harbour.", "Osby is a small harbour. Few ferries call there in winter.", True),
        ("Osby is written in C#.", "Osby is written in C.", False),
        ("Osby is written in C#.", "Osby is written in C# and runs everywhere.", True),
        ("", "the plant makes power", False),
        ("The plant makes power.", "", False),
        ("발전소는 조수로 전기를 만든다.", "그 발전소는 조수로 전기를 만든다.", True),
        ("발전소는 금과 다이아몬드를 캔다.", "그 발전소는 조수로 전기를 만든다.", False),
    ],
)
def test_a_statement_is_carried_by_its_own_words(statement: str, quote: str, is_carried: bool) -> None:
    score = support(statement, [quote])
    assert 0.0 <= score <= 1.0
    assert (score >= SUPPORTED_FROM) is is_carried


def test_a_term_that_may_not_be_renewed_does_not_carry_one_that_may() -> None:
    quote = "The keeper of the light is appointed for a non-renewable term of five years."
    assert support("The keeper's term of five years is renewable.", [quote]) == 0.0


@pytest.mark.parametrize(
    ("sign", "statement", "quote", "without"),
    [
        ("comparison missing", "Osby grows the most plums in Varnland.",
         "Osby grows plums in Varnland, and ranks third.", "Osby grows plums in Varnland."),
        ("denied", "The tower can be visited after the renewal.",
         "Visitors see the tower. There is no option of renewal.", "The tower can be visited."),
        ("rarest missing", "Osby grows quinces.", "Osby grows plums.", "Osby grows plums."),
    ],
)  # fmt: skip
def test_what_speaks_against_it_is_a_sign(sign: str, statement: str, quote: str, without: str) -> None:
    told = split(quote)
    assert WEIGHTS[sign] < 0
    assert signs(statement, told, told[:2])[sign] > 0
    assert signs(without, told, told[:2])[sign] == 0


def test_what_a_statement_ends_with_has_to_be_known() -> None:
    told = split("The harbour of Osby was dredged by convicts.")
    assert signs("The harbour of Osby was dredged by convicts.", told, told)["its end"] == 1.0
    assert signs("The harbour of Osby was sold to speculators.", told, told)["its end"] == 0.0
