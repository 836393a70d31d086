"""The list of runs comes straight from the storage, and is right also when a run went on elsewhere."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest
from standins.documents import TIDES, written

from fathom import DeepResearcher, ResearchRequest
from fathom.runs import list_runs
from fathom.runs.executor import open_runs
from fathom.settings import Settings, load_settings
from fathom.storage import open_storage

QUESTION = "How much does tidal power cost?"
HEAVY = ("langgraph", "langchain", "langsmith", "openai", "httpx", "numpy", "tantivy")
MOST_CPU_S = 1.0


async def finished(home: Path) -> tuple[Settings, str]:
    docs = written(home / "docs", TIDES)
    settings = load_settings(home=home)
    request = ResearchRequest(query=QUESTION, docs=[docs], rounds=1)
    return settings, (await DeepResearcher(settings).research(request)).run_id


@pytest.mark.sqlite
def test_listing_runs_loads_neither_langgraph_nor_langchain_and_is_quick(tmp_path: Path) -> None:
    settings, run_id = asyncio.run(finished(tmp_path))
    code = (
        "import json, sys, time\nfrom fathom.cli import main\nmain(['runs', '--full'])\n"
        "loaded = sorted({name.partition('.')[0] for name in sys.modules})\n"
        "print(json.dumps([loaded, time.process_time()]), file=sys.stderr)"
    )
    told = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True, text=True, check=True, cwd=tmp_path,
        env={"FATHOM_HOME": str(settings.home), "PATH": "/usr/bin"},
    )  # fmt: skip
    assert run_id in told.stdout
    assert QUESTION in told.stdout
    loaded, seconds = json.loads(told.stderr)
    assert [name for name in loaded if name.startswith(HEAVY)] == []
    assert seconds < MOST_CPU_S


async def test_a_run_without_a_line_is_read_from_its_checkpoints_and_then_remembered(tmp_path: Path) -> None:
    settings, run_id = await finished(tmp_path)
    (kept,) = await list_runs(settings)
    storage = open_storage(settings.database)
    (record,) = await storage.runs.latest(9)
    assert (record.run, record.status) == (run_id, kept.status)
    # As if the run had gone on elsewhere since.
    old = {**vars(record), "status": "waiting for review", "last_step": "0"}
    await storage.runs.remember(type(record)(**old))
    assert await list_runs(settings) == [kept]
    assert (await storage.runs.latest(9))[0].status == kept.status


async def test_the_list_and_the_run_itself_say_the_same(tmp_path: Path) -> None:
    settings, run_id = await finished(tmp_path)
    async with open_runs(settings) as runs:
        assert await list_runs(settings) == [await runs.line(run_id)]
