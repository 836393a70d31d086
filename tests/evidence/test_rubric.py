"""Judging without a model: marks from counts, gaps from what has no answer."""

from datetime import date

from fakes.records import claim, points, question

from fathom.evidence.answer_kinds import run_checks
from fathom.evidence.scoring import assess_no_claims, compute_assessment
from fathom.state import Contradiction, ContradictionSide, Finding
from fathom.state.model_io import JudgeInput

ASKED = [question(1), question(2), question(3), question(4)]


def test_with_nothing_known_everything_is_an_important_gap() -> None:
    for assessment in (assess_no_claims(ASKED), compute_assessment(JudgeInput("", ASKED, []))):
        assert {g.priority for g in assessment.gaps} == {"high"}
        assert [g.question for g in assessment.gaps] == ["Q1", "Q2", "Q3", "Q4"]
        assert assessment.rubric.accuracy == 1


def test_no_weak_and_single_evidence_are_gaps_of_falling_weight() -> None:
    known = [
        claim(name="a", question="Q2", relevance=0.2),
        claim(name="b", question="Q3"),
        claim(name="c", question="Q4", of="page one"),
        claim(name="d", question="Q4", of="page two", relevance=0.1),
    ]
    found = {g.question: g.priority for g in compute_assessment(JudgeInput("", ASKED, known)).gaps}
    assert found == {"Q1": "high", "Q2": "medium", "Q3": "low"}


def test_marks_follow_what_was_measured_and_quote_it() -> None:
    known = [claim(name=f"c{n}", question=f"Q{n}", relevance=1.0) for n in (1, 2)]
    rubric = compute_assessment(JudgeInput("", ASKED, known)).rubric
    assert (rubric.relevance, rubric.completeness) == (5, 3)
    assert known[0].quotes[0].text in rubric.evidence


def test_a_korean_question_gets_its_gap_in_korean() -> None:
    assert (
        assess_no_claims([question(1, "비용은 얼마인가?")])
        .gaps[0]
        .description.endswith("근거를 찾지 못했습니다.")
    )


def test_consistency_is_what_weighing_found() -> None:
    known = [claim(name="a", of="one")]
    told = points(*known, sources=2)[0].finding
    sides = [ContradictionSide(claims=["a"], value="x", pages=["p"], published=[None])] * 2
    dispute = Contradiction(id="x", kind="other", question="Q1", about="it", sides=sides)
    settled = dispute.model_copy(update={"settled_by": "newer official figure", "favoured": 0})

    def mark(*disputes: Contradiction, findings: tuple[Finding, ...] = ()) -> int:
        case = JudgeInput("", ASKED, known, findings=findings, contradictions=disputes)
        return compute_assessment(case).rubric.consistency

    assert (mark(), mark(findings=(told,)), mark(dispute), mark(settled)) == (3, 4, 2, 3)
    assert mark(*[dispute] * 9) == 1


def test_what_is_missing_is_told_in_the_language_of_the_report() -> None:
    asked = [question(1, "What does it cost?")]
    for assessment in (
        assess_no_claims(asked, "Korean"),
        compute_assessment(JudgeInput("", asked, [], language="ko")),
    ):
        assert "근거를 찾지 못했습니다" in assessment.gaps[0].description
        assert assessment.gaps[0].suggested_query == "What does it cost?"
    (check,) = run_checks("How many locks are there?", [], [], date(2026, 1, 2), language="한국어")
    assert check.gap
    assert "찾지 못했습니다" in check.gap.description
    assert "number" in check.gap.suggested_query
