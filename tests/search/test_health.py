"""An engine that is ill is left alone, by every run of the process, until it can serve again."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from fathom.errors import BadQuery, ProviderError, Refused, Unavailable
from fathom.search import Capability
from fathom.search.wrappers import EngineHealth, MonitoredEngine
from fathom.state import Hit, Query

QUERY = Query(id="q", text='Why "do" tides: rise?', question="Q1", round=1)


@dataclass
class Moody:
    """Does what it was told to, call by call; then it serves."""

    moods: list[ProviderError] = field(default_factory=list)
    name: str = "moody"
    capabilities: frozenset[Capability] = frozenset({"web"})
    asked: list[str] = field(default_factory=list)

    async def __call__(self, query: Query, *, limit: int) -> Sequence[Hit]:
        self.asked.append(query.text)
        if self.moods:
            raise self.moods.pop(0)
        return []


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


async def test_a_limit_cools_the_engine_down_for_as_long_as_it_says_in_all_runs() -> None:
    clock = Clock()
    health, engine = EngineHealth(clock), Moody([Unavailable("slow down", wait_s=20)])
    one, two = MonitoredEngine(engine, health), MonitoredEngine(engine, health)
    with pytest.raises(Unavailable, match="slow down"):
        await one(QUERY, limit=5)
    with pytest.raises(Unavailable, match="cooling down for 20 s"):
        await two(QUERY, limit=5)
    assert len(engine.asked) == 1
    clock.now += 20
    assert await two(QUERY, limit=5) == []


async def test_failures_in_a_row_make_the_pause_longer_and_an_answer_ends_that() -> None:
    clock = Clock()
    health = EngineHealth(clock)
    waits = []
    for _ in range(3):
        health.failed("moody", None)
        waits.append(health.wait_s("moody"))
    assert waits == [30, 60, 120]
    health.served("moody")
    health.failed("moody", None)
    assert health.wait_s("moody") == 30
    health.failed("moody", 99_999)
    assert health.wait_s("moody") == 600


async def test_a_refusal_switches_the_engine_off_for_ten_minutes_with_the_reason() -> None:
    clock, engine = Clock(), Moody([Refused("the key is wrong")])
    health = EngineHealth(clock)
    run, other = MonitoredEngine(engine, health), MonitoredEngine(engine, health)
    for sentence in ("the key is wrong", "moody is switched off for 600 s: the key is wrong"):
        with pytest.raises(Refused, match=sentence):
            await run(QUERY, limit=5)
    assert len(engine.asked) == 1
    assert await other(QUERY, limit=5) == []
    clock.now += 600
    assert await run(QUERY, limit=5) == []


async def test_a_query_that_is_not_taken_is_put_plainly_once() -> None:
    engine = Moody([BadQuery("syntax")])
    assert await MonitoredEngine(engine, EngineHealth())(QUERY, limit=5) == []
    assert engine.asked == [QUERY.text, "tides rise"]
    with pytest.raises(BadQuery):
        await MonitoredEngine(Moody([BadQuery("a"), BadQuery("b")]), EngineHealth())(QUERY, limit=5)
    plain = QUERY.model_copy(update={"text": "tides rise"})
    stubborn = Moody([BadQuery("a")])
    with pytest.raises(BadQuery):
        await MonitoredEngine(stubborn, EngineHealth())(plain, limit=5)
    assert len(stubborn.asked) == 1
