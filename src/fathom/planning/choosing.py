"""The few queries of a round, chosen among many by worth and difference (maximal marginal relevance).

Does not know how a query came about, beyond whose idea it was.
"""

from collections.abc import Iterable, Sequence

from fathom.planning.candidates import Candidate
from fathom.planning.scoring import View, score
from fathom.state import Query
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


def in_turn(open_ids: Sequence[str], asked: Sequence[Query], wanted: dict[str, float]) -> list[str]:
    """Open sub-questions, the least asked first, then the most wanted."""
    counts = {name: sum(q.question == name for q in asked) for name in open_ids}
    return sorted(open_ids, key=lambda name: (counts[name], -wanted.get(name, 0.0)))


def _marginal(n: int, picked: Sequence[int], worth: dict[int, float], offered: Sequence[Candidate]) -> float:
    words = terms(offered[n].query.text)
    nearest = max((likeness(words, terms(offered[p].query.text)) for p in picked), default=0.0)
    return _WORTH * worth[n] - (1 - _WORTH) * nearest


def _serves(candidate: Candidate, question: str) -> bool:
    return candidate.query.question == question and not _doubts(candidate)


def _doubts(candidate: Candidate) -> bool:
    return candidate.query.family == "counter"
