"""An outline stays as it is while claims come and go, and nothing in it is a model's own."""

from fakes import claim, heading, question, quote

from fathom.report.outlining import MOST_CLAIMS, basis_of, revised_outline, sound_outline
from fathom.state import Claim, Outline

ASKED = [question(1, "What does it cost?"), question(2, "Who built it?")]


def claims(*names: str, about: str = "Q1") -> list[Claim]:
    return [claim(f"It costs {n} euros.", name=name, question=about) for n, name in enumerate(names, 3)]


def outline(*headings: object, seen: tuple[str, ...] = ()) -> Outline:
    return Outline.model_validate({"title": "T", "headings": headings, "question": "What?", "seen": seen})


def test_a_title_that_smuggles_a_fact_gives_way_to_the_sub_question() -> None:
    offered = outline(
        heading("a", title="Costs"),
        heading("b", title="It was free in 1999"),
        heading("c", title="Built by Zanzibar").model_copy(update={"question": "Q2"}),
    )
    made = sound_outline(
        offered.model_copy(update={"title": "Zanzibar"}), "What?", ASKED, claims("a", "b", "c")
    )
    assert made.title == "What?"
    assert [h.title for h in made.headings] == ["Costs", "What does it cost?", "Who built it?"]
    assert (made.question, made.seen) == ("What?", ["a", "b", "c"])


def test_headings_that_end_up_with_one_title_are_one() -> None:
    made = sound_outline(
        outline(heading("a", title="Free in 1999"), heading("b", title="Free in 2001")),
        "What?",
        ASKED,
        claims("a", "b"),
    )
    assert [(h.id, h.title, h.claims) for h in made.headings] == [("S1", "What does it cost?", ["a", "b"])]


def test_a_revised_outline_keeps_its_headings_and_takes_in_what_is_new() -> None:
    earlier = outline(heading("a", "b"), heading("z", name="S4"), seen=("a", "b", "left out", "z"))
    known = [*claims("b", "left out", "new"), *claims("other", about="Q2")]
    made = revised_outline(earlier, known, ASKED)
    assert [(h.id, h.title, h.claims) for h in made.headings] == [
        ("S1", "What is known", ["b", "new"]),
        ("S5", "Who built it?", ["other"]),
    ]
    assert revised_outline(made, known, ASKED) == made


def test_a_heading_never_has_more_claims_than_can_be_written_from() -> None:
    many = [claim(name=f"n{n}", relevance=n / 100) for n in range(MOST_CLAIMS + 5)]
    made = revised_outline(outline(heading("n0"), seen=("n0",)), many, ASKED)
    assert len(made.headings[0].claims) == MOST_CLAIMS
    assert "n0" not in made.headings[0].claims


def test_the_basis_changes_with_what_a_section_stands_on_and_with_nothing_else() -> None:
    known = {c.id: c for c in claims("a", "b", "c")}
    basis = basis_of(heading("a", "b"), known)
    assert basis == basis_of(heading("b", "a"), {**known, "c": claim("other", name="c")})
    changed = [
        basis_of(heading("a"), known),
        basis_of(heading("a", "b", title="Other"), known),
        basis_of(heading("a", "b", name="S2"), known),
        basis_of(heading("a", "b"), {**known, "b": claim(name="b", quotes=[quote("It costs 5 euros.")])}),
    ]
    assert len({basis, *changed}) == 5
