"""What a mind says a page says becomes a claim only when the page says it."""

from collections.abc import Sequence

import pytest
from fakes import DOUBTED, SOUND, page, question

from fathom.evidence.claims import KEEP_FROM, as_claims, grounded
from fathom.llm.port import Draft
from fathom.state import Verdict

TEXT = (
    "The Rance plant opened in 1966. It makes 240 megawatts at its peak. Divers service the gates in spring."
)
PAGE = page(TEXT)
QUESTIONS = [question(1), question(2)]
QUOTED = Draft("The Rance plant opened in 1966.", "The Rance plant opened in 1966", "Q1", 0.9)
SAID = Draft("Divers look after the gates.", "Divers service the gates in spring", "Q2", 0.7)


def kept(*drafts: Draft) -> list[str]:
    return [item.draft.statement for item in grounded(drafts, PAGE, TEXT, QUESTIONS)[0]]


@pytest.mark.parametrize(
    "draft",
    [
        Draft("The moon is cheese.", "the moon is made of cheese", "Q1", 1),
        Draft("It makes 240 megawatts at its peak.", "It makes 240 megawatts at its peak", "Q9", 1),
        Draft("The Rance plant opened in 1968.", "The Rance plant opened in 1966", "Q1", 1),
        Draft("In Brittany the plant opened in 1966.", "The Rance plant opened in 1966", "Q1", 1),
        Draft("It makes power.", "", "Q1", 1),
    ],
    ids=["not in the page", "no such sub-question", "another number", "another name", "no quote"],
)
def test_a_draft_that_does_not_hold_is_not_kept_but_counted(draft: Draft) -> None:
    drafts = [QUOTED, draft]
    found, rejected = grounded(drafts, PAGE, TEXT, QUESTIONS)
    assert [item.draft for item in found] == [QUOTED]
    claims, _ = as_claims(found, [], PAGE)
    assert [c.statement for c in claims] == [QUOTED.statement]
    assert [(d.page, d.count) for d in rejected] == [(PAGE.sha, 1)]


def test_the_same_statement_twice_is_one_claim_and_nothing_dropped() -> None:
    again = Draft("the rance plant  opened in 1966.", QUOTED.quote, "Q1", 0.5)
    found, refused = grounded([QUOTED, again], PAGE, TEXT, QUESTIONS)
    claims, rejected = as_claims(found, [], PAGE)
    assert [c.statement for c in claims] == [QUOTED.statement]
    assert [*refused, *rejected] == []


def test_the_evidence_shows_what_stands_around_the_quote() -> None:
    ((item,), _) = grounded([SAID], PAGE, TEXT, QUESTIONS)
    assert item.evidence.quote == "Divers service the gates in spring."
    assert item.evidence.context == TEXT
    assert item.quote.page == PAGE.sha


def test_a_statement_that_is_its_quote_needs_no_verdict() -> None:
    items, _ = grounded([QUOTED, SAID], PAGE, TEXT, QUESTIONS)
    assert [item.is_self_evident for item in items] == [True, False]
    claims, _ = as_claims(items, [SOUND], PAGE)
    assert [c.verdict.score for c in claims] == [1.0, SOUND.score]


@pytest.mark.parametrize(("score", "is_kept"), [(KEEP_FROM, True), (KEEP_FROM - 0.01, False), (0.0, False)])
def test_a_verdict_under_the_line_drops_the_claim(score: float, is_kept: bool) -> None:
    verdict: Verdict = DOUBTED.model_copy(update={"score": score})
    items, _ = grounded([SAID], PAGE, TEXT, QUESTIONS)
    claims, rejected = as_claims(items, [verdict], PAGE)
    assert bool(claims) is is_kept
    assert [d.count for d in rejected] == ([] if is_kept else [1])


def test_verdicts_go_to_the_doubtful_ones_in_order() -> None:
    other = Draft("At its peak it gives 240 megawatts.", "It makes 240 megawatts at its peak", "Q1", 0.8)
    drafts: Sequence[Draft] = [SAID, QUOTED, other]
    items, _ = grounded(drafts, PAGE, TEXT, QUESTIONS)
    claims, rejected = as_claims(items, [DOUBTED, SOUND], PAGE)
    assert [c.statement for c in claims] == [QUOTED.statement, other.statement]
    assert sum(d.count for d in rejected) == 1


def test_a_relevance_off_the_scale_is_brought_back() -> None:
    for given, stored in ((7.0, 1.0), (-1.0, 0.0)):
        draft = Draft(QUOTED.statement, QUOTED.quote, "Q1", given)
        claims, _ = as_claims(grounded([draft], PAGE, TEXT, QUESTIONS)[0], [], PAGE)
        assert claims[0].relevance == stored


def test_a_page_may_say_nothing() -> None:
    assert kept() == []
    assert as_claims([], [], PAGE) == ([], [])
