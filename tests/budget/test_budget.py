"""The cap holds to the cent: random prices, usages and failures, with twenty branches in flight."""

import asyncio
import random
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from fathom.budget import Budget
from fathom.errors import OutOfBudget
from fathom.state import Cost
from fathom.storage import open_storage
from fathom.storage.records import NANO, PaidCall

CALL = PaidCall("call", "read", "m")
BRANCHES = 20


def purse_in(folder: Path, run: str = "run", budget_usd: float = 1.0, reserve: float = 0.15) -> Budget:
    return Budget(open_storage(folder / "fathom.sqlite").costs, run, budget_usd, reserve)


@dataclass(frozen=True)
class Turn:
    """One call of a branch: what it may cost, what share of that it does, and how it ends."""

    worst_usd: float
    least: float
    used: float
    end: str
    is_writing: bool


@dataclass
class Till:
    """What the providers themselves would charge; the truth that the cap is held against."""

    taken: int = 0
    open: int = 0
    refused: int = 0
    most_open: int = 0


TURNS = st.builds(
    Turn,
    worst_usd=st.floats(0, 0.3, allow_nan=False),
    least=st.floats(0.1, 1.0),
    used=st.floats(0, 1.0),
    end=st.sampled_from(["answered", "answered", "answered", "refused", "unknown", "cancelled"]),
    is_writing=st.booleans(),
)


async def taken(budget: Budget, turn: Turn, till: Till, wait_s: float) -> None:
    """One call as a chat takes it; what the provider charges is never more than what was set aside."""
    call = PaidCall(f"call {id(turn)}", "write" if turn.is_writing else "read", "m")
    try:
        hold = await budget.reserve(
            call, turn.worst_usd, turn.is_writing, least_usd=turn.worst_usd * turn.least
        )
    except OutOfBudget:
        till.refused += 1
        return
    async with hold:
        till.open += hold.amount
        till.most_open = max(till.most_open, till.open + till.taken)
        await asyncio.sleep(wait_s)
        till.open -= hold.amount
        cost = int(hold.amount * turn.used)
        match turn.end:
            case "answered":
                till.taken += cost
                await hold.settle(cost / NANO)
            case "refused":
                await hold.release()
            case _:  # nobody knows: the provider may well charge all of it
                till.taken += hold.amount


@given(
    turns=st.lists(TURNS, min_size=BRANCHES, max_size=60),
    usd=st.floats(0.0, 2.0),
    reserve=st.floats(0.0, 0.9),
    seed=st.integers(0, 999),
)
@settings(
    max_examples=25,
    phases=[Phase.explicit, Phase.generate],  # making it smaller would take minutes of threads and files
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_the_cap_holds_whatever_twenty_branches_do(
    tmp_path: Path, turns: list[Turn], usd: float, reserve: float, seed: int
) -> None:
    chance = random.Random(seed)
    till = Till()
    budget = purse_in(tmp_path, uuid4().hex, usd, reserve)

    async def branch(own: list[Turn]) -> None:
        for turn in own:
            await taken(budget, turn, till, chance.random() * 0.002)

    async def all_branches() -> None:
        async with asyncio.timeout(30):  # no deadlock
            await asyncio.gather(*(branch(turns[n::BRANCHES]) for n in range(BRANCHES)))

    asyncio.run(all_branches())
    cap = int(round(usd * NANO, 4))
    assert till.taken <= cap
    assert till.most_open <= cap  # also while calls were on their way
    balance = asyncio.run(budget.costs.balance(budget.run))
    assert balance.nano == till.taken  # every hold was settled, released or kept, and nothing else is counted
    # What is left can be spent, to the last billionth, and not one more.
    left = (cap - till.taken) / NANO
    if cap > till.taken:

        async def last() -> None:
            async with await budget.reserve(PaidCall("last", "write", "m"), left, is_writing=True) as hold:
                await hold.settle(left)
            with pytest.raises(OutOfBudget):
                await budget.reserve(PaidCall("one more", "write", "m"), 1 / NANO, is_writing=True)

        asyncio.run(last())


async def test_looking_stops_where_the_part_for_writing_begins(tmp_path: Path) -> None:
    budget = purse_in(tmp_path)
    async with await budget.reserve(CALL, 0.85, is_writing=False) as hold:
        await hold.settle(0.84)
    assert not (await budget.account()).is_out
    with pytest.raises(OutOfBudget, match="too little of the 1 USD is left"):
        await budget.reserve(CALL, 0.02, is_writing=False)
    assert (await budget.account()).is_out
    async with await budget.reserve(PaidCall("w", "write", "m"), 0.16, is_writing=True) as hold:
        await hold.settle(0.1)
    assert (await budget.account()).usd == pytest.approx(0.94)


async def test_a_call_waits_for_others_that_may_cost_less_than_they_could(tmp_path: Path) -> None:
    budget = purse_in(tmp_path, reserve=0)
    first = await budget.reserve(CALL, 0.9, is_writing=False)
    waiting = asyncio.create_task(budget.reserve(CALL, 0.5, is_writing=False))
    await asyncio.sleep(0.05)
    assert not waiting.done()
    async with first:
        await first.settle(0.3)
    async with await waiting as second:
        assert second.usd == 0.5
    assert not (await budget.account()).is_out


async def test_what_can_never_fit_is_refused_at_once_and_does_not_wait(tmp_path: Path) -> None:
    budget = purse_in(tmp_path, reserve=0)
    async with await budget.reserve(CALL, 0.5, is_writing=False):
        with pytest.raises(OutOfBudget, match="m was not asked"):
            await budget.reserve(CALL, 1.1, is_writing=False)


async def test_when_the_money_is_short_less_may_be_enough(tmp_path: Path) -> None:
    budget = purse_in(tmp_path, reserve=0)
    async with await budget.reserve(CALL, 0.8, is_writing=False) as hold:
        await hold.settle(0.8)
    async with await budget.reserve(CALL, 0.4, is_writing=False, least_usd=0.1) as hold:
        assert hold.usd == pytest.approx(0.2)
        await hold.settle(0.05)
    with pytest.raises(OutOfBudget):
        await budget.reserve(CALL, 0.4, is_writing=False, least_usd=0.2)


async def test_what_nobody_answered_for_stays_counted_also_after_a_kill(tmp_path: Path) -> None:
    budget = purse_in(tmp_path, reserve=0)
    await budget.reserve(CALL, 0.7, is_writing=False)  # and then the process dies

    def resumed() -> None:
        async def again() -> None:
            fresh = purse_in(tmp_path, reserve=0)
            assert (await fresh.account()).usd == pytest.approx(0.7)
            with pytest.raises(OutOfBudget):
                await fresh.reserve(CALL, 0.4, is_writing=False)

        asyncio.run(again())

    await asyncio.to_thread(resumed)


async def test_an_answer_that_was_kept_before_a_kill_settles_what_was_left_open(tmp_path: Path) -> None:
    budget = purse_in(tmp_path, reserve=0)
    await budget.reserve(CALL, 0.7, is_writing=False)
    assert await budget.recall("call", 0.2, 10, 5) == pytest.approx(0.2)
    assert await budget.recall("call", 0.2, 10, 5) == pytest.approx(0.2)  # asked again, paid once
    assert await budget.recall("never asked", 0.2, 10, 5) is None
    assert (await budget.account()).usd == pytest.approx(0.2)


async def test_a_cancelled_call_stays_counted_and_others_go_on(tmp_path: Path) -> None:
    budget = purse_in(tmp_path, reserve=0)

    held = asyncio.Event()

    async def hanging() -> None:
        async with await budget.reserve(CALL, 0.6, is_writing=False):
            held.set()
            await asyncio.sleep(60)

    task = asyncio.create_task(hanging())
    await held.wait()
    waiting = asyncio.create_task(budget.reserve(CALL, 0.5, is_writing=False))
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(OutOfBudget):  # nobody knows what became of it, so its 0.6 are gone
        await waiting
    async with await budget.reserve(CALL, 0.4, is_writing=False) as hold:
        assert hold.usd == 0.4


async def test_whenever_calls_are_cancelled_only_those_are_counted_that_could_leave(tmp_path: Path) -> None:
    budget, chance = purse_in(tmp_path, reserve=0, budget_usd=100.0), random.Random(7)
    left: list[int] = []

    async def call(number: int) -> None:
        hold = await budget.reserve(PaidCall(f"call {number}", "read", "m"), 0.01, is_writing=False)
        left.append(hold.amount)
        async with hold:
            await asyncio.sleep(1)

    for number in range(40):
        task = asyncio.create_task(call(number))
        await asyncio.sleep(chance.random() * 0.01)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    assert (await budget.costs.balance("run")).nano == sum(left)


async def test_what_was_cut_off_is_told_once(tmp_path: Path) -> None:
    budget = purse_in(tmp_path, reserve=0)
    for name, usd in (("a", 0.1), ("b", 0.2), ("c", 0.3)):
        async with await budget.reserve(PaidCall(name, "read", "m"), usd, is_writing=False):
            pass
    told = [Cost(call="a", role="read", model="m", usd=0.1)]
    assert {one.call: one.usd for one in await budget.unreported_costs(told)} == {"b": 0.2, "c": 0.3}
    both = [*told, *await budget.unreported_costs(told)]
    assert await budget.unreported_costs(both) == []
    # A charge that has what another name cost in it leaves only the rest.
    joined = [Cost(call="a", role="read", model="m", usd=0.4)]
    assert sum(one.usd for one in await budget.unreported_costs(joined)) == pytest.approx(0.2)


async def test_runs_do_not_touch_each_others_money(tmp_path: Path) -> None:
    one, two = purse_in(tmp_path, "one"), purse_in(tmp_path, "two")
    async with await one.reserve(CALL, 0.8, is_writing=False) as hold:
        await hold.settle(0.8)
    assert (await two.account()).usd == 0.0


async def test_what_costs_nothing_needs_no_budget_and_is_noted(tmp_path: Path) -> None:
    budget = purse_in(tmp_path, budget_usd=0.0)
    async with await budget.reserve(CALL, 0.0, is_writing=False) as hold:
        await hold.settle(0.0, 100, 20)
    assert await budget.paid("call") == 0.0
    assert not (await budget.account()).is_out
