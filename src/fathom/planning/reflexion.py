"""Lessons of earlier queries (Reflexion), advice for stuck runs, and the choice of a thinking tool.

Everything is counted in code from what was asked, chosen, read and kept.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from fathom.http.urls import canonical_address
from fathom.state import Claim, Family, Hit, Hypothesis, Judgement, Lesson, Page, Query, ThinkingTool
from fathom.state.depth import Thinking
from fathom.state.planning import ThinkingToolName
from fathom.text.ranking import jaccard_similarity, terms

_SAME_PATTERN_WORDS = 0.5

_MAX_PATTERN_USES = 3

_BARREN_ROUNDS = 5


def is_overused(query: Query, asked: Sequence[Query]) -> bool:
    """Tell whether three earlier queries had the same sub-question, family and half of the words."""
    words = terms(query.text)
    same = [past for past in asked if (past.question, past.family) == (query.question, query.family)]
    return (
        sum(jaccard_similarity(words, terms(past.text)) >= _SAME_PATTERN_WORDS for past in same)
        >= _MAX_PATTERN_USES
    )


def count_barren_rounds(judgements: Sequence[Judgement]) -> int:
    """Count the rounds in a row, up to the last, without anything new."""
    count = 0
    for judgement in reversed(judgements):
        if judgement.new_claims > 0:
            break
        count += 1
    return count


def advise_new_approach(judgements: Sequence[Judgement]) -> str:
    """Advise a new approach after every five rounds without anything new; "" otherwise."""
    barren = count_barren_rounds(judgements)
    if not barren or barren % _BARREN_ROUNDS:
        return ""
    return (
        f"{barren} rounds brought nothing new: step back to a broader question, or split the question anew"
        " and look from where nobody looked yet."
    )


_MAX_SHOWN_LESSONS = 5

_LIKE_WORDS = 0.5

_WORDS_WEIGHT = 0.5

_LATEST_LESSONS = 40


def draw_lessons(
    asked: Sequence[Query], chosen: Sequence[Hit], pages: Sequence[Page], claims: Sequence[Claim], number: int
) -> list[Lesson]:
    """Return one lesson per query of a round: its pages and their claims."""
    shas = {canonical_address(page.address): page.sha for page in pages}
    found: list[Lesson] = []
    for query in (q for q in asked if q.round == number):
        read = {
            shas[a]
            for hit in chosen
            if hit.query == query.id and (a := canonical_address(hit.address)) in shas
        }
        new = sum(any(quote.page in read for quote in claim.quotes[:1]) for claim in claims)
        found.append(
            Lesson(
                query=query.id,
                text=query.text,
                question=query.question,
                family=query.family,
                round=number,
                pages=len(read),
                claims=new,
            )
        )
    return found


def best_lessons(known: Sequence[Lesson]) -> list[Lesson]:
    """Return the few most productive lessons, the latest first among equals."""
    good = [lesson for lesson in known if lesson.claims]
    return sorted(good, key=lambda lesson: (-lesson.claims, -lesson.round))[:_MAX_SHOWN_LESSONS]


def failed_lessons(known: Sequence[Lesson]) -> list[Lesson]:
    """Return the latest few that brought nothing."""
    return [lesson for lesson in reversed(known) if not lesson.claims][:_MAX_SHOWN_LESSONS]


def lesson_discount(text: str, family: Family, known: Sequence[Lesson]) -> float:
    """Return a query's discount for similar failures, 0 to 1: similar words or the same family."""
    latest = known[-_LATEST_LESSONS:]
    words = terms(text)
    like = [lesson for lesson in latest if jaccard_similarity(words, terms(lesson.text)) >= _LIKE_WORDS]
    same = [lesson for lesson in latest if lesson.family == family]
    return _WORDS_WEIGHT * _failure_rate(like) + (1 - _WORDS_WEIGHT) * (
        _failure_rate(same) if len(same) >= 2 else 0.0
    )


def _failure_rate(known: Sequence[Lesson]) -> float:
    return sum(not lesson.claims for lesson in known) / len(known) if known else 0.0


_SURE_FROM = 0.7

_MIN_COMPETING = 3

_CLOSE_CONFIDENCE = 0.15


@dataclass(frozen=True)
class RoundSituation:
    """Where a run stands before a round."""

    round: int
    claims: int = 0
    barren_rounds: int = 0
    contradictions: int = 0
    hypotheses: Sequence[Hypothesis] = ()
    overall: float = 0.0


TOOL_NAMES: dict[Thinking, ThinkingToolName] = {
    "scientific": "scientific method",
    "first-principles": "first principles",
    "occam": "Occam's razor",
    "falsification": "falsification",
}


def choose_tool(at: RoundSituation) -> ThinkingTool:
    """Choose the thinking tool for the situation, with the reason; by default the scientific method."""
    if at.round > 1 and not at.claims:
        return ThinkingTool(name="first principles", because="nothing was found yet")
    if at.barren_rounds >= 2:
        return ThinkingTool(name="first principles", because=f"{at.barren_rounds} rounds brought nothing new")
    if at.contradictions >= 2:
        return ThinkingTool(
            name="Occam's razor", because=f"sources contradict each other {at.contradictions} times"
        )
    if competing := _count_competing(at.hypotheses):
        return ThinkingTool(name="Occam's razor", because=f"{competing} explanations compete")
    if leading := [h for h in at.hypotheses if h.status == "active" and h.confidence >= _SURE_FROM]:
        best = max(leading, key=lambda h: h.confidence)
        return ThinkingTool(
            name="falsification", because=f"one answer leads with confidence {best.confidence:.2f}"
        )
    if at.round > 1 and at.overall >= _SURE_FROM:
        return ThinkingTool(name="falsification", because=f"the evidence scores {at.overall:.2f} already")
    return ThinkingTool(name="scientific method", because="nothing asks for another way")


def _count_competing(hypotheses: Sequence[Hypothesis]) -> int:
    """Count active hypotheses about as likely as the best; 0 if too few compete."""
    active = [h for h in hypotheses if h.status == "active" and (h.supporting or h.contradicting)]
    best = max((h.confidence for h in active), default=0.0)
    close = [h for h in active if best - h.confidence <= _CLOSE_CONFIDENCE]
    return len(close) if len(close) >= _MIN_COMPETING else 0
