"""Fork a run: a new run starts from the state at the end of a round and takes another direction.

The other run is only read. What it paid for is not paid again: the new run has its own budget, and the
shared costs count as saved.
"""

import uuid
from datetime import UTC, datetime
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointMetadata
from langgraph.checkpoint.base.id import uuid6
from langgraph.types import StateSnapshot

from fathom.errors import BadInput
from fathom.runs.event_stream import graph_config
from fathom.runs.executor import Runs
from fathom.runs.repository import checkpoint_ids
from fathom.state import MAX_QUESTION_CHARS, MAX_ROUNDS, Cost, Fork, Judgement, RunConfig, short_id

_MIN_MORE_ROUNDS = 2
# Belongs to one run only: its report, answers to people, an update's input, what branches shared, next steps.
_NOT_COPIED = ("report", "is_finishing", "feedback", "earlier", "run", "directions", "__pregel_tasks")
_AFTER_A_ROUND = frozenset({"planner", "writer", "branches"})


async def fork_run(
    runs: Runs, run_id: str, number: int | None, direction: str, more_rounds: int | None = None
) -> str:
    """Return the id of a new run at the end of round `number` (default: the last), to plan in this direction.

    It may take `more_rounds`, by default as many as were left, at least two.
    """
    if not direction.strip() or len(direction) > MAX_QUESTION_CHARS:
        raise BadInput(f"A new direction has 1 to {MAX_QUESTION_CHARS} characters.")
    judged = len((await runs.snapshot(run_id)).values.get("judgements", []))
    number = judged if number is None else number
    if not 1 <= number <= judged:
        have = f"rounds 1 to {judged}" if judged else "no round yet that is over"
        raise BadInput(f"Run {short_id(run_id)} has {have}; round {number} cannot be forked.")
    at = await _end_of_round(runs, run_id, number)
    shared = (await runs.snapshot(run_id)).values.get("run_config") or RunConfig()
    run_config = _fork_config(shared, number, more_rounds)
    new_id = await _copy_checkpoint(runs, at)
    begin: dict[str, Any] = {
        "feedback": direction.strip(),
        "fork": Fork(run=run_id, round=number, direction=direction.strip()),
        "run": uuid.uuid4().hex,
    }
    await runs.remember_config(begin["run"], run_config)
    await runs.graph.aupdate_state(graph_config(new_id), begin, as_node="review")
    return new_id


async def _end_of_round(runs: Runs, run_id: str, number: int) -> StateSnapshot:
    """Return the last state before the next round was planned; a fork looks in its origin too."""
    shared = None
    for name in await checkpoint_ids(runs.storage, run_id):
        place = {"thread_id": run_id, "checkpoint_ns": "", "checkpoint_id": name}
        found = await runs.graph.aget_state({"configurable": place})
        shared = shared or found.values.get("fork")
        judged = len(found.values.get("judgements", []))
        is_between = set(found.next) <= _AFTER_A_ROUND and not found.values.get("feedback")
        if judged == number and is_between:
            return found
        if judged < number:
            break
    if shared and number < shared.round:
        return await _end_of_round(runs, shared.run, number)
    raise BadInput(
        f"Round {number} of run {short_id(run_id)} is not kept: it was that of an earlier run,"
        " or an earlier Fathom stored it in another form."
    )


def _fork_config(run_config: RunConfig, number: int, more_rounds: int | None) -> RunConfig:
    """Return the configuration as one loop with rounds left for the new direction."""
    left = run_config.max_rounds - number if run_config.strategy == "loop" else 0
    more = more_rounds if more_rounds is not None else max(left, _MIN_MORE_ROUNDS)
    return run_config.as_one_loop().model_copy(update={"rounds": min(number + more, MAX_ROUNDS)})


async def _copy_checkpoint(runs: Runs, at: StateSnapshot) -> str:
    """Copy the checkpoint as the first of a new thread; return its id."""
    found = await runs.saver.aget_tuple(at.config)
    assert found is not None
    new_id = str(uuid.uuid4())
    checkpoint = found.checkpoint.copy()
    checkpoint["channel_values"] = shared_values(found.checkpoint["channel_values"])
    checkpoint["id"] = str(uuid6(clock_seq=-2))
    checkpoint["ts"] = datetime.now(UTC).isoformat()
    metadata: CheckpointMetadata = {"source": "fork", "step": found.metadata.get("step", 0), "parents": {}}
    place: RunnableConfig = {"configurable": {"thread_id": new_id, "checkpoint_ns": ""}}
    await runs.saver.aput(place, checkpoint, metadata, checkpoint["channel_versions"])
    return new_id


def shared_values(values: dict[str, Any]) -> dict[str, Any]:
    """Return the state that both runs share, at no cost to the second one and without a stop."""
    kept = {name: value for name, value in values.items() if name not in _NOT_COPIED}
    costs: list[Cost] = kept.get("costs", [])
    judgements: list[Judgement] = kept.get("judgements", [])
    kept["costs"] = [
        cost.model_copy(update={"usd": 0.0, "saved_usd": cost.saved_usd + cost.usd, "is_reused": True})
        for cost in costs
    ]
    going_on = {"stop": None, "because": ""}
    last = len(judgements) - 1
    kept["judgements"] = [
        judgement.model_copy(update={"spent_usd": 0.0, **(going_on if place == last else {})})
        for place, judgement in enumerate(judgements)
    ]
    return kept
