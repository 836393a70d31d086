"""Which directions to explore next: a search tree with values, upper confidence bounds and pruning.

Does not know branches or minds. Pure: the same tree always grows the same way.
"""

import math
from collections import Counter
from collections.abc import Sequence

from fathom.llm.questions import bridges
from fathom.planning.arms import EXPLORATION
from fathom.planning.repeats import plain
from fathom.planning.seeds import topic_of
from fathom.state import Claim, Direction, Gap, Query
from fathom.text.ranking import terms

_NOVELTY = 0.5
_EMPTY_TWICE = 2
_MOST_LEADS = 4


def leads(question: str, gaps: Sequence[Gap], claims: Sequence[Claim], asked: Sequence[Query]) -> list[str]:
    """What a branch would ask next: its open gaps first, then names that its sources brought up."""
    known = " ".join([question, *(query.text for query in asked)])
    names = bridges([claim.statement for claim in claims], known, _MOST_LEADS)
    wanted = [" ".join(gap.suggested_query.split()) for gap in gaps if gap.priority != "low"]
    topic = topic_of(question.partition(": ")[0])  # without the angle
    offered = [*wanted, *(f"{topic} {name}" for name in names)]
    past = {plain(question), *(plain(query.text) for query in asked)}
    fresh = {plain(text): text for text in offered if text and plain(text) not in past}
    return list(fresh.values())[:_MOST_LEADS]


def grown(directions: Sequence[Direction], level: int, most: int) -> tuple[list[Direction], list[Direction]]:
    """The whole tree with its new directions, and those of them to explore at this level, best first."""
    tree = [*directions, *_children(directions, level)]
    tree = [_with_visits(_pruned(direction, tree), tree) for direction in tree]
    open_ones = [direction for direction in tree if direction.status == "open"]
    chosen: list[Direction] = []
    extra: Counter[str] = Counter()  # picks of this level count as visits, so that parents take turns
    while open_ones and len(chosen) < most:
        best = max(open_ones, key=lambda one: (promise(one, tree, extra[one.parent]), -open_ones.index(one)))
        open_ones.remove(best)
        extra[best.parent] += 1
        chosen.append(best.model_copy(update={"score": promise(best, tree, extra[best.parent] - 1)}))
    scores = {one.id: one.model_copy(update={"level": level}) for one in chosen}
    return [scores.get(direction.id, direction) for direction in tree], list(scores.values())


def promise(direction: Direction, tree: Sequence[Direction], picks: int = 0) -> float:
    """What a direction may bring: what its parent brought, how rarely one went there, how new it is."""
    parent = next((one for one in tree if one.id == direction.parent), None)
    total = sum(one.status in {"explored", "empty"} for one in tree)
    rate = worth(parent, tree) if parent else 0.0
    visits = 1 + picks + (parent.visits if parent else 0)
    bound = rate / (1 + rate) + EXPLORATION * math.sqrt(math.log(total + 2) / visits)
    return bound + _NOVELTY * _novelty(direction, tree)


def worth(direction: Direction, tree: Sequence[Direction]) -> float:
    """New claims a search, over the direction and all that came out of it."""
    below = [one for one in tree if one.id == direction.id or one.id.startswith(f"{direction.id}.")]
    return sum(one.claims for one in below) / max(1, sum(one.asked for one in below))


def _children(directions: Sequence[Direction], level: int) -> list[Direction]:
    known = {plain(direction.text) for direction in directions}
    children: list[Direction] = []
    for parent in directions:
        born = sum(one.parent == parent.id for one in directions)
        for lead in parent.leads if parent.status == "explored" else []:
            if plain(lead) in known:
                continue
            known.add(plain(lead))
            born += 1
            children.append(
                Direction(
                    id=f"{parent.id}.{born}",
                    text=lead,
                    angle=f"left open by {parent.id}",
                    parent=parent.id,
                    level=level,
                    rounds=parent.rounds,
                    queries=parent.queries,
                    sources=parent.sources,
                )
            )
    return children


def _pruned(direction: Direction, tree: Sequence[Direction]) -> Direction:
    """A direction nobody went, beside two that came back empty, is not worth a third try."""
    beside = [one for one in tree if one.parent == direction.parent and one.status in {"explored", "empty"}]
    is_barren = len(beside) >= _EMPTY_TWICE and all(one.status == "empty" for one in beside)
    if direction.status != "open" or not direction.parent or not is_barren:
        return direction
    why = f"{len(beside)} directions beside it came back empty"
    return direction.model_copy(update={"status": "pruned", "because": why})


def _with_visits(direction: Direction, tree: Sequence[Direction]) -> Direction:
    below = [one for one in tree if one.id == direction.id or one.id.startswith(f"{direction.id}.")]
    return direction.model_copy(
        update={"visits": sum(one.status in {"explored", "empty"} for one in below)},
    )


def _novelty(direction: Direction, tree: Sequence[Direction]) -> float:
    own = terms(direction.text)
    others = [terms(one.text) for one in tree if one.status in {"explored", "empty"}]
    return 1.0 - max((len(own & other) / max(1, len(own | other)) for other in others), default=0.0)
