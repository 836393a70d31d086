"""Claims that say the same, told once: how many independent voices say it, and how sure that makes it.

| voices | confidence | tag |
|---|---|---|
| three or more | 0.95 | VERIFIED |
| two | 0.8 | HIGH |
| one | 0.6 | LIKELY when a claim of at least 0.5 relevance was verified with at least 0.8, else UNCERTAIN |

Does not know contradictions; they may change a tag afterwards.
"""

from collections.abc import Sequence

from fathom.evidence.owners import voices
from fathom.state import Claim, Finding, Page, Tag

_STRONG = 0.8
_RELEVANT = 0.3  # below it, a claim hardly speaks to its question
_CONFIDENCE = {1: 0.6, 2: 0.8}
_MOST_SURE = 0.95


def by_strength(claims: Sequence[Claim]) -> list[Claim]:
    """The claims in an order that does not depend on how they came: relevant first, then verified."""
    return sorted(claims, key=lambda c: (-c.relevance, -c.verdict.score, c.id))


def findings_of(groups: Sequence[Sequence[Claim]], pages: Sequence[Page]) -> list[Finding]:
    """One finding for each group of claims that say the same, strongest claim first."""
    known = {page.sha: page for page in pages}
    return [_finding(group, known) for group in groups]


def _finding(group: Sequence[Claim], pages: dict[str, Page]) -> Finding:
    speaking = voices([quote for claim in group for quote in claim.quotes], pages)
    return Finding(
        id=group[0].id,
        statement=group[0].statement,
        question=group[0].question,
        claims=[claim.id for claim in group],
        voices=speaking,
        confidence=_CONFIDENCE.get(len(speaking), _MOST_SURE),
        tag=_tag(group, len(speaking)),
    )


def _tag(group: Sequence[Claim], count: int) -> Tag:
    if count > 1:
        return "VERIFIED" if count > 2 else "HIGH"
    is_strong = any(c.verdict.score >= _STRONG and c.relevance >= _RELEVANT for c in group)
    return "LIKELY" if is_strong else "UNCERTAIN"
