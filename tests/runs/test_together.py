"""Several runs at once, and one run wanted twice."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest
from filelock import FileLock
from standins.library import CHEESE, TIDES, written
from standins.model import Model
from standins.researcher import researcher

from fathom import BadInput, DeepResearcher, ResearchRequest
from fathom.run_index import list_runs
from fathom.runs import open_runs
from fathom.settings import load_settings
from fathom.state import ReviewAnswer

QUESTION = "How much does tidal power cost?"
HOLDING = """
import sys
from filelock import FileLock
with FileLock(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""


def held(lock: Path) -> "subprocess.Popen[str]":
    """A process that holds the lock until it is ended."""
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDING, str(lock)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout
    assert holder.stdout.readline() == "held\n"
    return holder


async def test_two_runs_with_models_of_their_own_share_a_database(tmp_path: Path) -> None:
    tides, cheese = written(tmp_path / "tides", TIDES), written(tmp_path / "cheese", CHEESE)
    with Model(researcher) as one, Model(researcher) as other:
        first = DeepResearcher(load_settings(home=tmp_path, base_url=one.base_url))
        second = DeepResearcher(load_settings(home=tmp_path, base_url=other.base_url))
        results = await asyncio.gather(
            first.research(ResearchRequest(query=QUESTION, docs=[tides], model="stand-in")),
            second.research(ResearchRequest(query="How long does cheese ripen?", docs=[cheese], model="b")),
        )
    assert [result.status for result in results] == ["complete", "complete"]
    assert {Path(page.address).parent.name for page in results[0].sources} == {"tides"}
    assert {Path(page.address).parent.name for page in results[1].sources} == {"cheese"}
    assert "cheese" not in results[0].report
    assert "Swale" not in results[1].report


async def test_eight_runs_in_one_process_do_not_disturb_each_other(tmp_path: Path) -> None:
    docs = written(tmp_path / "docs", TIDES)
    researcher_ = DeepResearcher(load_settings(home=tmp_path))
    request = ResearchRequest(query=QUESTION, docs=[docs])
    results = await asyncio.gather(*(researcher_.research(request) for _ in range(8)))
    assert len({result.run_id for result in results}) == 8
    assert {result.status for result in results} == {"extracts"}
    assert len({str(result.sections) for result in results}) == 1


async def test_eight_runs_of_one_set_of_runs_share_a_saver(tmp_path: Path) -> None:
    docs = written(tmp_path / "docs", TIDES)
    request = ResearchRequest(query=QUESTION, docs=[docs])
    async with open_runs(load_settings(home=tmp_path)) as runs:

        async def one() -> str:
            run_id, _ = await runs.begin(request)
            async for _ in runs.work(run_id, request):
                pass
            return (await runs.result(run_id)).status

        assert set(await asyncio.gather(*(one() for _ in range(8)))) == {"extracts"}
        assert len(await list_runs(runs.settings)) == 8


async def test_a_run_that_another_process_holds_is_refused(tmp_path: Path) -> None:
    docs = written(tmp_path / "docs", TIDES)
    settings = load_settings(home=tmp_path)
    request = ResearchRequest(query=QUESTION, docs=[docs], review="rounds")
    events = [event async for event in DeepResearcher(settings).stream(request)]
    run_id, approve = events[0].run_id, ReviewAnswer(action="approve")
    lock = tmp_path / "locks" / f"{run_id}.lock"
    holder = held(lock)
    with pytest.raises(BadInput, match="worked on by another process"):
        await DeepResearcher(settings).resume(run_id, approve)
    holder.kill()
    holder.communicate()
    result = await DeepResearcher(settings).resume(run_id, approve)
    assert result.status == "extracts"


async def test_a_run_that_this_process_works_on_is_refused_too(tmp_path: Path) -> None:
    docs = written(tmp_path / "docs", TIDES)
    settings = load_settings(home=tmp_path)
    request = ResearchRequest(query=QUESTION, docs=[docs], review="rounds")
    events = [event async for event in DeepResearcher(settings).stream(request)]
    run_id = events[0].run_id
    with (
        FileLock(tmp_path / "locks" / f"{run_id}.lock"),
        pytest.raises(BadInput, match="worked on by another process"),
    ):
        await DeepResearcher(settings).resume(run_id, ReviewAnswer(action="approve"))
