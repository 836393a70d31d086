"""What all questions together may cost is kept to, however they are worked on."""

import asyncio
import random

import pytest

from fathom.batch import Total


async def test_without_a_total_everybody_gets_what_they_want() -> None:
    total = Total(None)
    assert [await total.hold(5.0) for _ in range(3)] == [5.0, 5.0, 5.0]
    await total.settle(5.0, 5.0)


async def test_the_last_one_gets_what_is_left_and_then_nobody_anything() -> None:
    total = Total(2.5)
    assert await total.hold(1.0) == 1.0
    assert await total.hold(1.0) == 1.0
    waiting = asyncio.ensure_future(total.hold(1.0))
    await asyncio.sleep(0)
    assert not waiting.done()  # somebody may give something back
    await total.settle(1.0, 1.0)
    await total.settle(1.0, 1.0)
    assert await waiting == pytest.approx(0.5)
    await total.settle(0.5, 0.5)
    assert await total.hold(1.0) is None


async def test_what_is_given_back_is_there_for_the_next() -> None:
    total = Total(1.0)
    assert await total.hold(1.0) == 1.0
    waiting = asyncio.ensure_future(total.hold(0.9))
    await asyncio.sleep(0)
    await total.settle(1.0, 0.1)
    assert await waiting == 0.9


async def test_nothing_may_be_spent_on_what_costs_nothing() -> None:
    total = Total(0.0)
    assert await total.hold(0.0) == 0.0
    assert await total.hold(1.0) is None


@pytest.mark.parametrize("seed", range(20))
async def test_however_they_are_worked_on_no_more_is_spent(seed: int) -> None:
    chance = random.Random(seed)
    usd = chance.choice([0.5, 3.0, 10.0])
    total, spent = Total(usd), 0.0

    async def question() -> None:
        nonlocal spent
        held = await total.hold(chance.uniform(0.1, 2.0))
        if held is None:
            return
        await asyncio.sleep(0)
        used = held * chance.random()
        spent += used
        await total.settle(held, used)

    await asyncio.wait_for(asyncio.gather(*(question() for _ in range(30))), 5)
    assert spent <= usd + 1e-6
