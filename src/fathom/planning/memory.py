"""Memory of a run for prompts: the last ten rounds, the most relevant claims, and what worked or failed.

Rules against drift are here too: worn patterns, rounds with nothing new, and the thinking tool that fits.
"""

from collections.abc import Iterable, Mapping, Sequence

from fathom.http.urls import canonical_address
from fathom.state import (
    Claim,
    Family,
    Finding,
    Hit,
    Hypothesis,
    Judgement,
    Lesson,
    Page,
    Query,
    Reason,
    ResearchState,
    ThinkingTool,
)
from fathom.state.depth import Thinking
from fathom.state.planning import ThinkingToolName
from fathom.text.messages import ENGLISH
from fathom.text.normalization import shorten_line
from fathom.text.ranking import bm25, jaccard_similarity, terms

_SAME_CLAIM = 0.8


def recall_claims(
    claims: Sequence[Claim], words: Sequence[str], most: int, beside: Sequence[Claim] = ()
) -> list[Claim]:
    """Return the claims that best fit any of the words, best first and without repeats.

    Claims without common words, or similar to those `beside`, are left out.
    """
    scores = rate_closeness(claims, words)
    ranked = sorted(range(len(claims)), key=lambda n: (-scores[n], claims[n].id))
    return drop_similar_claims((claims[n] for n in ranked if scores[n] > 0), most, beside)


def drop_similar_claims(ranked: Iterable[Claim], most: int, beside: Sequence[Claim] = ()) -> list[Claim]:
    """Return the first claims without those similar to an earlier one or to those `beside`."""
    chosen: list[Claim] = []
    bags = [terms(claim.statement) for claim in beside]
    for claim in ranked:
        if len(chosen) == most:
            break
        words = terms(claim.statement)
        if all(jaccard_similarity(words, bag) < _SAME_CLAIM for bag in bags):
            chosen.append(claim)
            bags.append(words)
    return chosen


def rate_closeness(claims: Sequence[Claim], words: Sequence[str]) -> list[float]:
    """Score each claim by its similarity to the closest of the words, 0 to 1."""
    if not claims or not words:
        return [0.0] * len(claims)
    rows = bm25(list(words), [claim.statement for claim in claims])
    tops = [max(row) or 1.0 for row in rows]
    return [max(row[n] / top for row, top in zip(rows, tops, strict=True)) for n in range(len(claims))]


MAX_RELEVANT_CLAIMS = 30
_OPEN_WEIGHT, _CONFIDENCE_WEIGHT, _RELEVANCE_WEIGHT = 0.5, 0.3, 0.2
_UNWEIGHED_CONFIDENCE = 0.6  # for a claim in no finding


def confidence_by_claim(findings: Sequence[Finding]) -> dict[str, float]:
    """Return the confidence of each claim's finding, by claim id."""
    return {claim: finding.confidence for finding in findings for claim in finding.claims}


def choose_relevant_claims(
    claims: Sequence[Claim],
    open_questions: Sequence[str],
    sure: Mapping[str, float] | None = None,
    most: int = MAX_RELEVANT_CLAIMS,
) -> list[Claim]:
    """Return the best claims for open questions, without repeats; `sure` is confidence by claim id."""
    close = rate_closeness(claims, [q for q in open_questions if q.strip()])
    known = sure or {}
    worth = {
        claim.id: _OPEN_WEIGHT * near
        + _CONFIDENCE_WEIGHT * known.get(claim.id, _UNWEIGHED_CONFIDENCE) * claim.verdict.score
        + _RELEVANCE_WEIGHT * claim.relevance
        for claim, near in zip(claims, close, strict=True)
    }
    return drop_similar_claims(sorted(claims, key=lambda c: (-worth[c.id], c.id)), most)


RECENT_ROUNDS = 10
_FINDINGS_A_ROUND = 2
_QUERIES_A_ROUND = 5
_MAX_LINE_CHARS = 120


def summarize_rounds(
    judgements: Sequence[Judgement], asked: Sequence[Query], claims: Sequence[Claim]
) -> list[str]:
    """Summarize old rounds in one line, and each of the last rounds in one."""
    known = {claim.id: claim for claim in claims}
    recent = judgements[-RECENT_ROUNDS:]
    lines = [_summarize_round(judgement, asked, known) for judgement in recent]
    earlier = judgements[: -len(recent)] if recent else []
    if earlier:
        queries = sum(query.round <= earlier[-1].round for query in asked)
        lines.insert(0, f"Rounds 1 to {earlier[-1].round}: {queries} queries, {earlier[-1].claims} claims.")
    return lines


def _summarize_round(judgement: Judgement, asked: Sequence[Query], claims: dict[str, Claim]) -> str:
    queries = [shorten_line(q.text, _MAX_LINE_CHARS) for q in asked if q.round == judgement.round][
        :_QUERIES_A_ROUND
    ]
    found = [
        shorten_line(claims[c].statement, _MAX_LINE_CHARS)
        for c in judgement.found[:_FINDINGS_A_ROUND]
        if c in claims
    ]
    words = [
        f"Round {judgement.round}: asked “{'”, “'.join(queries)}”" if queries else f"Round {judgement.round}",
        f"{judgement.new_claims} new claims, score {judgement.overall:.2f}",
        f"found: {' | '.join(found)}" if found else "found nothing new",
    ]
    return "; ".join(words)


_SAME_PATTERN_WORDS = 0.5
_MAX_PATTERN_USES = 3
_BARREN_ROUNDS = 5


def is_overused(query: Query, asked: Sequence[Query]) -> bool:
    """Tell whether three earlier queries had the same sub-question, family and half of the words."""
    words = terms(query.text)
    same = (past for past in asked if (past.question, past.family) == (query.question, query.family))
    alike = [past for past in same if jaccard_similarity(words, terms(past.text)) >= _SAME_PATTERN_WORDS]
    return len(alike) >= _MAX_PATTERN_USES


def count_barren_rounds(judgements: Sequence[Judgement]) -> int:
    """Count the rounds in a row, up to the last, without anything new."""
    count = 0
    for judgement in reversed(judgements):
        if judgement.new_claims > 0:
            break
        count += 1
    return count


def advise_new_approach(judgements: Sequence[Judgement]) -> Reason | None:
    """Advise a new approach after every five rounds without anything new."""
    barren = count_barren_rounds(judgements)
    if not barren or barren % _BARREN_ROUNDS:
        return None
    return Reason(phrase="approach", values={"count": str(barren)})


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
        read = {shas.get(canonical_address(hit.address)) for hit in chosen if hit.query == query.id} - {None}
        new = sum(any(quote.page in read for quote in claim.quotes[:1]) for claim in claims)
        about = query.model_dump(include={"text", "question", "family"})
        found.append(Lesson(query=query.id, round=number, pages=len(read), claims=new, **about))
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


TOOL_NAMES: dict[Thinking, ThinkingToolName] = {
    "scientific": "scientific method",
    "first-principles": "first principles",
    "occam": "Occam's razor",
    "falsification": "falsification",
}


def choose_tool(state: ResearchState, wanted: Thinking = "auto") -> ThinkingTool:
    """Choose the thinking tool that fits the state of the run, with the reason, unless one is wanted."""
    if wanted != "auto":
        return name_tool(TOOL_NAMES[wanted], "asked")
    judgements, hypotheses = state.get("judgements", []), state.get("hypotheses", [])
    if judgements and not state.get("claims"):
        return name_tool("first principles", "nothing")
    if (barren := count_barren_rounds(judgements)) >= 2:
        return name_tool("first principles", "barren", count=barren)
    if (disputed := sum(entry.is_open for entry in state.get("contradictions", []))) >= 2:
        return name_tool("Occam's razor", "contradictions", count=disputed)
    if competing := _count_competing(hypotheses):
        return name_tool("Occam's razor", "competing", count=competing)
    sure = max((h.confidence for h in hypotheses if h.status == "active"), default=0.0)
    if sure >= _SURE_FROM:
        return name_tool("falsification", "leading", confidence=f"{sure:.2f}")
    if judgements and judgements[-1].overall >= _SURE_FROM:
        return name_tool("falsification", "scored", score=f"{judgements[-1].overall:.2f}")
    return name_tool("scientific method", "usual")


def name_tool(name: ThinkingToolName, phrase: str, **values: object) -> ThinkingTool:
    """Return a thinking tool with its reason: in English for models, and as a phrase for any language."""
    reason = Reason(phrase=phrase, values={key: str(value) for key, value in values.items()})
    return ThinkingTool(name=name, because=ENGLISH.tell("tool_reason", reason), reason=reason)


def _count_competing(hypotheses: Sequence[Hypothesis]) -> int:
    """Count active hypotheses about as likely as the best; 0 if too few compete."""
    active = [h for h in hypotheses if h.status == "active" and (h.supporting or h.contradicting)]
    best = max((h.confidence for h in active), default=0.0)
    close = [h for h in active if best - h.confidence <= _CLOSE_CONFIDENCE]
    return len(close) if len(close) >= _MIN_COMPETING else 0
