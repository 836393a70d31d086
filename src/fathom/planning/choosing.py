"""The few queries of a round: the planner's own, in its order, and what code adds to them.

Does not know how a query came about, beyond whose idea it was.
"""

from collections.abc import Mapping, Sequence

from fathom.planning.arms import arms_of
from fathom.planning.candidates import Candidate
from fathom.planning.scoring import View, feasibility, score
from fathom.state import Claim, Query
from fathom.text.ranking import likeness, terms

_WORTH = 0.7
_AT_LEAST = 3


def chosen(offered: Sequence[Candidate], at: View, limit: int, turn: Sequence[str]) -> list[Query]:
    """At most `limit` queries: the planner's first ones as it put them, and one that doubts what is known.

    Ideas of code's own are taken where there is room: for an open sub-question that has no other query, and
    to reach three.
    """
    own = [c for c in offered if c.origin == "mind" and feasibility(c.query, at.served)]
    picked = _with_doubt(own, at, limit) if limit > 1 else own[:limit]
    ideas = [c for c in offered if c.origin == "code" and score(c.query, at) > 0]
    if at.is_doubting and limit > 1 and not any(map(_doubts, picked)):
        picked = [*picked[: limit - 1], *_best([c for c in ideas if _doubts(c)], picked, at)]
    for question in turn:
        if len(picked) < limit and not any(_serves(c, question) for c in picked):
            picked = [*picked, *_best([c for c in ideas if _serves(c, question)], picked, at)]
    while len(picked) < min(limit, _AT_LEAST) and (idea := _best(ideas, picked, at)):
        picked = [*picked, *idea]
    return [candidate.query for candidate in picked]


def _with_doubt(own: Sequence[Candidate], at: View, limit: int) -> list[Candidate]:
    """The first few; when something is known and none of them doubts it, the next that does is the last."""
    first = list(own[:limit])
    if not at.is_doubting or any(map(_doubts, first)):
        return first
    doubt = next((c for c in own[limit:] if _doubts(c)), None)
    return [*first[: limit - 1], doubt] if doubt else first


def _best(ideas: Sequence[Candidate], picked: Sequence[Candidate], at: View) -> list[Candidate]:
    """The idea worth most and least like what is picked (maximal marginal relevance), if there is one."""
    bags = [terms(c.query.text) for c in picked]

    def marginal(candidate: Candidate) -> float:
        nearest = max((likeness(terms(candidate.query.text), bag) for bag in bags), default=0.0)
        return _WORTH * score(candidate.query, at) - (1 - _WORTH) * nearest

    left = [c for c in ideas if c not in picked]
    return [max(left, key=marginal)] if left else []


def in_turn(
    open_ids: Sequence[str], asked: Sequence[Query], claims: Sequence[Claim], wanted: Mapping[str, float]
) -> list[str]:
    """Open sub-questions by upper confidence bound, the most wanted first among equals; what stayed empty
    however often it was asked goes without, while another is open."""
    arms = arms_of(open_ids, asked, claims)
    ranked = sorted(arms, key=lambda arm: (-arm.bound, -wanted.get(arm.id, 0.0)))
    return [arm.id for arm in ranked if not arm.is_pruned]


def _serves(candidate: Candidate, question: str) -> bool:
    return candidate.query.question == question and not _doubts(candidate)


def _doubts(candidate: Candidate) -> bool:
    return candidate.query.family == "counter"
