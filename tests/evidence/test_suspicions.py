"""What code shows to the verifier: the cheats it knows, and few of the fair statements."""

import pytest
from adversarial import Cheat, cheats

from fathom.evidence.derivation import Passage, underived
from fathom.evidence.suspicions import find_suspicions

# Quotes that are not in their page are refused when they are looked up, before anybody compares them.
_OTHER_RULES = {"altered quote", "other page", "splice"}


def is_noticed(case: Cheat) -> bool:
    passage = Passage((case.quote,), around=case.page)
    return bool(underived(case.statement, passage) or find_suspicions(case.statement, passage))


@pytest.mark.parametrize("name", ["cheats", "cheats_held_out"])
def test_nine_of_ten_cheats_are_refused_or_shown_to_the_verifier(name: str) -> None:
    cases = [case for case in cheats(name) if case.kind not in _OTHER_RULES]
    assert sum(is_noticed(case) for case in cases) >= 0.9 * len(cases)


@pytest.mark.parametrize("name", ["paraphrases", "paraphrases_held_out"])
def test_fair_paraphrases_are_never_refused_and_seldom_flagged(name: str) -> None:
    cases = cheats(name)
    assert [c.statement for c in cases if underived(c.statement, Passage((c.quote,), around=c.page))] == []
    assert sum(is_noticed(case) for case in cases) <= 0.25 * len(cases)


@pytest.mark.parametrize(
    ("statement", "quote", "kind"),
    [
        ("시장 규모는 3만 건으로 전년보다 컸다.", "시장은 3만 건 증가했다.", "figure"),
        ("전문가들은 효과가 있다고 말했다.", "한 전문가는 효과가 있다고 말했다.", "speaker"),
        ("현재 실업률은 4%다.", "2019년 실업률은 4%였다.", "now"),
        (
            "The mechanism decouples the layers.",
            "We are exploring a mechanism to decouple the layers.",
            "possible",
        ),
        ("혼인이 출생의 원인이다.", "Births tend to follow weddings.", "cause"),
        ("Delft researchers built the pump.", "Engineers of the National Laboratory built the pump.", "name"),
    ],
)
def test_what_is_odd_is_told_by_its_kind(statement: str, quote: str, kind: str) -> None:
    assert kind in {found.kind for found in find_suspicions(statement, Passage((quote,)))}


def test_a_statement_that_is_its_quote_is_not_suspected() -> None:
    text = "The barrage may have up to 24 turbines, but only in winter."
    assert find_suspicions(text, Passage((text,))) == []
