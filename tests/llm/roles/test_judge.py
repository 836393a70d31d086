"""What a judging model is believed: keys that exist, and praise that names its evidence."""

import pytest
from fakes.records import claim, heading, page, question

from fathom.evidence.corroboration import ClaimComparison
from fathom.llm.roles.answer_forms import BearingForm, GapForm, JudgeAnswer, PartForm, RulingForm
from fathom.llm.roles.judge import (
    best_quote_sentence,
    check_lines,
    claim_lines,
    hypothesis_lines,
    key_claims,
    outline_lines,
    read_failed_checks,
    read_gaps,
    read_hypothesis_evidence,
    read_outline,
    read_rubric,
    rejected_lines,
    rulings_of,
    source_lines,
)
from fathom.state import Check, Hypothesis, Outline, Rejected, SubQuestion
from fathom.state.model_io import HypothesisEvidence, JudgeInput
from fathom.text.token_count import count_tokens

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
    rubric = read_rubric(answer, KEYED)
    assert (rubric.accuracy, rubric.relevance, rubric.completeness, rubric.consistency) == (mark, mark, 1, 1)


def test_keys_nobody_gave_bear_on_nothing() -> None:
    hypotheses = [Hypothesis(id="H1", statement="It is old.")]
    forms = [
        BearingForm(hypothesis="H1", supporting=["E1", "[E2]", "E9"], contradicting=["x"]),
        BearingForm(hypothesis="H7", supporting=["E1"], contradicting=[]),
    ]
    assert read_hypothesis_evidence(forms, hypotheses, KEYED) == [HypothesisEvidence("H1", ["a", "b"], [])]


def test_checks_and_hypotheses_are_shown_in_a_line_each() -> None:
    told = [Check(name="date", is_passed=False, why="no date"), Check(name="cause", is_passed=True, why="x")]
    assert check_lines(told) == ["date: no date"]
    assert hypothesis_lines([Hypothesis(id="H1", statement="It is old.")]) == [
        "H1: It is old. (confidence 0.50)"
    ]


MARKS = {"evidence": "E1", "accuracy": 3, "relevance": 3, "completeness": 3, "consistency": 3, "gaps": []}


def test_a_claim_is_shown_with_its_source_its_date_and_the_sentence_that_carries_it() -> None:
    said = "The council met on Monday. Prices rose by 4 percent after the vote. Nobody left."
    told = claim("The council says that all became dearer, by 4 percent.", name="c", of="two", said=said)
    pages = [page("one"), page("two", "https://secret.example", title="Minutes", publisher="The Council")]
    pages[1] = pages[1].model_copy(update={"published": "2026-03-01T00:00:00"})
    line = claim_lines({"E1": told}, JudgeInput("What?", [question(1)], [told], pages=pages)).render()
    assert line.startswith("- E1 (for Q1, P2): The council says")
    assert "“Prices rose by 4 percent after the vote.”" in line
    assert "Monday" not in line
    assert source_lines({"E1": told}, pages).render() == "- P2: Minutes; The Council; 2026-03-01"


def test_claims_that_say_the_same_are_told_once() -> None:
    twins = [claim("Divers come in spring.", name=name, of=name) for name in ("a", "b")]
    pages = [page("a"), page("b")]
    case = ClaimComparison(twins, pages, []).add_to_input(
        JudgeInput("What?", [question(1)], twins, pages=pages)
    )
    lines = claim_lines(dict(zip(("E1", "E2"), twins, strict=True)), case).render().splitlines()
    assert lines == ["- E1 (for Q1, P1): Divers come in spring.", "- E2 (for Q1, P2): the same as E1"]


def test_rulings_name_claims_by_key_and_unknown_keys_and_relations_mean_nothing() -> None:
    forms = [
        RulingForm(claims=["E1", "[E2]", "E9"], relation=" Same", kind=""),
        RulingForm(claims=["E2", "E1"], relation="contradicts", kind="number"),
        RulingForm(claims=["E1"], relation="same"),
        RulingForm(claims=["E1", "E2"], relation="neither"),
    ]
    (ruling,) = rulings_of(forms, KEYED)
    assert (ruling.claims, ruling.relation, ruling.kind) == (["a", "b"], "same", "other")


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("E33~E38은 지방 예산이고, 의견(E16, E51)뿐이다.", "지방 예산이고, 의견뿐이다."),
        ("No source says how E10 fuel is taxed (E3).", "No source says how E10 fuel is taxed."),
        ("There is nothing on Q1.", "There is nothing on “What is so?”."),
    ],
)
def test_what_readers_see_of_a_gap_has_no_keys(said: str, told: str) -> None:
    case = JudgeInput("What?", [SubQuestion(id="Q1", text="What is so?")], [])
    form = GapForm(question="Q1", description=said, priority="high", suggested_query="s")
    (found,) = read_gaps([form], case)
    assert found.description == told


def test_a_quote_that_is_the_claim_is_not_shown_twice() -> None:
    assert best_quote_sentence(claim("Divers come in spring.")) == ""
    assert best_quote_sentence(claim("물이 맑다.", said="x" * 900)) != ""


def test_sixty_korean_claims_leave_room_in_a_small_window() -> None:
    def words(number: int, count: int) -> str:
        return " ".join(chr(0xAC00 + (number * 97 + n * 31) % 11_000) + "나다라의" for n in range(count))

    claims = [
        claim(f"{words(n, 12)} {n}퍼센트이다.", name=f"c{n}", of=f"p{n}", said=f"{words(n + 500, 30)}이다.")
        for n in range(60)
    ]
    pages = [page(f"p{n}", f"https://a.example/{n}", title=words(n, 6)) for n in range(60)]
    case = JudgeInput("합계출산율은 왜 올랐나?", [question(1)], claims, pages=pages)
    keyed = key_claims(case)
    text = claim_lines(keyed, case).render() + source_lines(keyed, pages).render()
    assert len(keyed) > 30
    assert count_tokens(text) < 12_000


def test_an_outline_keeps_its_ids_and_the_claims_that_were_not_shown() -> None:
    before = Outline(title="T", headings=[heading("a", "unseen", name="S4", title="What is known")])
    case = JudgeInput("What?", [question(1)], list(KEYED.values()), outline=before)
    assert "S4 (medium) What is known" in outline_lines(before, KEYED).render()
    assert "rests on E1" in outline_lines(before, KEYED).render()
    parts = [
        PartForm(id="[S4]", title="What is known", claims=["E2", "E77"], lacks="None.", priority="HIGH"),
        PartForm(id="S9", title="Divers", claims=[], lacks="how many"),
    ]
    outline = read_outline(JudgeAnswer(**MARKS, parts=parts), case, KEYED)
    assert outline
    assert [(h.id, h.claims, h.lacks, h.priority) for h in outline.headings] == [
        ("S4", ["b", "unseen"], "", "high"),
        ("", [], "how many", "medium"),
    ]
    assert read_outline(JudgeAnswer(**MARKS), case, KEYED) is None


def test_that_something_was_refused_is_believed_only_where_something_was() -> None:
    form = GapForm(question="Q1", description="d", priority="high", suggested_query="s", reason="Rejected")
    case = JudgeInput("What?", [question(1)], [])
    assert [gap.is_rejected for gap in read_gaps([form], case)] == [False]
    refused = Rejected(page=page("one").sha, count=3, why="not said")
    other = Rejected(page="", count=3, why="a sentence", section="S1")
    assert read_gaps([form], JudgeInput("What?", [question(1)], [], rejected=[refused]))[0].is_rejected
    assert rejected_lines([refused, other], [page("one")]).render() == "- 3 of P1: not said"


def test_only_suspected_checks_can_be_said_to_fail() -> None:
    checks = [
        Check(name="cause", is_passed=False, why="w"),
        Check(name="definition", is_passed=True, why="w"),
        Check(name="date", is_passed=False, why="w"),
    ]
    assert read_failed_checks(["Cause", "definition", "date", "nonsense"], checks) == ["cause"]
