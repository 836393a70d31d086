"""The outline while a run looks: nothing in it is a model's own, and what is in it stays."""

from typing import Any

from fakes import claim, heading, question

from fathom.report.living_outline import MOST_PARTS, Material, kept_outline, without_empty_parts
from fathom.report.outlining import MOST_CLAIMS, basis_of
from fathom.state import Finding, Heading, Outline

QUESTIONS = [question(1, "What does it cost?"), question(2, "Who builds it?")]
CLAIMS = [
    claim("The plant costs 80 million euros.", name="a"),
    claim("Divers build it.", name="b", question="Q2", of="two"),
    claim("It is large.", name="c", relevance=0.1, of="three"),
]


def material(**words: Any) -> Material:
    return Material(**{"question": "What is it?", "questions": QUESTIONS, "claims": CLAIMS, **words})


def part(*claims: str, name: str = "", title: str = "Costs", **words: Any) -> Heading:
    return heading(*claims, name=name, title=title).model_copy(update=words)


def outline(*parts: Heading, title: str = "The plant") -> Outline:
    return Outline(title=title, headings=list(parts))


def test_unknown_claims_are_dropped_and_what_answers_has_a_place() -> None:
    made = kept_outline(outline(part("a", "zz", "a"), title="80 million euros"), None, material())
    assert [(p.id, p.title, p.claims) for p in made.headings] == [
        ("S1", "Costs", ["a"]),
        ("S2", "Who builds it?", ["b"]),
    ]
    assert (made.question, set(made.seen)) == ("What is it?", {"a", "b", "c"})


def test_a_claim_may_serve_several_parts() -> None:
    made = kept_outline(outline(part("a", "b"), part("a", title="Risks")), None, material())
    assert [p.claims for p in made.headings] == [["a", "b"], ["a"]]


def test_a_title_says_nothing_that_nobody_said() -> None:
    made = kept_outline(outline(part("a", title="The scandal of 1999"), title="Napoleon"), None, material())
    assert made.headings[0].title == "What does it cost?"
    assert made.title == "What is it?"
    korean = [claim("공사비는 800억 원이다.", name="k", said="The works cost 80 billion won.")]
    asked = [question(1, "공사비는 얼마인가?")]
    kept = kept_outline(outline(part("k", title="공사비")), None, material(claims=korean, questions=asked))
    assert kept.headings[0].title == "공사비"


def test_parts_keep_their_ids_and_unchanged_ones_their_text() -> None:
    first = kept_outline(outline(part("a"), part("b", title="Results", question="Q2")), None, material())
    again = outline(part("b", name="S2", title="Findings"), part("a", name="S1", title="Other costs"))
    later = kept_outline(again, first, material())
    assert [(p.id, p.title) for p in later.headings] == [("S2", "Results"), ("S1", "Costs")]
    known = {c.id: c for c in CLAIMS}
    assert {basis_of(p, known) for p in first.headings} == {basis_of(p, known) for p in later.headings}
    grown = outline(part("a", "c", name="S1", title="Other costs"), part("b", title="Risks"))
    assert [(p.id, p.title) for p in kept_outline(grown, first, material()).headings] == [
        ("S1", "Other costs"),
        ("S3", "Risks"),
    ]


def test_an_empty_part_waits_one_round_and_is_never_written() -> None:
    empty = part(title="Risks", lacks="what may go wrong", priority="high")
    first = kept_outline(outline(part("a", "b"), empty), None, material())
    assert [p.title for p in first.headings] == ["Costs", "Risks"]
    assert [p.title for p in without_empty_parts(first).headings] == ["Costs"]
    again = outline(part("a", "b", name="S1"), empty.model_copy(update={"id": "S2"}))
    assert [p.title for p in kept_outline(again, first, material()).headings] == ["Costs"]


def test_a_comparison_ends_with_one_conclusion_and_a_fact_with_none() -> None:
    end = part(title="Conclusion", is_conclusion=True)
    offered = outline(end, part("a"), part("b", title="Results"), end)
    made = kept_outline(offered, None, material(kind="comparison")).headings
    assert [p.is_conclusion for p in made] == [False, False, True]
    assert set(made[-1].claims) == {"a", "b"}
    fact = kept_outline(offered, None, material(kind="fact")).headings
    assert [p.title for p in fact] == ["Costs", "Results"]


def test_what_says_the_same_stands_together() -> None:
    twin = claim("80 million euros is its price.", name="t", of="two", question="Q2")
    together = Finding(
        id="f", statement="s", question="Q1", claims=["a", "t"], voices=["v"], confidence=0.8, tag="HIGH"
    )
    given = material(claims=[*CLAIMS, twin], findings=[together])
    made = kept_outline(outline(part("b", title="Results", question="Q2"), part("a")), None, given)
    assert [p.claims for p in made.headings] == [["b"], ["a", "t"]]


def test_whatever_is_offered_there_is_something_to_write_and_not_too_much() -> None:
    weak = [claim("It is large.", name=f"w{n}", relevance=0.1, question="") for n in range(40)]
    for offered in (outline(), outline(part(title="")), outline(part("zz"))):
        made = kept_outline(offered, None, material(claims=weak))
        assert [len(p.claims) for p in made.headings if p.claims] == [MOST_CLAIMS]
    many = outline(*(part("a", title=f"Part {word}") for word in "abcdefghijklmnop"))
    assert len(kept_outline(many, None, material()).headings) <= MOST_PARTS
