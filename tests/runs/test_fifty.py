"""Fifty runs at once in one process on one database: all finish, none is locked, none hears of another."""

import asyncio
import re
from pathlib import Path

import pytest
from standins.library import written

from fathom import DeepResearcher, ResearchRequest
from fathom.events import Progress, ReportKept
from fathom.grammar import complaints
from fathom.settings import load_settings

RUNS = 50
NAME = re.compile(r"Towerville\d+")


def asked(tmp_path: Path, number: int) -> ResearchRequest:
    """A question of one document's own, about a place that no other run knows."""
    text = f"# Towerville{number}\n\nThe tower of Towerville{number} is {number + 20} metres high.\n"
    docs = written(tmp_path / f"docs{number}", {"tower.md": text})
    return ResearchRequest(query=f"How high is the tower of Towerville{number}?", docs=[docs], max_rounds=1)


async def heard(deep: DeepResearcher, request: ResearchRequest) -> list[Progress]:
    return [event async for event in deep.stream(request)]


@pytest.mark.parametrize("is_shared", [True, False], ids=["one researcher", "a researcher each"])
async def test_fifty_runs_at_once(tmp_path: Path, is_shared: bool) -> None:
    settings = load_settings(home=tmp_path)
    requests = [asked(tmp_path, number) for number in range(RUNS)]
    one = DeepResearcher(settings)
    researchers = [one if is_shared else DeepResearcher(settings) for _ in requests]
    told = await asyncio.gather(*map(heard, researchers, requests))
    assert len({events[0].run_id for events in told}) == RUNS
    for number, events in enumerate(told):
        assert complaints(events) == []
        assert events[-1].model_dump()["payload"]["status"] == "extracts"
        lines = "\n".join(event.model_dump_json() for event in events)
        assert set(NAME.findall(lines)) == {f"Towerville{number}"}
        results = [event.payload.result for event in events if isinstance(event.payload, ReportKept)]
        assert [result.run_id for result in results if result] == [events[0].run_id]
        assert f"is {number + 20} metres high" in (results[0].report if results[0] else "")
