"""Choose what to search next as a multi-armed bandit over sub-questions, hypotheses and directions.

A query that serves an arm pulls it; the reward is new verified claims per query. Arms are ranked by upper
confidence bound, and arms that stay empty are pruned.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fathom.planning.queries import normalize_query
from fathom.state import Claim, Gap, Judgement, Query

EXPLORATION = 0.7
EMPTY_AFTER = 4  # pulls without a single claim
_MAX_UNASKED_GAPS = 20
_MAX_OLDER_GAPS = 3
PRIORITY_WEIGHTS = {"high": 1.0, "medium": 0.6, "low": 0.3}


@dataclass(frozen=True)
class Arm:
    """Something to ask about, how often it was asked, and with what reward."""

    id: str
    pulls: int
    reward: float  # claims per pull, saturating: 0 for none, towards 1 for many
    bound: float
    is_pruned: bool


def rank_arms(ids: Iterable[str], asked: Sequence[Query], claims: Sequence[Claim]) -> list[Arm]:
    """Rank the arms, best first, pruned ones last."""
    names = list(dict.fromkeys(ids))
    pulls = {name: sum(q.question == name for q in asked) for name in names}
    total = sum(pulls.values())
    found = {name: sum(c.question == name for c in claims) for name in names}
    arms = [_make_arm(name, pulls[name], found[name], total) for name in names]
    # If all are empty, none is pruned: the run must ask something.
    if all(arm.is_pruned for arm in arms):
        arms = [Arm(a.id, a.pulls, a.reward, a.bound, is_pruned=False) for a in arms]
    return sorted(arms, key=lambda arm: (arm.is_pruned, -arm.bound, arm.id))


def _make_arm(name: str, pulls: int, claims: int, total: int) -> Arm:
    rate = claims / pulls if pulls else 0.0
    reward = rate / (1 + rate)
    bound = reward + EXPLORATION * math.sqrt(math.log(total + 1) / pulls) if pulls else math.inf
    return Arm(name, pulls, reward, bound, is_pruned=pulls >= EMPTY_AFTER and not claims)


def arm_worth(ids: Iterable[str], asked: Sequence[Query], claims: Sequence[Claim]) -> dict[str, float]:
    """Score each arm from 0 (pruned) to 1 (best, or never tried)."""
    arms = rank_arms(ids, asked, claims)
    most = max((a.bound for a in arms if not a.is_pruned and math.isfinite(a.bound)), default=1.0) or 1.0
    return {a.id: 0.0 if a.is_pruned else 1.0 if math.isinf(a.bound) else a.bound / most for a in arms}


def unasked_gaps(
    judgements: Sequence[Judgement], asked: Sequence[Query], claims: Sequence[Claim]
) -> list[Gap]:
    """Return gaps of any round that were never asked about, the best direction first."""
    known = {normalize_query(query.text) for query in asked}
    open_gaps: dict[str, Gap] = {}
    for judgement in reversed(judgements):
        for gap in judgement.gaps:
            words = normalize_query(gap.suggested_query)
            if words and words not in known:
                open_gaps.setdefault(words, gap)
    latest = list(open_gaps.values())[:_MAX_UNASKED_GAPS]
    weights = arm_worth([gap.question for gap in latest], asked, claims)
    return sorted(latest, key=lambda gap: -PRIORITY_WEIGHTS[gap.priority] * weights[gap.question])


def gaps_to_close(
    judgements: Sequence[Judgement], asked: Sequence[Query], claims: Sequence[Claim]
) -> list[Gap]:
    """Return the last round's gaps; if all of them were asked, the best of earlier rounds too."""
    if not judgements:
        return []
    last = judgements[-1].gaps
    if unasked_gaps(judgements[-1:], asked, claims):
        return last
    return [*last, *unasked_gaps(judgements[:-1], asked, claims)[:_MAX_OLDER_GAPS]]
