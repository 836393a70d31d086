"""Time travel: a fork shares all that was known after a round, pays for none of it, and goes its own way."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest
from fakes.run_parts import Library, ScriptedModel, make_dependencies
from standins.prose import page
from standins.rows import rows_of

from fathom.errors import BadInput
from fathom.graph import build_graph
from fathom.runs.event_stream import graph_config
from fathom.runs.executor import Runs, open_runs
from fathom.runs.follow_up import fork_run
from fathom.settings import load_settings
from fathom.state import Plan, RunConfig, RunState
from fathom.state.model_io import ModelResult, PlanInput

ROUNDS = 3
QUESTION = "What is known about tidal turbines?"
DIRECTION = "What do fishermen think of it?"


@dataclass(frozen=True)
class Listener(ScriptedModel):
    """A clerk that remembers what it was told to change."""

    heard: list[str] = field(default_factory=list)

    async def plan(self, brief: PlanInput) -> ModelResult[Plan]:
        self.heard.append(brief.feedback)
        return await super().plan(brief)


@dataclass
class World:
    """A finished run of three rounds, and who worked for it."""

    runs: Runs
    library: Library
    clerk: Listener
    run_id: str = "11111111-0000-4000-8000-000000000000"

    async def work(self, run_id: str, run_config: RunConfig | None = None) -> RunState:
        kits = make_dependencies(self.runs.settings.home, self.library, self.clerk)
        graph = build_graph(kits, self.runs.saver)
        given: Any = {"question": QUESTION} if run_config else None
        await graph.ainvoke(given, graph_config(run_id), context=run_config)
        return await self.state(run_id)

    async def state(self, run_id: str) -> RunState:
        return cast(RunState, (await self.runs.snapshot(run_id)).values)

    def rows(self) -> list[Any]:
        """Everything that is kept of the first run, to see that nobody touches it."""
        words = (
            "select checkpoint_id, checkpoint, metadata from checkpoints where thread_id = '{}' order by 1"
        )
        return rows_of(self.runs.settings.home / "fathom.sqlite", words.format(self.run_id))


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    books = {f"https://shelf{n}.example/book": page(n, 300) for n in range(10)}
    async with open_runs(load_settings(home=tmp_path)) as runs:
        made = World(runs, Library(books), Listener(quotes=3, usd_a_call=0.01))
        run_config = RunConfig(rounds=ROUNDS, sources=1, threshold=1.0)
        await made.work(made.run_id, run_config)
        yield made


@pytest.mark.parametrize("number", [1, 2, 3])
async def test_a_fork_shares_its_past_and_pays_for_none_of_it(world: World, number: int) -> None:
    first, kept = await world.state(world.run_id), world.rows()
    assert [j.round for j in first["judgements"]] == [1, 2, 3]
    searched, read = len(world.library.searched), len(world.library.read)
    new_id = await fork_run(world.runs, world.run_id, number, DIRECTION, more_rounds=1)
    begun = await world.state(new_id)
    assert [j.round for j in begun["judgements"]] == list(range(1, number + 1))
    assert {q.round for q in begun["asked"]} == set(range(1, number + 1))
    assert sum(cost.usd for cost in begun["costs"]) == 0
    assert sum(cost.saved_usd for cost in begun["costs"]) > 0
    second = await world.work(new_id)
    assert [j.round for j in second["judgements"]] == list(range(1, number + 2))
    assert second["judgements"][-1].stop == "rounds used up"
    assert second["report"].status != "failed"
    assert world.clerk.heard[-1] == DIRECTION
    # One search and one page more, and nothing of before: not a query, not a page, not a call.
    assert len(world.library.searched) == searched + 1
    assert len(world.library.read) == read + 1
    shared = {cost.call for cost in begun["costs"]}
    paid = [cost for cost in second["costs"] if cost.usd]
    assert not shared & {cost.call for cost in paid}
    assert {cost.role for cost in paid} == {"plan", "read", "judge"}
    assert {c.id for c in begun["claims"]} < {c.id for c in second["claims"]}
    assert second["fork"].run == world.run_id
    assert (second["fork"].round, second["fork"].direction) == (number, DIRECTION)
    assert world.rows() == kept
    assert await world.state(world.run_id) == first


async def test_a_fork_of_a_fork_goes_back_beyond_it(world: World) -> None:
    one = await fork_run(world.runs, world.run_id, 2, DIRECTION, more_rounds=1)
    await world.work(one)
    two = await fork_run(world.runs, one, 1, "What about seals?", more_rounds=1)
    state = await world.work(two)
    assert [j.round for j in state["judgements"]] == [1, 2]
    assert state["fork"].run == one
    same = await fork_run(world.runs, one, 2, "What about nets?")
    assert len((await world.state(same))["judgements"]) == 2


async def test_a_fork_may_go_on_for_what_was_left_and_two_rounds_at_least(world: World) -> None:
    early = await fork_run(world.runs, world.run_id, 1, DIRECTION)
    late = await fork_run(world.runs, world.run_id, None, DIRECTION)
    assert (await world.state(early))["run_config"].max_rounds == 3
    assert (await world.state(late))["run_config"].max_rounds == 5
    assert len((await world.state(late))["judgements"]) == ROUNDS
    assert "report" not in await world.state(late)


@pytest.mark.parametrize(
    ("number", "direction", "words"),
    [(0, DIRECTION, "rounds 1 to 3"), (4, DIRECTION, "rounds 1 to 3"), (1, "  ", "1 to 2000 characters")],
)
async def test_what_cannot_be_forked_is_refused(
    world: World, number: int, direction: str, words: str
) -> None:
    with pytest.raises(BadInput, match=words):
        await fork_run(world.runs, world.run_id, number, direction)


async def test_a_fork_of_branches_goes_on_as_one_loop_with_all_they_found(world: World) -> None:
    run_id = "22222222-0000-4000-8000-000000000000"
    run_config = RunConfig(strategy="rollouts", branches=2, levels=1, sources=1, threshold=1.0)
    first = await world.work(run_id, run_config)
    assert len(first["directions"]) == 2
    new_id = await fork_run(world.runs, run_id, None, DIRECTION, more_rounds=1)
    second = await world.work(new_id)
    assert second["run_config"].strategy == "loop"
    assert {c.id for c in first["claims"]} <= {c.id for c in second["claims"]}
    assert len(second["judgements"]) == len(first["judgements"]) + 1
    assert second["run"] != first["run"]


async def test_a_round_that_is_long_over_can_be_forked_and_shares_the_same(world: World) -> None:
    plain = await world.state(await fork_run(world.runs, world.run_id, 1, DIRECTION))
    assert await world.runs.storage.checkpoints.thin(world.run_id)
    thinned = await world.state(await fork_run(world.runs, world.run_id, 1, DIRECTION))
    assert [claim.id for claim in thinned["claims"]] == [claim.id for claim in plain["claims"]]
    assert [page.sha for page in thinned["pages"]] == [page.sha for page in plain["pages"]]
    assert len(thinned["judgements"]) == 1


async def test_a_round_that_is_not_kept_is_refused_in_one_sentence(world: World) -> None:
    words = (
        "delete from checkpoints where thread_id = ? and checkpoint_ns = '' and checkpoint_id <"
        " (select max(checkpoint_id) from checkpoints where thread_id = ? and checkpoint_ns = '')"
    )
    await world.runs.storage.checkpoints.database.execute(words, (world.run_id, world.run_id))
    with pytest.raises(BadInput, match=r"^Round 1 of run \w+ is not kept: .*\.$"):
        await fork_run(world.runs, world.run_id, 1, DIRECTION)
