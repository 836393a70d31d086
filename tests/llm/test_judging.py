"""What a judging model is believed: keys that exist, and praise that names its evidence."""

import pytest
from fakes import claim

from fathom.llm.answers import BearingForm, JudgeAnswer
from fathom.llm.judging import bearings_of, checks_shown, hypotheses_shown, rubric_of
from fathom.llm.port import Bearing
from fathom.state import Check, Hypothesis

KEYED = {"E1": claim(name="a"), "E2": claim("Divers come in spring.", name="b")}


@pytest.mark.parametrize(
    ("evidence", "mark"),
    [
        ("E1 says so", 5),
        ("[E2]: spring", 5),
        ("Divers come in spring. That is enough.", 5),
        ("It is all very convincing.", 3),
        ("E9 and E77 say so", 3),
        ("", 3),
    ],
)
def test_marks_above_ordinary_need_evidence_that_exists(evidence: str, mark: int) -> None:
    answer = JudgeAnswer(evidence=evidence, accuracy=9, relevance=5, completeness=1, consistency=-4, gaps=[])
    rubric = rubric_of(answer, KEYED)
    assert (rubric.accuracy, rubric.relevance, rubric.completeness, rubric.consistency) == (mark, mark, 1, 1)


def test_keys_nobody_gave_bear_on_nothing() -> None:
    hypotheses = [Hypothesis(id="Habc", statement="It is old.")]
    forms = [
        BearingForm(hypothesis="H1", supporting=["E1", "[E2]", "E9"], contradicting=["x"]),
        BearingForm(hypothesis="H7", supporting=["E1"], contradicting=[]),
    ]
    assert bearings_of(forms, hypotheses, KEYED) == [Bearing("Habc", ["a", "b"], [])]


def test_checks_and_hypotheses_are_shown_in_a_line_each() -> None:
    told = [Check(name="date", is_passed=False, why="no date"), Check(name="cause", is_passed=True, why="x")]
    assert checks_shown(told) == ["date: no date"]
    assert hypotheses_shown([Hypothesis(id="Habc", statement="It is old.")]) == [
        "H1: It is old. (confidence 0.50)"
    ]
