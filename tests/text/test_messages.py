"""The report's own words, in its language."""

import re

import pytest
from fakes.records import gap, judgement

from fathom.evidence.stopping import STOP_RULES, RunPosition, make_reason
from fathom.evidence.support import find_unsupported_by_kind
from fathom.state import Judgement, StopReason, StopRule
from fathom.text.languages import is_korean
from fathom.text.messages import ENGLISH, KOREAN, format_count

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
    own = re.compile(r"USD|DOI|Enter|(?<![A-Za-z])[a-z]\d?(?![A-Za-z])")  # a letter alone is a key
    for key, phrase in KOREAN.phrases.items():
        bare = own.sub("", re.sub(r"\{\w+\}|`[^`]*`|\[citation needed\]", "", phrase))
        assert not re.search("[A-Za-z]", bare), key


def test_one_is_told_as_one_and_several_as_several() -> None:
    assert ENGLISH("certainty.rejected_claims", count=1).startswith("1 statement was")
    assert ENGLISH("certainty.rejected_claims", count=11).startswith("11 statements were")
    assert "1개" in KOREAN("certainty.rejected_claims", count=1)
    assert (format_count(1, "page"), format_count(0, "page")) == ("1 page", "0 pages")


def judged(reason: StopReason | None, because: str = "") -> Judgement:
    return judgement(stop="sufficient", because=because).model_copy(update={"reason": reason})


@pytest.mark.parametrize("name", [name for name in STOP_RULES if name not in {"settled", "gain too low"}])
def test_why_a_run_stopped_is_told_in_either_language(name: StopRule) -> None:
    reason = STOP_RULES[name](AT)
    assert reason
    assert is_korean(KOREAN.because(judged(reason)))
    assert ENGLISH.because(judged(reason))
    assert "{" not in ENGLISH.because(judged(reason)) + KOREAN.because(judged(reason))


def test_numbers_stay_in_a_reason() -> None:
    assert KOREAN.because(judged(make_reason("new", new=0, known=2))) == "알려진 2건에 새로운 것 0건"
    assert ENGLISH.because(judged(make_reason("new", new=0, known=2))) == "0 new findings on 2 known"
    assert is_korean(KOREAN.because(judged(make_reason("one_page", percent=100))))


@pytest.mark.parametrize("reason", [None, make_reason("of a later version"), make_reason("new", new=1)])
def test_a_reason_of_another_version_is_told_in_its_own_words(reason: StopReason | None) -> None:
    assert KOREAN.because(judged(reason, "score 0.81 of 0.80 needed")) == "score 0.81 of 0.80 needed"


@pytest.mark.parametrize(
    "where", ["search", "reading", "analysis", "model", "context", "price", "order", "local"]
)
def test_every_place_where_something_fails_has_words(where: str) -> None:
    assert is_korean(KOREAN.place(where))
    assert f"place.{where}" in ENGLISH.phrases
