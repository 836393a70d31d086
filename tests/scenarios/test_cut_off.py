"""What a call cost that was cut off, and is never made again, is in every figure a person sees."""

import asyncio
import threading
from contextlib import aclosing
from pathlib import Path

import pytest
from standins.charging_model import Cashier
from standins.documents import TIDES, written
from standins.model import Model, ModelRequest
from standins.replies import Reply
from standins.working_model import researcher, scripted

from fathom.events import AnalysisStarted, Completed, Progress
from fathom.request import ResearchRequest
from fathom.runs.executor import open_runs
from fathom.settings import load_settings
from fathom.state import Cost


async def test_a_reading_that_was_cut_off_and_never_made_again_is_paid_and_told(tmp_path: Path) -> None:
    asked = threading.Event()

    def slow(request: ModelRequest) -> Reply:
        asked.set()
        return researcher(request).after(3.0)

    docs = written(tmp_path / "docs", TIDES)
    cashier = Cashier(20.0, 60.0, scripted(read=slow))
    (tmp_path / "prices.toml").write_text(cashier.prices)
    with Model(cashier) as model:
        settings = load_settings(home=tmp_path, base_url=model.base_url, model="stand-in")
        async with open_runs(settings) as runs:
            request = ResearchRequest(query="How much does tidal power cost?", docs=[docs], max_rounds=1)
            run_id, _ = await runs.prepare_run(request)
            async with aclosing(runs.work(run_id, request)) as events:
                async for event in events:
                    if isinstance(event.payload, AnalysisStarted):
                        assert await asyncio.to_thread(asked.wait, 10)
                        break
            stands = await runs.snapshot(run_id)
            costs: list[Cost] = stands.values["costs"]
            told = sum(cost.usd for cost in costs)
            paid = (await runs.line(run_id)).cost_usd
            assert told < cashier.billed_usd <= paid  # by the book, the cut-off ones at their worst
            await runs.finish(run_id)
            last: Progress | None = None
            async for event in runs.work(run_id):
                last = event
            assert last
            assert isinstance(last.payload, Completed)
            result, line = await runs.result(run_id), await runs.line(run_id)
    assert result.metadata.cost_usd == pytest.approx(line.cost_usd, abs=1e-6)
    assert last.spent.usd == pytest.approx(line.cost_usd)
    assert result.metadata.cost_by.role["read"] > 0
    assert line.cost_usd >= cashier.billed_usd
