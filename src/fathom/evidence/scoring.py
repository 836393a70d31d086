"""Scores that need no model: gain, coverage, diversity, quality, freshness, and their weighted sum."""

from collections import Counter
from collections.abc import Sequence
from datetime import date

from fathom.evidence.checks.dates import parse_day
from fathom.evidence.sources import find_owner, find_work, is_same_document
from fathom.state import Claim, Finding, Gain, Judgement, Page, Query, Rubric, SubQuestion
from fathom.text.normalization import fold_text

_LATEST_ROUND_WEIGHT = 0.5  # of the last round; each earlier one has half the weight of the next


def measure_gain(known: int, queries: int, usd: float, before: Gain | None = None) -> Gain:
    """Return the gain of a round from its queries, cost and known findings."""
    new = max(0, known - (before.known if before else 0))
    per_query = new / queries if queries else 0.0
    per_usd = new / usd if usd > 0 else None
    return Gain(
        known=known,
        new=new,
        queries=queries,
        usd=max(0.0, usd),
        per_query=per_query,
        per_usd=per_usd,
        # A round without queries, as the first of a follow-up, says nothing about queries.
        smoothed_per_query=_smooth(
            per_query, before.smoothed_per_query if before and before.queries else None
        )
        or 0.0,
        smoothed_per_usd=_smooth(per_usd, before.smoothed_per_usd if before else None),
    )


def _smooth(now: float | None, before: float | None) -> float | None:
    if now is None or before is None:
        return before if now is None else now
    return _LATEST_ROUND_WEIGHT * now + (1 - _LATEST_ROUND_WEIGHT) * before


_MOST_FOUND = 5


def compute_round_gain(
    findings: Sequence[Finding], asked: Sequence[Query], spent_usd: float, before: Sequence[Judgement]
) -> Gain:
    """Return the gain of the round after these judgements."""
    last = before[-1] if before else None
    queries = sum(query.round == len(before) + 1 for query in asked)
    usd = spent_usd - (last.spent_usd if last else 0.0)
    return measure_gain(len(findings), queries, usd, last.gain if last else None)


def find_best_new_claims(claims: Sequence[Claim], before: Sequence[Judgement]) -> list[str]:
    """Return the ids of the best claims that are new in this round."""
    new = claims[before[-1].claims :] if before else claims
    return [claim.id for claim in sorted(new, key=lambda c: -c.relevance)[:_MOST_FOUND]]


WEIGHTS = {"coverage": 0.35, "diversity": 0.20, "quality": 0.30, "freshness": 0.15}
ANSWERED_FROM = 0.5  # relevance of a claim that answers its sub-question
_UNDATED = 0.5
_COMPARED = 12  # hashes of a sketch: copies share almost all of them
_HALF_LIFE_DAYS = 2 * 365.0


def score_coverage(questions: Sequence[SubQuestion], claims: Sequence[Claim]) -> float:
    """Return the share of sub-questions with evidence; weak evidence counts half."""
    if not questions:
        return 0.0
    best: dict[str, float] = {}
    for claim in claims:
        best[claim.question] = max(best.get(claim.question, 0.0), claim.relevance)
    credit = (0.0 if q.id not in best else 1.0 if best[q.id] >= ANSWERED_FROM else 0.5 for q in questions)
    return sum(credit) / len(questions)


def score_diversity(claims: Sequence[Claim], pages: Sequence[Page]) -> float:
    """Return the chance that two claims have different sources (Simpson's index): 0 to 1."""
    speaking = map_pages_to_sources(pages)
    counts = Counter(speaking.get(quote.page, quote.page) for claim in claims for quote in claim.quotes[:1])
    total = sum(counts.values())
    return 1.0 - sum((n / total) ** 2 for n in counts.values()) if total else 0.0


def map_pages_to_sources(pages: Sequence[Page]) -> dict[str, str]:
    """Return the source of each page by hash: its owner; a copy has the source of its original."""
    first = {page.sha: page for page in reversed(pages)}
    return {sha: find_owner(first[text]) for sha, text in map_copies_to_originals(pages).items()}


def map_copies_to_originals(pages: Sequence[Page]) -> dict[str, str]:
    """Map each page to the first page with the same document, ignoring menus, dates and format."""
    texts: dict[str, str] = {}
    seen: dict[str, list[Page]] = {}
    for page in pages:
        keys = [page.sketch[at : at + 8] for at in range(0, min(len(page.sketch), 8 * _COMPARED), 8)]
        keys += filter(None, [find_work(page), fold_text(page.title).text])
        near = {id(known): known for key in keys for known in seen.get(key, [])}
        alike = (known for known in near.values() if is_same_document(known, page))
        texts[page.sha] = texts.get(page.sha) or texts.get(next(alike, page).sha, page.sha)
        for key in keys:
            seen.setdefault(key, []).append(page)
    return texts


def score_quality(rubric: Rubric) -> float:
    """Return the rubric's mean as a share of the best mark, 5."""
    marks = (rubric.accuracy, rubric.relevance, rubric.completeness, rubric.consistency)
    return sum(marks) / len(marks) / 5


def score_freshness(claims: Sequence[Claim], pages: Sequence[Page], today: date) -> float:
    """Score how recent the cited pages are: 1 today, half after two years; 0.5 if undated."""
    cited = {quote.page for claim in claims for quote in claim.quotes}
    values = [_score_recency(page.published, today) for page in pages if page.sha in cited]
    return sum(values) / len(values) if values else 0.0


def _score_recency(published: str | None, today: date) -> float:
    day = parse_day(published)
    return float(0.5 ** (max(0, (today - day).days) / _HALF_LIFE_DAYS)) if day else _UNDATED


def score_overall(coverage: float, diversity: float, quality: float, freshness: float) -> float:
    """Return the weighted sum."""
    parts = {"coverage": coverage, "diversity": diversity, "quality": quality, "freshness": freshness}
    return sum(WEIGHTS[name] * value for name, value in parts.items())


def count_sources(claims: Sequence[Claim], pages: Sequence[Page]) -> int:
    """Count the texts behind the claims; copies count once."""
    texts = map_copies_to_originals(pages)
    return len({texts.get(quote.page, quote.page) for claim in claims for quote in claim.quotes})
