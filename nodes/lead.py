"""The lead: how much effort the question is worth, and who looks where."""

from fathom.minds.questions import parts_of
from fathom.nodes.ports import Commons, Forecaster
from fathom.planning.admission import admitted
from fathom.planning.effort import effort, told
from fathom.planning.seeds import Seed, seeds
from fathom.state import Direction, Effort, Knobs, ResearchState, SubQuestion


async def lead(
    state: ResearchState, *, knobs: Knobs, commons: Commons, forecaster: Forecaster
) -> ResearchState:
    """Size the effort; where the strategy has branches, say where each of them starts.

    Reads:  question, feedback
    Writes: knobs, effort, run, forecast; with branches also strategy, read_for, directions, queries, feedback
    """
    question = admitted(state.get("question"))
    size = effort(question, knobs.depth)
    run = await commons.begin()
    expected = await forecaster(question, run)
    if knobs.strategy == "loop":
        return {"knobs": knobs, "effort": size, "run": run, "forecast": expected}
    most = knobs.branches or (knobs.step if knobs.strategy == "tree" else max(2, size.branches))
    starts = seeds(question, most)
    if wish := state.get("feedback", ""):
        starts = [Seed(wish, "a person's wish"), *starts][: max(most, 1)]
    directions = [_direction(place, seed, knobs, size) for place, seed in enumerate(starts, 1)]
    return {
        "knobs": knobs,
        "effort": size,
        "run": run,
        "forecast": expected,
        "strategy": f"{told(size)} {len(directions)} branches, {knobs.orchestration}.",
        "read_for": [SubQuestion(id=f"W{n}", text=part) for n, part in enumerate(parts_of(question), 1)],
        "directions": directions,
        "queries": [direction.query() for direction in directions],
        "feedback": "",
    }


def _direction(place: int, seed: Seed, knobs: Knobs, size: Effort) -> Direction:
    """A branch of the tree looks once; a rollout goes round as often as the question is worth."""
    rounds = 1 if knobs.strategy == "tree" else knobs.levels or knobs.rounds or size.rounds
    return Direction(
        id=f"b{place}",
        text=seed.text,
        angle=seed.angle,
        rounds=rounds,
        queries=min(knobs.step, knobs.queries),
        sources=min(knobs.step, knobs.max_sources),
    )
