"""Collect gaps, track them over rounds, lower their priority when searching does not help.

Without a model, gaps and rubric are computed from the claims.
"""

from collections.abc import Sequence
from typing import get_args

from fathom.evidence.corroboration import BEARS_FROM
from fathom.evidence.scoring import ANSWERED_FROM
from fathom.state import Check, Claim, Gap, Heading, Judgement, Outline, Priority, Rubric, SubQuestion
from fathom.state.model_io import Assessment, JudgeInput
from fathom.text.languages import wants_korean
from fathom.text.ranking import terms

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
        priority = _lower_priority(gap.priority, tried // _PATIENCE)
        lowered_from = gap.priority if priority != gap.priority else None
        found.append(
            gap.model_copy(update={"tried": tried, "priority": priority, "lowered_from": lowered_from})
        )
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


def _lower_priority(priority: Priority, steps: int) -> Priority:
    return _ORDER[min(len(_ORDER) - 1, _ORDER.index(priority) + steps)]


def assess_no_claims(
    questions: Sequence[SubQuestion], language: str | None = None, *, is_rejected: bool = False
) -> Assessment:
    """Return the assessment without claims: nothing was found, or all of it was refused."""
    rubric = Rubric(evidence="no claim", accuracy=1, relevance=1, completeness=1, consistency=1)
    gaps = [
        _make_gap(q, [], "high", language).model_copy(update={"is_rejected": is_rejected}) for q in questions
    ]
    return Assessment(rubric, gaps)


def compute_assessment(case: JudgeInput) -> Assessment:
    """Compute relevance, completeness and consistency; a sub-question with little evidence is a gap."""
    questions, claims = case.questions, case.claims
    if not claims:
        return assess_no_claims(questions, case.language)
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
        return _make_gap(question, own, "high", language)
    if not any(_answers(c, question) for c in own):
        return _make_gap(question, own, "medium", language)
    if len({c.quotes[0].page for c in own}) < 2:
        return _make_gap(question, own, "low", language)
    return None


def _make_gap(question: SubQuestion, own: Sequence[Claim], priority: str, language: str | None) -> Gap:
    korean = wants_korean(question.text, language)
    if not own:
        words = "“{}”에 대한 근거를 찾지 못했습니다." if korean else "No evidence was found for “{}”."
    elif priority == "medium":
        words = (
            "“{}”에 대해서는 약한 근거만 있습니다." if korean else "Only weak evidence was found for “{}”."
        )
    else:
        words = "“{}”에 대한 출처가 하나뿐입니다." if korean else "Only one source was found for “{}”."
    return Gap.model_validate(
        {
            "description": words.format(question.text),
            "priority": priority,
            "suggested_query": question.text,
            "question": question.id,
        }
    )
