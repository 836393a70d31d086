"""The lead: how much effort the question is worth, and who looks where."""

from fathom.llm.questions import parts_of
from fathom.nodes.ports import Forecaster, PageLeases
from fathom.planning.admission import admitted
from fathom.planning.effort import effort, told
from fathom.planning.seeds import Seed, seeds
from fathom.state import Direction, Effort, ResearchState, RunConfig, SubQuestion


async def lead(
    state: ResearchState, *, run_config: RunConfig, page_leases: PageLeases, forecaster: Forecaster
) -> ResearchState:
    """Size the effort; where the strategy has branches, say where each of them starts.

    Reads:  question, feedback
    Writes: run_config, effort, run, forecast; with branches also strategy, read_for, directions, queries,
            feedback
    """
    question = admitted(state.get("question"))
    size = effort(question, run_config.depth)
    run = await page_leases.begin()
    expected = await forecaster(question, run)
    if run_config.strategy == "loop":
        return {"run_config": run_config, "effort": size, "run": run, "forecast": expected}
    most = run_config.branches or (
        run_config.step if run_config.strategy == "tree" else max(2, size.branches)
    )
    starts = seeds(question, most)
    if wish := state.get("feedback", ""):
        starts = [Seed(wish, "a person's wish"), *starts][: max(most, 1)]
    directions = [_direction(place, seed, run_config, size) for place, seed in enumerate(starts, 1)]
    return {
        "run_config": run_config,
        "effort": size,
        "run": run,
        "forecast": expected,
        "strategy": f"{told(size)} {len(directions)} branches, {run_config.orchestration}.",
        "read_for": [SubQuestion(id=f"W{n}", text=part) for n, part in enumerate(parts_of(question), 1)],
        "directions": directions,
        "queries": [direction.query() for direction in directions],
        "feedback": "",
    }


def _direction(place: int, seed: Seed, run_config: RunConfig, size: Effort) -> Direction:
    """A branch of the tree looks once; a rollout goes round as often as the question is worth."""
    rounds = 1 if run_config.strategy == "tree" else run_config.levels or run_config.rounds or size.rounds
    return Direction(
        id=f"b{place}",
        text=seed.text,
        angle=seed.angle,
        rounds=rounds,
        queries=min(run_config.step, run_config.queries),
        sources=min(run_config.step, run_config.max_sources),
    )
