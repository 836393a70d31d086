"""Searches that were answered before: whose they are, how long they hold, and what they cost then."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from fathom.errors import Unavailable
from fathom.search.engines import Engines
from fathom.search.port import Capability
from fathom.search.recalling import VALID_S, Recall, made_of
from fathom.search.scope import Scope
from fathom.search.serper import Serper
from fathom.search.table import engines_for
from fathom.search.tavily import Tavily
from fathom.settings import load_settings
from fathom.state import Hit, Query, RunConfig
from fathom.store import Replies, replies

QUERY = Query(id="r1q1", text="tidal power", question="Q1", round=1)


@dataclass
class Counting:
    """An engine that counts how often it is asked."""

    name: str = "web"
    capabilities: frozenset[Capability] = frozenset({"web"})
    found: Sequence[str] = ("https://a.example/1", "https://b.example/2")
    fails: int = 0
    asked: list[str] = field(default_factory=list)

    async def __call__(self, query: Query, *, limit: int) -> list[Hit]:
        self.asked.append(query.text)
        await asyncio.sleep(0.05)
        if len(self.asked) <= self.fails:
            raise Unavailable("busy")
        return [
            Hit(query=query.id, address=address, title="T", snippet="S", engine=self.name, rank=rank)
            for rank, address in enumerate(self.found[:limit], 1)
        ]


def engines(engine: Counting, memory: Replies, made: str = "as it is") -> Engines:
    return Engines((engine,), prices={"web": lambda _: 0.005}, recall=Recall(memory, {"web": made}))


@pytest.fixture
def memory(tmp_path: Path) -> Replies:
    return replies(tmp_path / "fathom.sqlite", max_age_s=VALID_S)


async def test_a_run_that_is_resumed_has_its_hits_and_pays_once(memory: Replies) -> None:
    engine, other_id = Counting(), QUERY.model_copy(update={"id": "r2q3"})
    first = await engines(engine, memory.within("run")).search(QUERY, limit=5)
    again = await engines(engine, memory.within("run")).search(QUERY, limit=5)
    later = await engines(engine, memory.within("run")).search(other_id, limit=5)
    assert engine.asked == ["tidal power"]
    assert again == first
    assert [hit.query for hit in later.hits] == ["r2q3", "r2q3"]
    assert [cost.usd for cost in first.costs] == [0.005]
    assert {c.key for found in (first, again, later) for c in found.costs} == {first.costs[0].key}


async def test_another_run_has_them_for_nothing_and_says_so(memory: Replies) -> None:
    engine = Counting()
    first = await engines(engine, memory.within("one")).search(QUERY, limit=5)
    other = await engines(engine, memory.within("other")).search(QUERY, limit=5)
    assert len(engine.asked) == 1
    assert other.hits == first.hits
    (cost,) = other.costs
    assert (cost.usd, cost.saved_usd, cost.is_reused) == (0.0, 0.005, True)


async def test_other_words_limits_or_ways_of_asking_are_another_search(memory: Replies) -> None:
    engine = Counting()
    await engines(engine, memory).search(QUERY, limit=5)
    await engines(engine, memory).search(QUERY, limit=1)
    await engines(engine, memory, "for news").search(QUERY, limit=5)
    await engines(engine, memory).search(QUERY.model_copy(update={"text": "tidal powers"}), limit=5)
    assert len(engine.asked) == 4


async def test_who_wants_nothing_reused_asks_once_a_run(memory: Replies) -> None:
    engine, alone = Counting(), replace(memory, is_shared=False)
    for run in ("one", "other", "one", "other"):
        await engines(engine, alone.within(run)).search(QUERY, limit=5)
    assert len(engine.asked) == 2


async def test_a_day_later_another_run_asks_again(memory: Replies) -> None:
    engine, short = Counting(), replace(memory, max_age_s=0.2)
    await engines(engine, short.within("one")).search(QUERY, limit=5)
    await asyncio.sleep(0.25)
    await engines(engine, short.within("one")).search(QUERY, limit=5)
    assert len(engine.asked) == 1
    await engines(engine, short.within("other")).search(QUERY, limit=5)
    assert len(engine.asked) == 2


async def test_that_nothing_was_found_holds_for_one_run_only(memory: Replies) -> None:
    engine = Counting(found=())
    for run in ("one", "one", "other"):
        await engines(engine, memory.within(run)).search(QUERY, limit=5)
    assert len(engine.asked) == 2


async def test_a_failure_is_not_kept(memory: Replies) -> None:
    engine = Counting(fails=1)
    with pytest.raises(Unavailable):
        await engines(engine, memory).search(QUERY, limit=5)
    assert len((await engines(engine, memory).search(QUERY, limit=5)).hits) == 2


async def test_two_branches_that_ask_the_same_at_once_ask_once(memory: Replies) -> None:
    engine = Counting()
    both = engines(engine, memory)
    found = await asyncio.gather(*(both.search(QUERY, limit=5) for _ in range(4)))
    assert len(engine.asked) == 1
    assert all(one.hits == found[0].hits for one in found)


def test_how_an_engine_is_made_counts_but_not_its_key() -> None:
    scoped = Scope(include_domains=("a.example",))
    assert made_of(Tavily("key")) == made_of(Tavily("another-key"))
    assert made_of(Serper("key")) != made_of(Serper("key", scope=scoped))
    assert made_of(Serper("key")) != made_of(Serper("key", kind="news"))
    assert made_of(Tavily("key")) != made_of(Tavily("key", base_url="http://127.0.0.1:1"))


def test_documents_of_ones_own_are_searched_every_time(tmp_path: Path) -> None:
    settings = load_settings(home=tmp_path, serper_api_key="k")
    made = engines_for(settings, RunConfig(engines=["serper"], docs=[str(tmp_path)])).recall
    assert made is not None
    assert set(made.made) == {"serper"}


@pytest.mark.parametrize(
    ("run_config", "is_shared"), [({}, True), ({"reuse": False}, False), ({"fresh": True}, False)]
)
def test_what_is_wanted_fresh_is_not_another_runs(
    tmp_path: Path, run_config: dict[str, bool], is_shared: bool
) -> None:
    settings = load_settings(home=tmp_path, serper_api_key="k")
    recall = engines_for(settings, RunConfig.model_validate({"engines": ["serper"], **run_config})).recall
    assert recall is not None
    assert isinstance(recall.memory, Replies)
    assert recall.memory.is_shared is is_shared
