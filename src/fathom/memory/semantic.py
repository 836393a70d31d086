"""The second tier: the claims worth having in mind now, by what is open and how sure they are, never by age.

Does not know prompts or models.
"""

from collections.abc import Mapping, Sequence

from fathom.memory.archival import closeness, each_once
from fathom.state import Claim, Finding

MOST = 30
_OPEN, _SURE, _RELEVANT = 0.5, 0.3, 0.2
_LONE = 0.6  # how sure a claim is that nobody has weighed


def sure_of(findings: Sequence[Finding]) -> dict[str, float]:
    """How sure weighing made each claim, by its id."""
    return {claim: finding.confidence for finding in findings for claim in finding.claims}


def in_mind(
    claims: Sequence[Claim],
    open_questions: Sequence[str],
    sure: Mapping[str, float] | None = None,
    most: int = MOST,
) -> list[Claim]:
    """The best claims for what is open, each thing once; `sure` is the confidence of a claim by its id."""
    close = closeness(claims, [q for q in open_questions if q.strip()])
    known = sure or {}
    worth = {
        claim.id: _OPEN * near
        + _SURE * known.get(claim.id, _LONE) * claim.verdict.score
        + _RELEVANT * claim.relevance
        for claim, near in zip(claims, close, strict=True)
    }
    return each_once(sorted(claims, key=lambda c: (-worth[c.id], c.id)), most)
