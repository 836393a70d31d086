"""Scores that need no model (gain, coverage, diversity, quality, freshness), and the gaps that are left.

Gaps are collected from judge and checks, and tracked over rounds: those that searching does not close lose
priority, so that runs end. Without a model, gaps and rubric are computed from the claims.
"""

from collections import Counter
from collections.abc import Sequence
from datetime import date
from typing import get_args

from fathom.evidence.checks import load_table
from fathom.evidence.checks.dates import parse_day
from fathom.evidence.corroboration import BEARS_FROM
from fathom.evidence.sources import find_owner, find_work, is_same_document
from fathom.state import (
    Check,
    Claim,
    Finding,
    Gain,
    Gap,
    Heading,
    Judgement,
    Outline,
    Page,
    Priority,
    Query,
    Rubric,
    SubQuestion,
)
from fathom.state.model_io import Assessment, JudgeInput
from fathom.text.languages import wants_korean
from fathom.text.normalization import fold_text
from fathom.text.ranking import terms

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


_MOST_GAPS = 10
_PATIENCE = 2  # rounds that may search for a gap before its priority is lowered
_REMEMBERED = 5  # rounds in which an earlier mention is looked for
_ALIKE = 0.5  # of the shorter one's content words, for two gaps to be the same
_ALIKE_BESIDE = 0.3  # the same for gaps of one sub-question
_ALIKE_QUERY = 0.8  # the same for their queries
# Words that any gap may contain.
_USUAL = terms(
    "missing lacks lack found find evidence data figures figure information details sources claims"
    " 근거 자료 수치 정보 내용 부족 없다 없음 찾지 못했다"
)
_FEW_CLAIMS = 2
_ORDER: tuple[Priority, ...] = get_args(Priority)


def collect_gaps(named: Sequence[Gap], checks: Sequence[Check]) -> list[Gap]:
    """Return the judge's gaps and those of the checks, each query once, most important first."""
    distinct: dict[str, Gap] = {}
    for gap in [*(check.gap for check in checks if check.gap), *named]:
        distinct.setdefault(" ".join(gap.suggested_query.casefold().split()), gap)
    return sorted(distinct.values(), key=lambda gap: _ORDER.index(gap.priority))[:_MOST_GAPS]


def add_thin_parts(gaps: Sequence[Gap], outline: Outline | None, question: str = "") -> list[Gap]:
    """Add what parts of the report lack for which hardly anything was found, if no gap says so yet.

    What a part that can be written lacks is often a remark on its sources; a search would not close it.
    """
    found = list(gaps)
    for part in outline.headings if outline else []:
        gap = _find_gap_of_part(part, outline.title if outline else "")
        if gap and gap.priority != "low" and not any(_is_told(gap, other, question) for other in found):
            found.append(gap)
    return found


def _is_told(gap: Gap, other: Gap, question: str) -> bool:
    return (bool(gap.question) and gap.question == other.question) or _is_same_gap(gap, other, question)


def _find_gap_of_part(part: Heading, title: str) -> Gap | None:
    """Return what a part lacks; none for the conclusion, which lacks what the others do.

    The query is made of titles: a remark in whole sentences finds nothing.
    """
    if not part.lacks or part.is_conclusion or len(part.claims) >= _FEW_CLAIMS:
        return None
    query = " ".join(f"{title} {part.title}".split())
    return Gap(description=part.lacks, priority=part.priority, suggested_query=query, question=part.question)


def track_gaps(gaps: Sequence[Gap], before: Sequence[Judgement], question: str = "") -> list[Gap]:
    """Add how many rounds failed to close each gap; every two lower its priority, so that runs end.

    Words of the question do not distinguish gaps.
    """
    found = []
    taken: set[tuple[int, int]] = set()
    for gap in gaps:
        tried = 0
        if place := _find_earlier_gap(gap, before, taken, question):
            taken.add(place)
            tried = before[place[0]].gaps[place[1]].tried + 1
        priority = _ORDER[min(len(_ORDER) - 1, _ORDER.index(gap.priority) + tried // _PATIENCE)]
        lowered = {} if priority == gap.priority else {"priority": priority, "lowered_from": gap.priority}
        found.append(gap.model_copy(update={"lowered_from": None, **lowered, "tried": tried}))
    return found


def _find_earlier_gap(
    gap: Gap, before: Sequence[Judgement], taken: set[tuple[int, int]], question: str
) -> tuple[int, int] | None:
    """Return the round and place where the gap was last named, if any."""
    for number in range(len(before) - 1, max(-1, len(before) - 1 - _REMEMBERED), -1):
        likenesses = {
            (number, place): _shared_terms_ratio(gap.description, other.description, question)
            for place, other in enumerate(before[number].gaps)
            if (number, place) not in taken and _is_same_gap(gap, other, question)
        }
        if likenesses:
            return max(likenesses, key=lambda place: likenesses[place])
    return None


def _is_same_gap(gap: Gap, other: Gap, question: str) -> bool:
    is_beside = bool(gap.question) and gap.question == other.question
    least = _ALIKE_BESIDE if is_beside else _ALIKE
    if _shared_terms_ratio(gap.description, other.description, question) >= least:
        return True
    return _shared_terms_ratio(gap.suggested_query, other.suggested_query, question) >= _ALIKE_QUERY


def drop_repeats(lines: Sequence[str], question: str = "") -> list[str]:
    """Return the lines without those that say what one before them says."""
    kept: list[str] = []
    for line in lines:
        if not any(_shared_terms_ratio(line, other, question) >= _ALIKE for other in kept):
            kept.append(line)
    return kept


def _shared_terms_ratio(left: str, right: str, question: str) -> float:
    """Return the share of the shorter one's distinctive words that both have."""
    known = terms(question) | _USUAL
    one, two = (terms(text) - known or terms(text) for text in (left, right))
    return len(one & two) / min(len(one), len(two)) if one and two else 0.0


def assess_no_claims(
    questions: Sequence[SubQuestion],
    language: str | None = None,
    *,
    is_rejected: bool = False,
    is_by_words: bool = False,
) -> Assessment:
    """Return the assessment without claims: nothing was found, or all of it was refused."""
    rubric = Rubric(evidence="no claim", accuracy=1, relevance=1, completeness=1, consistency=1)
    gaps = [_make_gap(q, "high", language).model_copy(update={"is_rejected": is_rejected}) for q in questions]
    return Assessment(rubric, gaps, is_by_words=is_by_words)


def compute_assessment(case: JudgeInput) -> Assessment:
    """Compute relevance, completeness and consistency; a sub-question with little evidence is a gap."""
    questions, claims = case.questions, case.claims
    if not claims:
        return assess_no_claims(questions, case.language, is_by_words=True)
    best = sorted(claims, key=lambda c: -c.relevance)[:3]
    answered = [q for q in questions if any(_answers(c, q) for c in claims)]
    rubric = Rubric(
        evidence="; ".join(f"“{c.quotes[0].text[:160]}”" for c in best),
        accuracy=5,
        relevance=_to_mark(sum(c.relevance for c in best) / len(best)),
        completeness=_to_mark(len(answered) / max(1, len(questions))),
        consistency=_consistency(case),
    )
    gaps = [gap for q in questions if (gap := _find_gap(q, claims, case.language))]
    return Assessment(rubric, gaps, is_by_words=True)


def _answers(claim: Claim, question: SubQuestion) -> bool:
    return claim.question == question.id and claim.relevance >= ANSWERED_FROM


def _consistency(case: JudgeInput) -> int:
    """Return 3; more if half of the findings have two sources, less for each relevant open dispute."""
    corroborated = sum(len(finding.independent_sources) > 1 for finding in case.findings)
    is_borne_out = bool(case.findings) and 2 * corroborated >= len(case.findings)
    bearing = {claim.id for claim in case.claims if claim.relevance >= BEARS_FROM}
    disputes = sum(
        entry.is_open and any(not bearing.isdisjoint(side.claims) for side in entry.sides)
        for entry in case.contradictions
    )
    return max(1, 3 + is_borne_out - disputes)


def _to_mark(share: float) -> int:
    return 1 + round(4 * max(0.0, min(1.0, share)))


def _find_gap(question: SubQuestion, claims: Sequence[Claim], language: str | None) -> Gap | None:
    own = [c for c in claims if c.question == question.id]
    if not own:
        return _make_gap(question, "high", language)
    if not any(_answers(c, question) for c in own):
        return _make_gap(question, "medium", language)
    if len({c.quotes[0].page for c in own}) < 2:
        return _make_gap(question, "low", language)
    return None


def _make_gap(question: SubQuestion, priority: Priority, language: str | None) -> Gap:
    words = load_table("questions")["sub_question"]
    said = words[f"{priority}_{'ko' if wants_korean(question.text, language) else 'en'}"]
    return Gap(
        description=said.format(question.text),
        priority=priority,
        suggested_query=question.text,
        question=question.id,
    )
