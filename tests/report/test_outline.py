"""The outline while a run looks: nothing in it is a model's own, and what is in it stays."""

from typing import Any

import pytest
from fakes.records import claim, heading, question, quote

from fathom.report.outline import (
    MOST_CLAIMS,
    MOST_PARTS,
    OutlineMaterial,
    check_outline,
    drop_empty_parts,
    group_headings,
    revise_outline,
    section_basis,
    update_outline,
    whole_length,
    word_shares,
    word_target,
)
from fathom.state import Claim, EffortKind, Finding, Heading, Outline, RunConfig

CONCLUSION = heading(*"abcdefghijkl", name="end").model_copy(update={"is_conclusion": True})


@pytest.mark.parametrize(
    ("length", "kind", "claims", "words"),
    [
        (None, "fact", 40, 150),
        (None, "comparison", 40, 1100),
        ("long", "survey", 100, 3000),
        ("short", "survey", 100, 900),
        ("700", "fact", 1, 700),
        (None, "survey", 4, 220),  # four claims do not carry two thousand words
    ],
)
def test_the_length_is_as_set_or_as_the_question_and_the_evidence_say(
    length: str | None, kind: EffortKind, claims: int, words: int
) -> None:
    assert word_target(length, kind, claims) == words
    in_korean = word_target(length, kind, claims, is_korean=True)
    assert in_korean == words if length and length.isdigit() else in_korean < words


def test_a_part_with_more_claims_and_more_weight_gets_more_words() -> None:
    thin = heading("a", name="S1")
    thick = heading(*"bcdefg", name="S2").model_copy(update={"priority": "high"})
    shares = word_shares(1000, [thin, thick])
    assert shares["S2"] > 2 * shares["S1"]


def test_the_parts_and_the_summary_add_up_to_the_whole() -> None:
    parts = [heading("a", name=f"S{n}") for n in range(7)]
    shares = word_shares(200, [*parts, CONCLUSION])
    assert sum(shares.values()) == pytest.approx(180, abs=5)
    assert whole_length(shares) == pytest.approx(200, abs=5)


def test_a_conclusion_is_short_however_much_it_rests_on() -> None:
    shares = word_shares(1000, [heading(*"abcdefghijkl", name="S1"), CONCLUSION])
    assert shares["end"] <= shares["S1"] / 2


def test_a_report_is_one_chapter_and_a_very_long_one_a_few_of_similar_size() -> None:
    parts = [heading("a", name=f"S{n}") for n in range(11)]
    assert [len(group) for group in group_headings(parts, {part.id: 170 for part in parts})] == [11]
    groups = group_headings(parts, {part.id: 300 for part in parts})
    assert sorted(len(group) for group in groups) == [5, 6]
    assert [part.id for group in groups for part in group] == [part.id for part in parts]
    assert group_headings([], {}) == []


@pytest.mark.parametrize("length", ["short", "standard", "long", 800, "800"])
def test_a_length_is_a_word_or_a_number_of_words(length: str | int) -> None:
    assert RunConfig(length=length).length == str(length)


@pytest.mark.parametrize("length", ["huge", 10, "-5", 1_000_000])
def test_any_other_length_is_refused(length: str | int) -> None:
    with pytest.raises(ValueError, match="length"):
        RunConfig(length=length)


QUESTIONS = [question(1, "What does it cost?"), question(2, "Who builds it?")]

CLAIMS = [
    claim("The plant costs 80 million euros.", name="a"),
    claim("Divers build it.", name="b", question="Q2", of="two"),
    claim("It is large.", name="c", relevance=0.1, of="three"),
]


def material(**words: Any) -> OutlineMaterial:
    return OutlineMaterial(**{"question": "What is it?", "questions": QUESTIONS, "claims": CLAIMS, **words})


def part(*claims: str, name: str = "", title: str = "Costs", **words: Any) -> Heading:
    return heading(*claims, name=name, title=title).model_copy(update=words)


def outline(*parts: Heading, title: str = "The plant") -> Outline:
    return Outline(title=title, headings=list(parts))


def test_unknown_claims_are_dropped_and_what_answers_has_a_place() -> None:
    made = update_outline(outline(part("a", "zz", "a"), title="80 million euros"), None, material())
    assert [(p.id, p.title, p.claims) for p in made.headings] == [
        ("S1", "Costs", ["a"]),
        ("S2", "Who builds it?", ["b"]),
    ]
    assert (made.question, set(made.seen)) == ("What is it?", {"a", "b", "c"})


def test_a_claim_may_serve_several_parts() -> None:
    made = update_outline(outline(part("a", "b"), part("a", title="Risks")), None, material())
    assert [p.claims for p in made.headings] == [["a", "b"], ["a"]]


def test_a_title_says_nothing_that_nobody_said() -> None:
    made = update_outline(outline(part("a", title="The scandal of 1999"), title="Napoleon"), None, material())
    assert made.headings[0].title == "What does it cost?"
    assert made.title == "What is it?"
    korean = [claim("공사비는 800억 원이다.", name="k", said="The works cost 80 billion won.")]
    asked = [question(1, "공사비는 얼마인가?")]
    again = update_outline(outline(part("a", name="S1", title="Findings")), made, material())
    assert again.headings[0].title == "Findings"  # a question only stands in for a title
    kept = update_outline(outline(part("k", title="공사비")), None, material(claims=korean, questions=asked))
    assert kept.headings[0].title == "공사비"


def test_parts_keep_their_ids_and_unchanged_ones_their_text() -> None:
    first = update_outline(outline(part("a"), part("b", title="Results", question="Q2")), None, material())
    again = outline(part("b", name="S2", title="Findings"), part("a", name="S1", title="Other costs"))
    later = update_outline(again, first, material())
    assert [(p.id, p.title) for p in later.headings] == [("S2", "Results"), ("S1", "Costs")]
    known = {c.id: c for c in CLAIMS}
    assert {section_basis(p, known) for p in first.headings} == {
        section_basis(p, known) for p in later.headings
    }
    grown = outline(part("a", "c", name="S1", title="Other costs"), part("b", title="Risks"))
    assert [(p.id, p.title) for p in update_outline(grown, first, material()).headings] == [
        ("S1", "Other costs"),
        ("S3", "Risks"),
    ]


def test_an_empty_part_waits_one_round_and_is_never_written() -> None:
    empty = part(title="Risks", lacks="what may go wrong", priority="high")
    first = update_outline(outline(part("a", "b"), empty), None, material())
    assert [p.title for p in first.headings] == ["Costs", "Risks"]
    assert [p.title for p in drop_empty_parts(first).headings] == ["Costs"]
    again = outline(part("a", "b", name="S1"), empty.model_copy(update={"id": "S2"}))
    assert [p.title for p in update_outline(again, first, material()).headings] == ["Costs"]


@pytest.mark.parametrize(
    ("asked", "language", "title"),
    [
        ("그것은 무엇인가?", None, "결론"),
        ("それは何ですか?", None, "Conclusion"),
        ("What is it?", "ko", "결론"),
        ("그것은 무엇인가?", "en", "Conclusion"),
    ],
)
def test_a_conclusion_is_named_in_the_language_of_the_report(
    asked: str, language: str | None, title: str
) -> None:
    offered = outline(part("a"), part(title="Nobody said 9,999", is_conclusion=True))
    made = update_outline(offered, None, material(kind="comparison", question=asked, language=language))
    assert made.headings[-1].title == title


def test_a_comparison_ends_with_one_conclusion_and_a_fact_with_none() -> None:
    end = part(title="Conclusion", is_conclusion=True)
    offered = outline(end, part("a"), part("b", title="Results"), end)
    made = update_outline(offered, None, material(kind="comparison")).headings
    assert [p.is_conclusion for p in made] == [False, False, True]
    assert set(made[-1].claims) == {"a", "b"}
    fact = update_outline(offered, None, material(kind="fact")).headings
    assert [p.title for p in fact] == ["Costs", "Results"]


def test_what_says_the_same_stands_together() -> None:
    twin = claim("80 million euros is its price.", name="t", of="two", question="Q2")
    together = Finding(
        id="f",
        statement="s",
        question="Q1",
        claims=["a", "t"],
        independent_sources=["v"],
        confidence=0.8,
        tag="HIGH",
    )
    given = material(claims=[*CLAIMS, twin], findings=[together])
    made = update_outline(outline(part("b", title="Results", question="Q2"), part("a")), None, given)
    assert [p.claims for p in made.headings] == [["b"], ["a", "t"]]


def test_whatever_is_offered_there_is_something_to_write_and_not_too_much() -> None:
    weak = [claim("It is large.", name=f"w{n}", relevance=0.1, question="") for n in range(40)]
    for offered in (outline(), outline(part(title="")), outline(part("zz"))):
        made = update_outline(offered, None, material(claims=weak))
        assert [len(p.claims) for p in made.headings if p.claims] == [MOST_CLAIMS]
    many = outline(*(part("a", title=f"Part {word}") for word in "abcdefghijklmnop"))
    assert len(update_outline(many, None, material()).headings) <= MOST_PARTS


ASKED = [question(1, "What does it cost?"), question(2, "Who built it?")]


def claims(*names: str, about: str = "Q1") -> list[Claim]:
    return [claim(f"It costs {n} euros.", name=name, question=about) for n, name in enumerate(names, 3)]


def offered_outline(*headings: object, seen: tuple[str, ...] = ()) -> Outline:
    return Outline.model_validate({"title": "T", "headings": headings, "question": "What?", "seen": seen})


def test_a_title_with_a_date_of_its_own_gives_way_to_the_sub_question() -> None:
    offered = offered_outline(
        heading("a", title="Costs"),
        heading("b", title="It was free in 1999"),
        heading("c", title="Built by Zanzibar").model_copy(update={"question": "Q2"}),
    )
    made = check_outline(
        offered.model_copy(update={"title": "Zanzibar"}), "What?", ASKED, claims("a", "b", "c")
    )
    assert made.title == "What?"
    assert [h.title for h in made.headings] == ["Costs", "What does it cost?", "Built by Zanzibar"]
    assert (made.question, made.seen) == ("What?", ["a", "b", "c"])


def test_headings_that_end_up_with_one_title_are_one() -> None:
    made = check_outline(
        offered_outline(heading("a", title="Free in 1999"), heading("b", title="Free in 2001")),
        "What?",
        ASKED,
        claims("a", "b"),
    )
    assert [(h.id, h.title, h.claims) for h in made.headings] == [("S1", "What does it cost?", ["a", "b"])]


def test_a_revised_outline_keeps_its_headings_and_takes_in_what_is_new() -> None:
    earlier = offered_outline(heading("a", "b"), heading("z", name="S4"), seen=("a", "b", "left out", "z"))
    known = [*claims("b", "left out", "new"), *claims("other", about="Q2")]
    made = revise_outline(earlier, known, ASKED)
    assert [(h.id, h.title, h.claims) for h in made.headings] == [
        ("S1", "What is known", ["b", "new"]),
        ("S5", "Who built it?", ["other"]),
    ]
    assert revise_outline(made, known, ASKED) == made


def test_a_heading_never_has_more_claims_than_can_be_written_from() -> None:
    many = [claim(name=f"n{n}", relevance=n / 100) for n in range(MOST_CLAIMS + 5)]
    made = revise_outline(offered_outline(heading("n0"), seen=("n0",)), many, ASKED)
    assert len(made.headings[0].claims) == MOST_CLAIMS
    assert "n0" not in made.headings[0].claims


def test_the_basis_changes_with_what_a_section_stands_on_and_with_nothing_else() -> None:
    known = {c.id: c for c in claims("a", "b", "c")}
    basis = section_basis(heading("a", "b"), known)
    assert basis == section_basis(heading("b", "a"), {**known, "c": claim("other", name="c")})
    changed = [
        section_basis(heading("a"), known),
        section_basis(heading("a", "b", title="Other"), known),
        section_basis(heading("a", "b", name="S2"), known),
        section_basis(
            heading("a", "b"), {**known, "b": claim(name="b", quotes=[quote("It costs 5 euros.")])}
        ),
    ]
    assert len({basis, *changed}) == 5
