"""Claims that say the same, told once: how many independent voices say it, and how sure that makes it.

Does not know contradictions.
"""

from collections.abc import Sequence
from functools import lru_cache

from fathom.evidence.facts import is_negated, numbers
from fathom.evidence.sufficiency import voices_of
from fathom.state import Claim, Finding, Page, Tag
from fathom.text.ranking import likeness, terms

_SAME = 0.6
_STRONG = 0.8
_RELEVANT = 0.5
_CONFIDENCE = {1: 0.6, 2: 0.8}
_MOST_SURE = 0.95


def findings_of(claims: Sequence[Claim], pages: Sequence[Page]) -> list[Finding]:
    """One finding for all claims that say the same, most relevant first, in whatever order they came."""
    speaking = voices_of(pages)
    groups: list[list[Claim]] = []
    for claim in sorted(claims, key=lambda c: (-c.relevance, -c.verdict.score, c.id)):
        same = next((group for group in groups if _is_same(claim, group[0])), None)
        if same is None:
            groups.append([claim])
        else:
            same.append(claim)
    return [_finding(group, speaking) for group in groups]


def _finding(group: Sequence[Claim], speaking: dict[str, str]) -> Finding:
    voices = sorted({speaking.get(q.page, q.page) for c in group for q in c.quotes})
    return Finding(
        id=group[0].id,
        statement=group[0].statement,
        question=group[0].question,
        claims=[c.id for c in group],
        voices=voices,
        confidence=_CONFIDENCE.get(len(voices), _MOST_SURE),
        tag=_tag(group, len(voices)),
    )


def _tag(group: Sequence[Claim], voices: int) -> Tag:
    if voices > 1:
        return "VERIFIED" if voices > 2 else "HIGH"
    is_strong = any(c.verdict.score >= _STRONG and c.relevance >= _RELEVANT for c in group)
    return "LIKELY" if is_strong else "UNCERTAIN"


def _is_same(claim: Claim, other: Claim) -> bool:
    """Whether they share most of their words; another number or a "not" makes another claim."""
    *left, words = _said(claim.statement)
    *right, bag = _said(other.statement)
    return left == right and (likeness(words, bag) >= _SAME or words <= bag or bag <= words)


@lru_cache(maxsize=20_000)  # a long run compares the same statements every round
def _said(statement: str) -> tuple[frozenset[str], bool, set[str]]:
    return frozenset(numbers(statement)), is_negated(statement), terms(statement)
