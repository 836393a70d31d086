"""How many searches a run makes at once is a setting, and how many pages all runs together read at once."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from fathom.budget import Budget
from fathom.graph import standard_dependencies
from fathom.reading import Document
from fathom.reading.readers import LimitedReader, reader_slots
from fathom.search import Capability
from fathom.search.engines import engines_for
from fathom.search.federated import FederatedSearch, search_slots
from fathom.settings import load_settings
from fathom.state import Hit, Query, RunConfig
from fathom.storage import open_storage

HIT = Hit(query="q", address="https://a.example", title="", snippet="", engine="e", rank=1)


@dataclass
class Counting:
    """A source and an engine that count how often they are asked at once."""

    name: str = "counting"
    capabilities: frozenset[Capability] = frozenset()
    inside: int = 0
    most: int = 0
    asked: list[str] = field(default_factory=list)
    awaited: int = 1  # nobody leaves before so many were inside at once, or ten seconds are over
    reached: asyncio.Event = field(default_factory=asyncio.Event)

    async def _asked(self) -> None:
        self.inside += 1
        self.most = max(self.most, self.inside)
        if self.inside >= self.awaited:
            self.reached.set()
        with suppress(TimeoutError):
            await asyncio.wait_for(self.reached.wait(), 10)
        await asyncio.sleep(0.005)
        self.inside -= 1

    async def __call__(self, hit: Hit | Query, *, limit: int = 0) -> Document | list[Hit]:
        self.asked.append(type(hit).__name__)
        await self._asked()
        return [HIT] if isinstance(hit, Query) else Document("text", "title", "how")


@pytest.mark.parametrize("at_once", [1, 3])
async def test_pages_are_read_so_many_at_once(at_once: int) -> None:
    counting = Counting()
    # Two readers, as two runs have them: the places are shared.
    readers = [LimitedReader(counting, reader_slots(at_once)) for _ in range(2)]  # type: ignore[arg-type]
    await asyncio.gather(*(reader(HIT) for reader in readers for _ in range(6)))
    assert (counting.most, len(counting.asked)) == (at_once, 12)


@pytest.mark.parametrize("at_once", [1, 3])
async def test_each_run_has_its_own_places_for_searches(at_once: int, tmp_path: Path) -> None:
    runs = {name: Counting() for name in ("first", "second")}
    together = Counting(awaited=at_once + 1)

    def of(name: str) -> FederatedSearch:
        """A run's engines as every step makes them anew."""
        engines = FederatedSearch((runs[name], together), places=search_slots(at_once))  # type: ignore[arg-type]
        return engines.within(Budget(open_storage(tmp_path / "b.sqlite").costs, name, 1.0))

    query = Query(id="q", text="tides", question="s", round=1)
    await asyncio.gather(*(of(name).search(query, limit=3) for name in runs for _ in range(6)))
    assert [(run.most <= at_once, len(run.asked)) for run in runs.values()] == [(True, 6)] * 2
    assert at_once < together.most <= 2 * at_once


def test_the_settings_say_how_many(tmp_path: Path) -> None:
    settings = load_settings(home=tmp_path, parallel_searches=2, parallel_extractions=4)
    assert engines_for(settings, RunConfig()).places is search_slots(2)
    reader = standard_dependencies(settings)(RunConfig()).reader
    assert isinstance(reader, LimitedReader)
    assert reader.places is reader_slots(4)
