"""The report's own words, in its language."""

import re

import pytest
from fakes.records import gap

from fathom.evidence.stopping import STOP_RULES, RunPosition
from fathom.evidence.support import find_unsupported_by_kind
from fathom.report.messages import ENGLISH, KOREAN, format_count
from fathom.text.languages import is_korean

AT = RunPosition(
    9, 9, 0.9, 0.8, 0.9, 6, 10, 0, [gap("low")], 2.0, 1.0, True, False, 1.0, 0.9, worked_s=9, time_limit_s=8
)  # fmt: skip

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
    kinds = find_unsupported_by_kind(statement, [quote])
    assert kinds
    for kind in kinds:
        told = KOREAN.reason(f"the quote does not carry the statement: {kind}")
        assert not re.search("[A-Za-z]", told)


def test_english_reasons_are_told_as_they_are() -> None:
    why = "the quote does not carry the statement: a hedge"
    assert ENGLISH.reason(why) == why


def test_both_languages_have_the_same_keys_and_places() -> None:
    def places(phrases: dict[str, str]) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for key, phrase in phrases.items():
            name = re.sub(r"\.(one|other)$", "", key)
            found.setdefault(name, set()).update(re.findall(r"\{(\w*)\}", phrase))
        return found

    assert places(ENGLISH.phrases) == places(KOREAN.phrases)
    assert len(ENGLISH.earlier) > 4 < len(KOREAN.earlier)


def test_korean_phrases_are_korean() -> None:
    own = re.compile(r"USD|DOI")
    for key, phrase in KOREAN.phrases.items():
        bare = own.sub("", re.sub(r"\{\w+\}|`[^`]*`|\[citation needed\]", "", phrase))
        assert not re.search("[A-Za-z]", bare), key


def test_one_is_told_as_one_and_several_as_several() -> None:
    assert ENGLISH("certainty.rejected_claims", count=1).startswith("1 statement was")
    assert ENGLISH("certainty.rejected_claims", count=11).startswith("11 statements were")
    assert "1개" in KOREAN("certainty.rejected_claims", count=1)
    assert (format_count(1, "page"), format_count(0, "page")) == ("1 page", "0 pages")


@pytest.mark.parametrize("name", [name for name in STOP_RULES if name not in {"settled", "gain too low"}])
def test_why_a_run_stopped_is_told_in_korean(name: str) -> None:
    because = STOP_RULES[name](AT)  # type: ignore[index]
    assert because
    assert is_korean(KOREAN.because(because))
    assert ENGLISH.because(because) == because


def test_numbers_stay_and_what_is_not_known_stays_as_it_is() -> None:
    assert KOREAN.because("0 new findings on 2 known") == "알려진 2건에 새로운 것 0건"
    assert is_korean(KOREAN.because("9.90 new findings a USD, and 0.0000 USD are left"))
    assert KOREAN.because("something else") == "something else"
