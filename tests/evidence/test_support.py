"""How far quotes carry a statement is a number between nothing and all."""

import pytest

from fathom.evidence.support import SUPPORTED_FROM, support


@pytest.mark.parametrize(
    ("statement", "quote", "is_carried"),
    [
        ("The plant makes power.", "the plant makes power from tides", True),
        ("The plant makes diamonds and gold.", "the plant makes power from tides", False),
        ("", "the plant makes power", False),
        ("The plant makes power.", "", False),
    ],
)
def test_a_statement_is_carried_by_its_own_words(statement: str, quote: str, is_carried: bool) -> None:
    score = support(statement, [quote])
    assert 0.0 <= score <= 1.0
    assert (score >= SUPPORTED_FROM) is is_carried
