"""A model that is away for a while, or limits its callers, costs that while and not the run; scaled down."""

import time
from pathlib import Path

from standins.library import TIDES, written
from standins.model import Model, ModelRequest, most_at_once
from standins.replies import Reply
from standins.researcher import form_of, researcher

from fathom import DeepResearcher, ResearchRequest
from fathom.settings import load_settings

QUESTION = "How much does tidal power cost?"
AWAY_S = 2.0


async def test_a_model_that_is_away_in_the_middle_of_a_run_is_waited_for(tmp_path: Path) -> None:
    docs = written(tmp_path / "docs", TIDES)
    away: list[float] = []

    def answer(request: ModelRequest) -> Reply:
        if form_of(request) != "plan":
            away.append(time.monotonic())
        is_away = bool(away) and time.monotonic() - away[0] < AWAY_S
        return Reply.broken(503) if is_away else researcher(request)

    with Model(answer) as model:
        settings = load_settings(home=tmp_path, base_url=model.base_url, outage_s=60)
        request = ResearchRequest(query=QUESTION, docs=[docs], model="stand-in")
        began = time.monotonic()
        result = await DeepResearcher(settings).research(request)
        failed = [seen for seen in model.calls if seen.status == 503]
    assert result.status == "complete"
    assert result.errors == []
    assert AWAY_S <= time.monotonic() - began < AWAY_S + 20
    # The four pages that were being read fail together; from then on one asks for all of them.
    assert len(failed) <= len(TIDES) + 5


async def test_callers_that_are_told_to_wait_do_and_come_back_one_by_one(tmp_path: Path) -> None:
    docs = written(tmp_path / "docs", TIDES)
    limited: list[float] = []

    def answer(request: ModelRequest) -> Reply:
        if form_of(request) == "read" and len(limited) < len(TIDES):
            limited.append(time.monotonic())
            return Reply.too_fast(wait_s=1.0)
        return researcher(request).after(0.05)

    with Model(answer) as model:
        settings = load_settings(home=tmp_path, base_url=model.base_url)
        request = ResearchRequest(query=QUESTION, docs=[docs], model="stand-in")
        result = await DeepResearcher(settings).research(request)
        later = [seen for seen in model.calls if seen.arrived > limited[0] + 0.5]
    assert result.status == "complete"
    assert result.errors == []
    assert min(seen.arrived for seen in later) >= limited[0] + 1.0
    assert most_at_once(sorted(later, key=lambda seen: seen.arrived)[:2]) == 1
