"""The report's own words, in its language."""

import re

import pytest

from fathom.evidence.carrying import uncarried_by_kind
from fathom.report.words import ENGLISH, KOREAN

CHEATS = [
    ("The plant makes 250 megawatts.", "The plant makes 240 megawatts."),
    ("The plant opened in 2019.", "The plant opened in 2018."),
    ("Veltra built the plant.", "Norhaven built the plant."),
    ("The plant is not safe.", "The plant is safe."),
    ("Output rose by 5 percent.", "Output fell by 5 percent."),
    ("The plant harms birds.", "The plant may harm birds."),
    ("The mayor was arrested.", "The mayor opened a park by the river."),
]


@pytest.mark.parametrize(("statement", "quote"), CHEATS)
def test_every_reason_has_korean_words(statement: str, quote: str) -> None:
    kinds = uncarried_by_kind(statement, [quote])
    assert kinds
    for kind in kinds:
        told = KOREAN.reason(f"the quote does not carry the statement: {kind}")
        assert not re.search("[A-Za-z]", told)


def test_english_reasons_are_told_as_they_are() -> None:
    why = "the quote does not carry the statement: a hedge"
    assert ENGLISH.reason(why) == why
