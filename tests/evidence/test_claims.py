"""What a model says a page says: what code decides by itself, and what it leaves to the verifier."""

import pytest
from fakes.records import page, question

from fathom.evidence.claims import NO_QUESTION, NOT_DERIVABLE, NOT_IN_PAGE, GroundedDrafts, ground_drafts
from fathom.state.model_io import ExtractedStatement

TEXT = (
    "# Rance\n\nThe Rance plant opened in 1966. It makes 240 megawatts at its peak. "
    "Divers service the gates in spring. Nobody is likely to build another one before 2040.\n\n"
    "- The gates are made of steel\n- The locks are made of oak\n\n"
    "| Plant | Peak |\n|---|---|\n| Rance | 240 MW |\n| Sihwa | 254 MW |"
)
PAGE = page(TEXT, published="2025-03-02")
QUOTED = ExtractedStatement("The Rance plant opened in 1966.", "The Rance plant opened in 1966", "Q1", 0.9)
SAID = ExtractedStatement("Divers look after the gates.", "Divers service the gates in spring", "Q2", 0.7)


def ground(*drafts: ExtractedStatement) -> GroundedDrafts:
    return ground_drafts(drafts, PAGE, TEXT, [question(1), question(2)])


@pytest.mark.parametrize(
    ("draft", "why"),
    [
        (ExtractedStatement("The moon is cheese.", "the moon is made of cheese", "Q1", 1), NOT_IN_PAGE),
        (ExtractedStatement("It makes power.", "", "Q1", 1), NOT_IN_PAGE),
        (ExtractedStatement("Divers come.", SAID.quote, "Q1", 1, ["and they are paid in gold"]), NOT_IN_PAGE),
        (ExtractedStatement("The Rance plant opened in 1968.", QUOTED.quote, "Q1", 1), NOT_DERIVABLE),
        (
            ExtractedStatement("It makes 300 megawatts.", "It makes 240 megawatts at its peak", "Q1", 1),
            NOT_DERIVABLE,
        ),
    ],
    ids=["not in the page", "no quote", "a second quote that is not there", "another year", "another figure"],
)
def test_code_objects_only_to_what_it_can_be_sure_of(draft: ExtractedStatement, why: str) -> None:
    found = ground(QUOTED, draft)
    assert [c.statement for c in found.claims] == [QUOTED.statement]
    assert [(d.statement, d.why) for d in found.drafts] == [(draft.statement, why)]
    assert found.drafts[0].objection
    assert found.rejected == []


def test_a_claim_for_no_sub_question_is_rejected_at_once() -> None:
    found = ground(ExtractedStatement("Divers look after the gates.", SAID.quote, "Q9", 1))
    assert (found.claims, found.drafts) == ([], [])
    assert [(r.page, r.count, r.why) for r in found.rejected] == [(PAGE.sha, 1, NO_QUESTION)]


@pytest.mark.parametrize(
    "draft",
    [
        ExtractedStatement("In Brittany the plant opened in 1966.", QUOTED.quote, "Q1", 1),
        ExtractedStatement(
            "Another one will be built before 2040.", "Nobody is likely to build another one", "Q1", 1
        ),
    ],
    ids=["a name", "a negation and a hedge"],
)
def test_what_is_odd_goes_to_the_verifier_with_a_note(draft: ExtractedStatement) -> None:
    (found,) = ground(draft).drafts
    assert not found.objection
    assert found.notes


def test_a_figure_from_far_away_on_the_page_is_noted_and_not_refused() -> None:
    text = f"{TEXT}\n\n{'Gulls nest on the wall. ' * 60}\n\nThe fund paid 615 million francs."
    draft = ExtractedStatement("Rance opened in 1966 for 0.615 billion francs.", QUOTED.quote, "Q1", 1)
    (found,) = ground_drafts([draft], page(text), text, [question(1)]).drafts
    assert not found.objection
    assert "0.615 billion" in found.notes[0]


@pytest.mark.parametrize(
    "statement",
    [
        "The peak of the plant is 0.24 GW.",
        "The plant had been open for 59 years in 2025.",
        "그 발전소는 1966년에 문을 열었다.",
    ],
    ids=["unit", "calendar", "another language"],
)
def test_figures_may_be_derived_from_the_context(statement: str) -> None:
    (found,) = ground(ExtractedStatement(statement, QUOTED.quote, "Q1", 1)).drafts
    assert not found.objection


@pytest.mark.parametrize(
    ("words", "texts"),
    [
        ("* The gates are made of steel", ["The gates are made of steel"]),
        ("1. The locks are made of oak", ["The locks are made of oak"]),
        ("| Rance | 240 MW |", ["| Rance | 240 MW |"]),
        ("|Sihwa|254 MW|", ["| Sihwa | 254 MW |"]),
        ("## Rance plant opened in 1966", ["The Rance plant opened in 1966."]),
        (
            "The Rance plant opened … Divers service the gates",
            ["The Rance plant opened in 1966.", "Divers service the gates in spring."],
        ),
        ("The Rance plant opened … locks are made of oak", []),
        ("Divers service the gates [...] The Rance plant opened", []),
    ],
)
def test_list_items_rows_and_parts_of_a_paragraph_can_be_quoted(words: str, texts: list[str]) -> None:
    (found,) = ground(ExtractedStatement("This is what it says.", words, "Q1", 1)).drafts
    assert [q.text.lstrip("-# ") for q in found.quotes] == texts
    assert all(TEXT[q.start : q.end] == q.text for q in found.quotes)


def test_a_claim_may_rest_on_several_quotes() -> None:
    (found,) = ground(
        ExtractedStatement(
            "Rance, of 1966, is serviced by divers.", QUOTED.quote, "Q1", 1, [SAID.quote], "it = Rance"
        )
    ).drafts
    assert [q.text for q in found.quotes] == [
        "The Rance plant opened in 1966.",
        "Divers service the gates in spring.",
    ]
    assert (found.objection, found.resolved) == ("", "it = Rance")


def test_the_same_statement_twice_is_one_and_the_one_that_holds_counts() -> None:
    bad = ExtractedStatement("the rance plant  opened in 1966.", "it was in 1966 that Rance began", "Q1", 0.5)
    found = ground(bad, QUOTED, QUOTED)
    assert [c.statement for c in found.claims] == [QUOTED.statement]
    assert (found.drafts, found.rejected) == ([], [])


def test_relevance_stays_on_its_scale() -> None:
    many = [
        ExtractedStatement(f"Divers look after {gate}.", SAID.quote, "Q1", mark)
        for gate, mark in (("a", 7.0), ("b", -1))
    ]
    assert [d.relevance for d in ground(*many).drafts] == [1.0, 0.0]


def test_a_readers_controls_are_taken_only_if_they_are_what_they_say() -> None:
    same = ExtractedStatement("The gates are looked after by divers.", SAID.quote, "Q2", 1, kind="paraphrase")
    wrong = ExtractedStatement(
        "Robots look after the gates.", SAID.quote, "Q2", 1, (), "", "falsehood", "Divers", "Robots"
    )
    useless = ExtractedStatement(
        "Divers look after the gates.", SAID.quote, "Q2", 1, (), "", "falsehood", "spring", "steel"
    )
    found = ground(SAID, same, wrong, useless)
    told = {(c.kind, c.is_true): c.statement for c in found.controls}
    assert told["paraphrase", True] == same.statement
    assert told["wording", False] == wrong.statement
    assert useless.statement not in told.values()
    assert [d.statement for d in found.drafts] == [SAID.statement]


def test_a_page_may_say_nothing() -> None:
    assert ground() == GroundedDrafts()
