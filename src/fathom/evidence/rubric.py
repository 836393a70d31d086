"""Judge without a model: compute rubric and gaps from the claims.

Quotations are accurate by construction; consistency comes from the comparison of claims.
"""

from collections.abc import Sequence

from fathom.evidence.corroboration import BEARS_FROM
from fathom.evidence.scoring import ANSWERED_FROM
from fathom.state import Claim, Gap, Rubric, SubQuestion
from fathom.state.model_io import Assessment, JudgeInput
from fathom.text.languages import wants_korean


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
