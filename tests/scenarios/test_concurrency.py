"""Several runs at once, and one run wanted twice."""

import asyncio
import re
import subprocess
import sys
from pathlib import Path

import pytest
from checks.event_order import find_order_faults
from filelock import FileLock
from standins.documents import CHEESE, QUESTION, TIDES, stocked, written
from standins.model import Model
from standins.working_model import researcher

from fathom import BadInput, DeepResearcher, ResearchRequest
from fathom.events import Progress, ReportKept
from fathom.runs import list_runs
from fathom.runs.executor import open_runs
from fathom.settings import Settings, load_settings
from fathom.state import ReviewAnswer


@pytest.fixture
def docs(tmp_path: Path) -> str:
    return str(stocked(tmp_path / "shelf"))


def settings_of(model: Model, home: Path) -> Settings:
    return load_settings(home=home, base_url=model.base_url, model="stand-in")


def asking(docs: str, number: int) -> ResearchRequest:
    return ResearchRequest(query=f"{QUESTION} {number}", docs=[docs], max_rounds=1)


def test_a_script_that_waits_for_two_questions_in_turn_gets_both_from_its_model(
    docs: str, tmp_path: Path
) -> None:
    with Model(researcher) as model:
        one = DeepResearcher(settings_of(model, tmp_path))
        results = [one.research_sync(asking(docs, number)) for number in (1, 2)]
    assert [result.errors for result in results] == [[], []]
    assert all(result.metadata.model_calls for result in results)


async def test_who_ends_first_closes_nothing_that_another_works_with(docs: str, tmp_path: Path) -> None:
    with Model(researcher) as model:
        settings = settings_of(model, tmp_path)
        short = DeepResearcher(settings).research(asking(docs, 1))
        long = DeepResearcher(settings).research(
            ResearchRequest(query=QUESTION, docs=[docs], max_rounds=2, threshold=1.0)
        )
        results = await asyncio.gather(short, long)
    assert [result.errors for result in results] == [[], []]


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
        assert find_order_faults(events) == []
        assert events[-1].model_dump()["payload"]["status"] == "extracts"
        lines = "\n".join(event.model_dump_json() for event in events)
        assert set(NAME.findall(lines)) == {f"Towerville{number}"}
        results = [event.payload.result for event in events if isinstance(event.payload, ReportKept)]
        assert [result.run_id for result in results if result] == [events[0].run_id]
        assert f"is {number + 20} metres high" in (results[0].report if results[0] else "")


SHARED_QUESTION = "How much does tidal power cost?"

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
            first.research(ResearchRequest(query=SHARED_QUESTION, docs=[tides], model="stand-in")),
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
    request = ResearchRequest(query=SHARED_QUESTION, docs=[docs])
    results = await asyncio.gather(*(researcher_.research(request) for _ in range(8)))
    assert len({result.run_id for result in results}) == 8
    assert {result.status for result in results} == {"extracts"}
    assert len({str(result.sections) for result in results}) == 1


async def test_eight_runs_of_one_set_of_runs_share_a_saver(tmp_path: Path) -> None:
    docs = written(tmp_path / "docs", TIDES)
    request = ResearchRequest(query=SHARED_QUESTION, docs=[docs])
    async with open_runs(load_settings(home=tmp_path)) as runs:

        async def one() -> str:
            run_id, _ = await runs.prepare_run(request)
            async for _ in runs.work(run_id, request):
                pass
            return (await runs.result(run_id)).status

        assert set(await asyncio.gather(*(one() for _ in range(8)))) == {"extracts"}
        assert len(await list_runs(runs.settings)) == 8


async def test_a_run_that_another_process_holds_is_refused(tmp_path: Path) -> None:
    docs = written(tmp_path / "docs", TIDES)
    settings = load_settings(home=tmp_path)
    request = ResearchRequest(query=SHARED_QUESTION, docs=[docs], review="rounds")
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
    request = ResearchRequest(query=SHARED_QUESTION, docs=[docs], review="rounds")
    events = [event async for event in DeepResearcher(settings).stream(request)]
    run_id = events[0].run_id
    with (
        FileLock(tmp_path / "locks" / f"{run_id}.lock"),
        pytest.raises(BadInput, match="worked on by another process"),
    ):
        await DeepResearcher(settings).resume(run_id, ReviewAnswer(action="approve"))
