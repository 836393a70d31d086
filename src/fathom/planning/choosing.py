"""The few queries of a round, chosen among many by worth and difference (maximal marginal relevance).

Does not know how a query came about, beyond whose idea it was.
"""

from collections.abc import Iterable, Mapping, Sequence

from fathom.planning.arms import arms_of
from fathom.planning.candidates import Candidate
from fathom.planning.scoring import View, score
from fathom.state import Claim, Query
from fathom.text.ranking import likeness, terms

_WORTH = 0.7
_AT_LEAST = 3


def chosen(offered: Sequence[Candidate], at: View, limit: int, turn: Sequence[str]) -> list[Query]:
    """At most `limit` queries: one for each open sub-question in turn, one that doubts, then the best.

    Ideas of code's own are taken only to reach three, or where a sub-question has no other.
    """
    worth = {n: score(candidate, at) for n, candidate in enumerate(offered)}
    left = [n for n in worth if worth[n] > 0]
    picked: list[int] = []

    def take(among: Iterable[int]) -> None:
        best = max(among, key=lambda n: _marginal(n, picked, worth, offered), default=None)
        if best is not None:
            picked.append(best)
            left.remove(best)

    room = limit - 1 if at.is_doubting and limit > 1 else limit
    for question in turn:
        if len(picked) < room:
            take([n for n in left if _serves(offered[n], question)])
    if at.is_doubting and limit > 1 and not any(_doubts(offered[n]) for n in picked):
        take([n for n in left if _doubts(offered[n])])
    while len(picked) < limit and left:
        allowed = [n for n in left if offered[n].origin == "mind" or len(picked) < _AT_LEAST]
        if not allowed:
            break
        take(allowed)
    return [offered[n].query for n in picked]


def in_turn(
    open_ids: Sequence[str], asked: Sequence[Query], claims: Sequence[Claim], wanted: Mapping[str, float]
) -> list[str]:
    """Open sub-questions by upper confidence bound, the most wanted first among equals; what stayed empty
    however often it was asked goes without, while another is open."""
    arms = arms_of(open_ids, asked, claims)
    ranked = sorted(arms, key=lambda arm: (-arm.bound, -wanted.get(arm.id, 0.0)))
    return [arm.id for arm in ranked if not arm.is_pruned]


def _marginal(n: int, picked: Sequence[int], worth: dict[int, float], offered: Sequence[Candidate]) -> float:
    words = terms(offered[n].query.text)
    nearest = max((likeness(words, terms(offered[p].query.text)) for p in picked), default=0.0)
    return _WORTH * worth[n] - (1 - _WORTH) * nearest


def _serves(candidate: Candidate, question: str) -> bool:
    return candidate.query.question == question and not _doubts(candidate)


def _doubts(candidate: Candidate) -> bool:
    return candidate.query.family == "counter"
