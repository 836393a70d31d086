"""What may be true: weighed by sources, told once, at most five at a time."""

import pytest
from fakes.records import claim, sha
from hypothesis import given
from hypothesis import strategies as st

from fathom.planning.hypotheses import (
    active_hypotheses,
    adopt_hypotheses,
    compute_confidence,
    compute_priority,
    find_bearings,
    is_in_agreement,
    leading_hypothesis,
    weigh_hypotheses,
)
from fathom.state import Hypothesis
from fathom.state.model_io import HypothesisEvidence

CLAIMS = {f"c{n}": claim(f"Statement {n}.", name=f"c{n}", of=f"text {n}") for n in range(9)}
SOURCES = {sha(f"text {n}"): f"host{n}" for n in range(9)}
BORN = adopt_hypotheses([], ["Tidal power is cheap."], 1)


def bearing(of: Hypothesis, pro: list[str], con: list[str]) -> HypothesisEvidence:
    return HypothesisEvidence(of.id, pro, con)


def test_it_starts_in_the_middle_and_moves_with_every_source() -> None:
    assert [h.confidence for h in BORN] == [0.5]
    (for_it,) = weigh_hypotheses(BORN, [bearing(BORN[0], ["c1", "c2"], [])], CLAIMS, SOURCES, 2)
    (against,) = weigh_hypotheses([for_it], [bearing(BORN[0], [], ["c3", "c4"])], CLAIMS, SOURCES, 3)
    assert (for_it.confidence, for_it.touched) == (0.7, 2)
    assert (against.confidence, against.touched) == (0.4, 3)
    assert (against.supporting, against.contradicting, against.born) == (["c1", "c2"], ["c3", "c4"], 1)


def test_the_same_evidence_told_twice_counts_once() -> None:
    once = weigh_hypotheses(BORN, [bearing(BORN[0], ["c1"], ["c2"])], CLAIMS, SOURCES, 2)
    assert weigh_hypotheses(once, [bearing(BORN[0], ["c1"], ["c2"])], CLAIMS, SOURCES, 3) == once


def test_copies_and_pages_of_one_host_are_one_source() -> None:
    one_host = dict.fromkeys(SOURCES, "host")
    (found,) = weigh_hypotheses(BORN, [bearing(BORN[0], ["c1", "c2", "c3"], [])], CLAIMS, one_host, 2)
    assert (found.supporting, found.confidence) == (["c1"], 0.6)


def test_unknown_keys_and_both_sides_at_once_mean_nothing() -> None:
    told = bearing(BORN[0], ["c1", "nobody"], ["c1", "", "c99"])
    (found,) = weigh_hypotheses(BORN, [told, HypothesisEvidence("H9", ["c2"], [])], CLAIMS, SOURCES, 2)
    assert (found.supporting, found.contradicting, found.confidence) == ([], [], 0.5)


def test_a_claim_may_change_sides() -> None:
    pro = weigh_hypotheses(BORN, [bearing(BORN[0], ["c1"], [])], CLAIMS, SOURCES, 2)
    (found,) = weigh_hypotheses(pro, [bearing(BORN[0], [], ["c1"])], CLAIMS, SOURCES, 3)
    assert (found.supporting, found.contradicting) == ([], ["c1"])


def test_priority_is_confidence_density_and_recency() -> None:
    fresh = Hypothesis(id="H1", statement="s", supporting=["a", "b"], contradicting=["c"], confidence=0.6)
    rest = 0.5 * 0.6 + 0.3 * (2 - 0.5) / 10
    assert compute_priority(fresh, 1) == pytest.approx(rest + 0.2)
    assert compute_priority(fresh, 3) == pytest.approx(rest + 0.2)
    assert compute_priority(fresh, 4) == pytest.approx(rest + 0.1)


def test_counter_evidence_never_raises_the_priority() -> None:
    for number in (1, 4, 9):
        pro = weigh_hypotheses(BORN, [bearing(BORN[0], ["c1"], [])], CLAIMS, SOURCES, 1)
        for con in (["c2"], ["c2", "c3", "c4"], ["c1"]):
            (against,) = weigh_hypotheses(pro, [bearing(BORN[0], [], con)], CLAIMS, SOURCES, number)
            assert compute_priority(against, number) < compute_priority(pro[0], number)


def test_five_are_active_and_evidence_brings_one_back() -> None:
    many = adopt_hypotheses([], [f"Plant number {word} is the oldest" for word in "abcdefgh"], 1)
    assert len(active_hypotheses(many)) == 5
    last = next(h for h in many if h.status == "set aside")
    again = weigh_hypotheses(many, [bearing(last, ["c1", "c2"], [])], CLAIMS, SOURCES, 2)
    assert last.id in {h.id for h in active_hypotheses(again)}
    assert leading_hypothesis(again) == again[0]
    assert leading_hypothesis([]) is None


def test_the_same_statement_is_adopted_once_and_nothing_is_no_statement() -> None:
    again = adopt_hypotheses(BORN, ["tidal power is CHEAP", "  ", "", "조력 발전은 싸다."], 4)
    assert sorted(h.statement for h in again) == ["Tidal power is cheap.", "조력 발전은 싸다."]
    assert {h.born for h in again} == {1, 4}
    assert adopt_hypotheses(again, [h.statement for h in again], 5) == again


@given(st.integers(0, 200), st.integers(0, 200))
def test_confidence_stays_between_nothing_and_certainty(pro: int, con: int) -> None:
    assert 0.0 <= compute_confidence(pro, con) <= 1.0


@pytest.mark.parametrize(
    ("statement", "said", "is_agreed"),
    [
        ("Tidal power is cheap", "Tidal power is cheap in Wales", True),
        ("Tidal power is cheap", "Tidal power is not cheap", False),
        ("The plant makes 240 megawatts", "The plant makes 320 megawatts", False),
        ("The plant makes 240 megawatts", "In 1966 the plant made 240 megawatts", True),
        ("Costs increased with depth", "Costs decreased with depth", False),
        ("비용이 증가했다", "비용이 감소했다", False),
        ("조력 발전은 싸다", "조력 발전은 싸지 않다", False),
    ],
)
def test_rules_tell_for_from_against(statement: str, said: str, is_agreed: bool) -> None:
    assert is_in_agreement(statement, said) is is_agreed


def test_a_claim_about_something_else_bears_on_nothing() -> None:
    claims = [
        claim("Tidal power is cheap in Wales.", name="a"),
        claim("Tidal power is not cheap.", name="b"),
        claim("Cheese is made of milk.", name="c"),
    ]
    (found,) = find_bearings(BORN, claims)
    assert (found.supporting, found.contradicting) == (["a"], ["b"])
