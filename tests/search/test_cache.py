"""Searches that were answered before: whose they are, how long they hold, and what they cost then."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from fathom.errors import Unavailable
from fathom.search import Capability, Scope
from fathom.search.engines import engines_for
from fathom.search.engines.mcp import McpSearch
from fathom.search.engines.searxng import Searxng
from fathom.search.engines.serper import Serper
from fathom.search.engines.tavily import Tavily
from fathom.search.federated import FederatedSearch
from fathom.search.mcp_servers import McpServer
from fathom.search.wrappers import VALID_S, SearchCache, engine_key, search_key
from fathom.settings import load_settings
from fathom.state import Hit, Query, RunConfig
from fathom.storage import open_storage
from fathom.storage.content import Replies

QUERY = Query(id="r1q1", text="tidal power", question="Q1", round=1)
_CALL = search_key("web", "as it is", QUERY.text, 5)


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


def engines(engine: Counting, memory: Replies, made: str = "as it is") -> FederatedSearch:
    return FederatedSearch(
        (engine,), prices={"web": lambda _: 0.005}, cache=SearchCache(memory, {"web": made})
    )


@pytest.fixture
def memory(tmp_path: Path) -> Replies:
    return Replies(open_storage(tmp_path / "fathom.sqlite"), max_age_s=VALID_S)


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
    assert engine_key(Tavily("key")) == engine_key(Tavily("another-key"))
    assert engine_key(Serper("key")) != engine_key(Serper("key", scope=scoped))
    assert engine_key(Serper("key")) != engine_key(Serper("key", kind="news"))
    assert engine_key(Tavily("key")) != engine_key(Tavily("key", base_url="http://127.0.0.1:1"))


def test_the_key_of_an_engine_holds_no_secret() -> None:
    plain = McpSearch(McpServer("notes", url="https://a.example/mcp"))
    keyed = McpServer("notes", url="https://a.example/mcp?key=k", headers={"Authorization": "Bearer k"})
    assert engine_key(plain) == engine_key(McpSearch(keyed))
    assert engine_key(plain) != engine_key(McpSearch(McpServer("notes", url="https://b.example/mcp")))
    assert engine_key(Searxng("http://u:p@a.example")) == engine_key(Searxng("http://a.example"))


def test_what_is_not_plain_is_no_part_of_a_key() -> None:
    @dataclass
    class Careless:
        client: object

    with pytest.raises(TypeError, match="object is not a plain parameter"):
        engine_key(Careless(object()))


IN_A_PROCESS = """
import asyncio, json, sys
from pathlib import Path
from fathom.search.engines import _NEEDED, _REMOTE, engines_for
from fathom.settings import load_settings
from fathom.state import Hit, Query, RunConfig
from fathom.storage import open_storage
home = Path(sys.argv[1])
mcp = home / "mcp.json"
mcp.write_text(json.dumps({"mcpServers": {"notes": {"url": "https://a.example/mcp"}}}))
keys = {name: "key" for needed in _NEEDED.values() for name in needed if name.endswith(("_key", "_id"))}
settings = load_settings(home=home, mcp_file=mcp, searxng_url="https://s.example", **keys)
names = sorted({*_REMOTE, *_NEEDED} - {"retriever"})
config = RunConfig(engines=names, since="2024-01-01", include_domains=["a.example", "b.example"])
engines = engines_for(settings, config)
cache = engines.cache.within("run")
query, asked = Query(id="q1", text="tidal power", question="Q1", round=1), []
async def search(engine):
    async def ask():
        asked.append(engine.name)
        return [Hit(query="q1", address="https://a.example/", title="T", snippet="S", engine="e", rank=1)]
    await cache.search(engine, query, 5, ask)
async def main():
    for engine in [*engines.engines, *engines.spare]:
        await search(engine)
asyncio.run(main())
print(json.dumps({"asked": asked, "keys": dict(cache.engine_keys), "names": names}))
"""


def _in_a_process(home: Path, seed: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-c", IN_A_PROCESS, str(home)],
        capture_output=True, text=True, check=True, env={**os.environ, "PYTHONHASHSEED": seed},
    )  # fmt: skip
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_what_any_engine_answered_in_one_process_is_not_asked_in_the_next(tmp_path: Path) -> None:
    first, second = _in_a_process(tmp_path, "1"), _in_a_process(tmp_path, "2")
    assert first["keys"] == second["keys"]
    known = {name.partition(":")[0] for name in first["keys"]}
    assert known == set(first["names"])  # every engine of the table but one's own documents and retrievers
    assert len(first["asked"]) == len(first["keys"])
    assert second["asked"] == []


async def test_an_answer_is_kept_though_whoever_asked_is_cut_off(memory: Replies) -> None:
    engine, late = Counting(), asyncio.Event()

    class Slow(Replies):
        async def put(self, call: str, text: str, *, is_for_others: bool = True) -> None:
            late.set()
            await super().put(call, text, is_for_others=is_for_others)

    slow = Slow(memory.storage)
    asking = asyncio.create_task(engines(engine, slow).search(QUERY, limit=5))
    await late.wait()
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    for _ in range(500):
        if await memory.get(_CALL):
            break
        await asyncio.sleep(0.01)
    assert (await engines(engine, memory).search(QUERY, limit=5)).hits
    assert len(engine.asked) == 1


def test_documents_of_ones_own_are_searched_every_time(tmp_path: Path) -> None:
    settings = load_settings(home=tmp_path, serper_api_key="k")
    made = engines_for(settings, RunConfig(engines=["serper"], docs=[str(tmp_path)], fallback=False)).cache
    assert made is not None
    assert set(made.engine_keys) == {"serper"}


@pytest.mark.parametrize(
    ("run_config", "is_shared"), [({}, True), ({"reuse": False}, False), ({"fresh": True}, False)]
)
def test_what_is_wanted_fresh_is_not_another_runs(
    tmp_path: Path, run_config: dict[str, bool], is_shared: bool
) -> None:
    settings = load_settings(home=tmp_path, serper_api_key="k")
    kept = engines_for(settings, RunConfig.model_validate({"engines": ["serper"], **run_config})).cache
    assert kept is not None
    assert isinstance(kept.memory, Replies)
    assert kept.memory.is_shared is is_shared
