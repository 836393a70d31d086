"""How soon work goes on after a model was full for a while, and how soon it is given up; in virtual time."""

import asyncio
from collections.abc import Sequence
from itertools import pairwise

import pytest
from fakes.virtual_time import Clock, run_in_virtual_time

from fathom.errors import Unavailable
from fathom.llm.rate_limiter import ModelRetryPolicy, Outage, RateLimiter

POLICY = ModelRetryPolicy(retries=3, outage_s=180.0)
# A run as it usually goes: steps one after another, each of so many calls of a second at once.
STEPS = (1, 8, 4, 1, 3, 3, 1, 1)


class Model:
    """Takes a second an answer; while it is full, it says so at once."""

    def __init__(self, clock: Clock, full: tuple[float, float], wait_s: float | None = None) -> None:
        self.clock, self.full, self.wait_s = clock, full, wait_s
        self.asked: list[float] = []

    async def answer(self) -> None:
        self.asked.append(self.clock())
        if self.full[0] <= self.clock() < self.full[1]:
            left = None if self.wait_s is None else min(self.wait_s, self.full[1] - self.clock())
            raise Unavailable("full", status=429, wait_s=left)
        await asyncio.sleep(1.0)


async def call(limiter: RateLimiter, model: Model, policy: ModelRetryPolicy = POLICY) -> None:
    attempt = limiter.attempt(policy)
    while not attempt.is_over:
        async with attempt:
            await model.answer()


async def run(limiter: RateLimiter, model: Model, steps: Sequence[int] = STEPS) -> float:
    """How long the steps took."""
    began = model.clock()
    for calls in steps:
        await asyncio.gather(*(call(limiter, model) for _ in range(calls)))
    return model.clock() - began


@pytest.mark.parametrize("wait_s", [None, 1.0, 10.0])
@pytest.mark.parametrize("places", [8, 50])
@pytest.mark.parametrize("full_from", [0.0, 0.5, 1.0, 2.2, 5.0, 7.5])
def test_ten_full_seconds_cost_ten_seconds_and_a_quarter_of_a_run(
    full_from: float, places: int, wait_s: float | None
) -> None:
    async def work(clock: Clock) -> float:
        return await run(RateLimiter(places, clock), Model(clock, (full_from, full_from + 10), wait_s))

    assert run_in_virtual_time(work) <= len(STEPS) + 10 + len(STEPS) / 4


def test_a_model_that_is_full_is_asked_by_one_call_at_a_time_and_not_too_often() -> None:
    async def work(clock: Clock) -> list[float]:
        model = Model(clock, (0.0, 120.0))
        await run(RateLimiter(50, clock), model, [20])
        return model.asked

    probes = [at for at in run_in_virtual_time(work) if 0 < at < 120]
    assert len(probes) < 80
    assert all(later - earlier >= 0.3 for earlier, later in pairwise(probes))


def test_a_model_that_stays_full_is_given_up_after_the_outage_and_not_later() -> None:
    async def work(clock: Clock) -> tuple[float, list[object]]:
        model, limiter = Model(clock, (0.0, float("inf"))), RateLimiter(50, clock)
        done = await asyncio.gather(*(call(limiter, model) for _ in range(9)), return_exceptions=True)
        return clock(), list(done)

    ended, done = run_in_virtual_time(work)
    assert 0.9 * POLICY.outage_s <= ended <= POLICY.outage_s + 1
    assert all(isinstance(error, Unavailable) for error in done)


def test_two_models_of_a_server_that_stays_full_are_not_waited_for_in_turn() -> None:
    async def work(clock: Clock) -> float:
        server = Outage()
        for _ in range(3):
            with pytest.raises(Unavailable):
                await call(RateLimiter(5, clock, server), Model(clock, (0.0, float("inf"))))
        return clock()

    assert run_in_virtual_time(work) <= POLICY.outage_s + 2


def test_a_model_that_is_refused_for_ever_is_given_up_also_if_its_neighbour_answers() -> None:
    async def work(clock: Clock) -> float:
        server = Outage()
        large, small = RateLimiter(5, clock, server), RateLimiter(5, clock, server)

        async def chatter() -> None:
            while True:
                await call(small, Model(clock, (0.0, 0.0)))

        talking = asyncio.create_task(chatter())
        with pytest.raises(Unavailable):
            await call(large, Model(clock, (0.0, float("inf"))))
        talking.cancel()
        await asyncio.gather(talking, return_exceptions=True)
        return clock()

    assert run_in_virtual_time(work) <= POLICY.outage_s + 1


def test_an_outage_long_ago_does_not_shorten_the_patience_of_today() -> None:
    async def work(clock: Clock) -> float:
        limiter = RateLimiter(5, clock)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(2):  # somebody who left in the middle of an outage
                await call(limiter, Model(clock, (0.0, 10.0)))
        await asyncio.sleep(3600)
        began = clock()
        await call(limiter, Model(clock, (began, began + 10)))
        return clock() - began

    assert run_in_virtual_time(work) <= 10 + 1 + 2


def test_too_many_at_once_is_learnt_and_kept() -> None:
    """A server that takes five at a time: few refusals, and the work is done at nearly five a second."""

    async def work(clock: Clock) -> tuple[float, int]:
        limiter, under_way, refused = RateLimiter(50, clock), 0, 0

        async def answer() -> None:
            nonlocal under_way, refused
            if under_way >= 5:
                refused += 1
                raise Unavailable("too many at once", status=429)
            under_way += 1
            await asyncio.sleep(1.0)
            under_way -= 1

        async def one() -> None:
            attempt = limiter.attempt(POLICY)
            while not attempt.is_over:
                async with attempt:
                    await answer()

        await asyncio.gather(*(one() for _ in range(200)))
        return clock(), refused

    taken_s, refused = run_in_virtual_time(work)
    assert taken_s < 2 * 200 / 5
    assert refused < 200
