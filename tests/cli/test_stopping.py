"""A run without an end that was stopped: its report is there, and the run can be ended with it."""

import asyncio
import json
from pathlib import Path

import pytest
from standins.commandline import Fathom
from standins.documents import QUESTION

from fathom.events import ReportKept
from fathom.request import ResearchRequest
from fathom.runs.executor import open_runs
from fathom.runs.folder import open_folder
from fathom.settings import load_settings
from fathom.state import short_id

SINCE = "The research is still going on"


async def _left_in_round(number: int, shelf: Path, folder: Path) -> str:
    request = ResearchRequest(query=QUESTION, docs=[str(shelf)], endless=True, max_sources=1)
    async with open_runs(load_settings()) as runs:
        run_id, _ = await runs.prepare_run(request)
        kept = await open_folder(runs.settings, run_id, folder)
        events = runs.work(run_id, request)
        async for event in events:
            if isinstance(event.payload, ReportKept) and event.payload.result:
                kept.write_report(event.payload.result)
            if event.round == number and event.kind == "search completed":
                break
        await events.aclose()
    return short_id(run_id)


@pytest.fixture
def stopped(shelf: Path, work: Path) -> str:
    """The name of a run that was stopped while it searched for the third time."""
    return asyncio.run(_left_in_round(3, shelf, work / "mine"))


def test_a_stopped_run_shows_its_report_and_ends_with_it(fathom: Fathom, work: Path, stopped: str) -> None:
    kept = work / "mine/report.json"
    assert SINCE in fathom("show", stopped).out
    assert fathom("show", stopped, "--format", "json").code == 2
    assert json.loads(kept.read_text("utf-8"))["metadata"]["rounds"] == 2
    assert fathom("verify", str(kept)).code == 0
    told = fathom("resume", stopped, "--finish", "--out", "mine", "--quiet")
    assert told.code == 0
    assert json.loads(kept.read_text("utf-8"))["status"] == "extracts"
    assert "A person ended the research" in told.out
    assert SINCE not in told.out
    assert fathom("verify", str(kept)).code == 0
    assert fathom("show", stopped).out == told.out
    assert fathom("update", stopped, "--quiet").code == 0


def test_only_finishing_is_an_answer_that_a_stopped_run_takes(fathom: Fathom, stopped: str) -> None:
    assert "is not waiting for an answer" in fathom("resume", stopped, "--approve").err
