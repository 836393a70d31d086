"""Claims that say the same, told once: how many independent voices say it, and how sure that makes it.

| voices | confidence | tag |
|---|---|---|
| three or more | 0.95 | VERIFIED |
| two | 0.8 | HIGH |
| one | 0.6 | LIKELY when a claim of at least 0.5 relevance was verified with at least 0.8, else UNCERTAIN |

Does not know contradictions; they may change a tag afterwards.
"""

from collections.abc import Sequence, Set

from fathom.evidence.owners import voices
from fathom.evidence.primary import is_primary, primary_pages
from fathom.state import Claim, Finding, Page, Tag

_STRONG = 0.8
_RELEVANT = 0.3  # below it, a claim hardly speaks to its question
_CONFIDENCE = {1: 0.6, 2: 0.8}
_MOST_SURE = 0.95
_ABOUT = 0.15


def by_strength(claims: Sequence[Claim]) -> list[Claim]:
    """The claims in an order that does not depend on how they came: relevant first, then verified."""
    return sorted(claims, key=lambda c: (-c.relevance, -c.verdict.score, c.id))


def findings_of(groups: Sequence[Sequence[Claim]], pages: Sequence[Page]) -> list[Finding]:
    """One finding for each group of claims that say the same; groups come with the strongest claim first."""
    known, primary = {page.sha: page for page in pages}, primary_pages(pages)
    return [_finding(group, known, primary) for group in groups]


def _finding(given: Sequence[Claim], pages: dict[str, Page], primary: Set[str]) -> Finding:
    speaking = voices([quote for claim in given for quote in claim.quotes], pages)
    sources = {
        claim.id: [quote.page for quote in claim.quotes if is_primary(quote, pages, primary)]
        for claim in given
    }
    best = given[0]
    # Of claims that are about equally strong, a primary source's comes first: it is the one to cite.
    group = sorted(given, key=lambda claim: not (sources[claim.id] and _is_as_strong(claim, best)))
    return Finding(
        id=group[0].id,
        statement=group[0].statement,
        question=group[0].question,
        claims=[claim.id for claim in group],
        voices=speaking,
        confidence=_CONFIDENCE.get(len(speaking), _MOST_SURE),
        tag=_tag(group, len(speaking)),
        primary=list(dict.fromkeys(sha for claim in group for sha in sources[claim.id])),
    )


def _is_as_strong(claim: Claim, other: Claim) -> bool:
    return claim.relevance >= other.relevance - _ABOUT and claim.verdict.score >= other.verdict.score - _ABOUT


def _tag(group: Sequence[Claim], count: int) -> Tag:
    if count > 1:
        return "VERIFIED" if count > 2 else "HIGH"
    is_strong = any(c.verdict.score >= _STRONG and c.relevance >= _RELEVANT for c in group)
    return "LIKELY" if is_strong else "UNCERTAIN"
