"""Directions: where the branches of a run start, and which of them have not set out yet.

Does not know who explores a direction. Pure: the same question and settings give the same directions.
"""

from collections.abc import Mapping

from fathom.planning.seeds import Seed, seeds
from fathom.state import Direction, Effort, Query, ResearchState, RunConfig


def plan_directions(question: str, run_config: RunConfig, effort: Effort, wish: str = "") -> list[Direction]:
    """Return the directions to start with; a person's wish comes first."""
    is_tree = run_config.strategy == "tree"
    most = run_config.branches or (run_config.step if is_tree else max(2, effort.branches))
    starts = seeds(question, most)
    if wish:
        starts = [Seed(wish, "a person's wish"), *starts][: max(most, 1)]
    # A branch of the tree looks once; a rollout goes round as often as the question is worth.
    rounds = 1 if is_tree else run_config.levels or run_config.rounds or effort.rounds
    return [
        Direction(
            id=f"b{place}",
            text=seed.text,
            angle=seed.angle,
            rounds=rounds,
            queries=min(run_config.step, run_config.queries),
            sources=min(run_config.step, run_config.max_sources),
        )
        for place, seed in enumerate(starts, 1)
    ]


def open_directions(state: ResearchState) -> list[Direction]:
    """Return the directions of this level that may set out: none once money or a person's word ended it.

    A level waits until the one before it was judged.
    """
    if state.get("is_spent") or state.get("is_finishing"):
        return []
    known = {direction.id: direction for direction in state.get("directions", [])}
    level = len(state.get("judgements", [])) + 1
    planned = [_direction(query, known) for query in state.get("queries", []) if query.round == level]
    return [direction for direction in planned if direction.status == "open"]


def _direction(query: Query, known: Mapping[str, Direction]) -> Direction:
    """The direction of a planned query; what a person added gets the limits of the first one."""
    if query.id in known:
        return known[query.id]
    like = next(iter(known.values()))
    wish = {"id": query.id, "text": query.text, "angle": "a person's wish", "status": "open"}
    return like.model_copy(update=wish)
