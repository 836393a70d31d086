"""Memory of a run for prompts: a summary of the last ten rounds, and the most relevant claims."""

from collections.abc import Iterable, Mapping, Sequence

from fathom.state import Claim, Finding, Judgement, Query
from fathom.text.ranking import bm25, jaccard_similarity, terms
from fathom.text.token_count import shorten_line

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
        # With fewer shared words it is similar to none of them.
        shared = max(map(len, map(words.__and__, bags)), default=0)
        if shared < _SAME_CLAIM * len(words) or all(
            jaccard_similarity(words, bag) < _SAME_CLAIM for bag in bags
        ):
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
