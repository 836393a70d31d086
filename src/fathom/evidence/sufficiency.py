"""How much is known, as numbers: the parts of the score that need no model, and their sum.

Does not know when to stop.
"""

from collections import Counter
from collections.abc import Sequence
from datetime import date

from fathom.evidence.dates import day_of
from fathom.evidence.owners import is_one_document, owner, work_of
from fathom.state import Claim, Page, Rubric, SubQuestion
from fathom.text.normal import folded

WEIGHTS = {"coverage": 0.35, "diversity": 0.20, "quality": 0.30, "freshness": 0.15}
ANSWERED_FROM = 0.5  # relevance of a claim that answers its sub-question
_UNDATED = 0.5
_COMPARED = 12  # of the hashes of a sketch: copies share almost all of them
_HALF_LIFE_DAYS = 2 * 365.0


def coverage(questions: Sequence[SubQuestion], claims: Sequence[Claim]) -> float:
    """The share of sub-questions with evidence; weak evidence counts half."""
    if not questions:
        return 0.0
    best: dict[str, float] = {}
    for claim in claims:
        best[claim.question] = max(best.get(claim.question, 0.0), claim.relevance)
    credit = (0.0 if q.id not in best else 1.0 if best[q.id] >= ANSWERED_FROM else 0.5 for q in questions)
    return sum(credit) / len(questions)


def diversity(claims: Sequence[Claim], pages: Sequence[Page]) -> float:
    """How likely two claims come from two voices (Simpson's index): 0 with one voice, towards 1 with many."""
    speaking = voices_of(pages)
    counts = Counter(speaking.get(quote.page, quote.page) for claim in claims for quote in claim.quotes[:1])
    total = sum(counts.values())
    return 1.0 - sum((n / total) ** 2 for n in counts.values()) if total else 0.0


def voices_of(pages: Sequence[Page]) -> dict[str, str]:
    """Who speaks on each page, by its hash: its owner; a copy speaks with the voice of the page it copies."""
    first = {page.sha: page for page in reversed(pages)}
    return {sha: owner(first[text]) for sha, text in texts_of(pages).items()}


def texts_of(pages: Sequence[Page]) -> dict[str, str]:
    """For each page the first page that is the same document, give or take a menu, a date or its format."""
    texts: dict[str, str] = {}
    seen: dict[str, list[Page]] = {}
    for page in pages:
        keys = [page.sketch[at : at + 8] for at in range(0, min(len(page.sketch), 8 * _COMPARED), 8)]
        keys += filter(None, [work_of(page), folded(page.title).text])
        near = {id(known): known for key in keys for known in seen.get(key, [])}
        alike = (known for known in near.values() if is_one_document(known, page))
        texts[page.sha] = texts.get(page.sha) or texts.get(next(alike, page).sha, page.sha)
        for key in keys:
            seen.setdefault(key, []).append(page)
    return texts


def quality(rubric: Rubric) -> float:
    """The rubric's mean, from 1–5 to 0–1."""
    marks = (rubric.accuracy, rubric.relevance, rubric.completeness, rubric.consistency)
    return (sum(marks) / len(marks) - 1) / 4


def freshness(claims: Sequence[Claim], pages: Sequence[Page], today: date) -> float:
    """How recent the cited pages are: 1 today, half after two years; an undated page counts 0.5."""
    cited = {quote.page for claim in claims for quote in claim.quotes}
    values = [_recency(page.published, today) for page in pages if page.sha in cited]
    return sum(values) / len(values) if values else 0.0


def _recency(published: str | None, today: date) -> float:
    day = day_of(published)
    return float(0.5 ** (max(0, (today - day).days) / _HALF_LIFE_DAYS)) if day else _UNDATED


def overall(coverage: float, diversity: float, quality: float, freshness: float) -> float:
    """The weighted sum."""
    parts = {"coverage": coverage, "diversity": diversity, "quality": quality, "freshness": freshness}
    return sum(WEIGHTS[name] * value for name, value in parts.items())


def sources(claims: Sequence[Claim], pages: Sequence[Page]) -> int:
    """How many texts carry the claims; copies of one text are one."""
    texts = texts_of(pages)
    return len({texts.get(quote.page, quote.page) for claim in claims for quote in claim.quotes})
