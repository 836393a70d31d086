"""Machines that share nothing but a PostgreSQL database: each has a home and processes of its own."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import psycopg
import pytest
from standins.commandline import FATHOM, spawned
from standins.documents import TIDES, written
from standins.model import Model
from standins.postgres import new_database, server_address
from standins.working_model import researcher

from fathom import DeepResearcher, ResearchRequest
from fathom.settings import Settings, load_settings
from fathom.storage.postgres_server import connect
from fathom.web.app import make_page_app
from fathom.web.live import LiveRuns

pytestmark = [pytest.mark.postgres, pytest.mark.kill]
QUESTION = "How much does tidal power cost?"
PATIENCE_S = 120.0
MODEL = "gpt-4.1-mini"


def machine(tmp_path: Path, name: str, url: str) -> tuple[Path, dict[str, str]]:
    """Return a folder to work in and an environment with a home of its own."""
    place = tmp_path / name
    place.mkdir()
    return place, {"FATHOM_HOME": str(place / "home"), "FATHOM_DATABASE": url}


@contextmanager
def served(place: Path, environment: dict[str, str]) -> Iterator[str]:
    """The address of the page of a machine whose runs workers do."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with worker(place, environment, "--port", str(port), "--workers", command="serve"):
        address, end = f"http://127.0.0.1:{port}", time.monotonic() + PATIENCE_S
        while True:
            try:
                httpx.get(f"{address}/api/health")
                break
            except httpx.TransportError:
                assert time.monotonic() < end
                time.sleep(0.2)
        yield address


@contextmanager
def worker(
    place: Path, environment: dict[str, str], *words: str, command: str = "worker"
) -> Iterator["subprocess.Popen[bytes]"]:
    """A worker on a machine; ended with the block, by its id."""
    whole = [*FATHOM, command, *words]
    with subprocess.Popen(
        whole, cwd=place, env={**os.environ, **environment}, start_new_session=True
    ) as found:
        try:
            yield found
        finally:
            if found.poll() is None:
                found.terminate()
                try:
                    found.wait(20)
                except subprocess.TimeoutExpired:
                    found.kill()


async def until_over(deep: DeepResearcher, run_id: str) -> str:
    """Return a run's status once it has a report."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        lines = [line for line in await deep.runs() if line.id == run_id]
        if lines and lines[0].status in {"complete", "partial", "unsure", "extracts"}:
            return lines[0].status
        await asyncio.sleep(0.5)
    raise AssertionError(f"no report: {[(line.status, line.id) for line in await deep.runs()]}")


async def test_begun_on_one_steered_in_the_page_of_another_finished_on_a_third_verified_on_a_fourth(
    tmp_path: Path,
) -> None:
    docs = written(tmp_path / "share", TIDES)
    url = new_database("machines").url.get_secret_value()
    a, b, c, d = (machine(tmp_path, name, url) for name in "abcd")
    words = [QUESTION, "--docs", str(docs), "--review", "rounds", "--rounds", "2", "--json"]
    begun = await asyncio.to_thread(spawned, words, *a)
    assert begun.code == 3, begun
    (line,) = json.loads((await asyncio.to_thread(spawned, ["runs", "--json"], *b)).out)
    run_id = line["id"]
    added = "tidal power subsidies"
    with worker(*c, "--at-once", "2"), served(*b) as address:
        async with httpx.AsyncClient(base_url=address, headers={"origin": address}, timeout=60) as page:
            told = {"word": "add", "text": added}
            assert (await page.post(f"/api/runs/{run_id}/control", json=told)).status_code == 200
            while (status := await _standing(page, run_id)) != "extracts":  # approved on B, done on C
                if status == "waiting for review":
                    answer = {"action": "approve"}
                    assert (await page.post(f"/api/runs/{run_id}/answer", json=answer)).status_code == 200
                await asyncio.sleep(0.5)
            lines = (await page.get(f"/api/runs/{run_id}/events")).text.splitlines()
        events = [json.loads(line[6:]) for line in lines if line.startswith("data: ")]
        heard = [event["kind"] for event in events if "kind" in event]
    assert heard[0] == "started"
    assert heard[-1] == "completed"
    exported = await asyncio.to_thread(spawned, ["export", run_id, "--to", "out/"], *d)
    assert exported.code == 0, exported
    verified = await asyncio.to_thread(spawned, ["verify", "out/report.json"], *d)
    assert verified.code == 0, verified
    assert (d[0] / "out" / "events.jsonl").read_text("utf-8").count("\n") == len(heard)
    there = DeepResearcher(load_settings(home=b[0] / "home", database_url=url))
    result = await there.result(run_id)
    assert added in [query.text for query in result.asked]
    assert not (a[0] / "home" / "fathom.sqlite").exists()


async def test_killed_workers_cost_their_calls_in_flight_and_nothing_else(tmp_path: Path) -> None:
    docs = written(tmp_path / "share", TIDES)
    url = new_database("killed").url.get_secret_value()
    with Model(researcher) as model:
        settings = load_settings(
            home=tmp_path / "client",
            database_url=url,
            base_url=model.base_url,
            openai_api_key="k",
            model=MODEL,
        )
        deep = DeepResearcher(settings)
        own = {"FATHOM_BASE_URL": model.base_url, "OPENAI_API_KEY": "k", "FATHOM_MODEL": MODEL}
        homes = [(place, {**words, **own}) for place, words in (machine(tmp_path, n, url) for n in "abc")]
        runs = [await deep.submit(_request(f"{QUESTION} ({n})", docs)) for n in range(3)]
        assert {line.status for line in await deep.runs()} == {"queued"}
        with worker(*homes[0]) as first:
            await _until_called(model, 4)
            os.kill(first.pid, signal.SIGKILL)
            first.wait()
        in_flight = len(model.requests) - _calls(settings)
        with worker(*homes[1]), worker(*homes[2]):
            statuses = [await until_over(deep, run_id) for run_id in runs]
        assert len(statuses) == len(runs)
        assert _paid_twice(settings) == 0
        assert len(model.requests) - _calls(settings) <= in_flight


async def test_a_run_whose_worker_was_killed_before_its_first_checkpoint_is_begun_anew(
    tmp_path: Path,
) -> None:
    docs = written(tmp_path / "share", TIDES)
    url = new_database("unbegun").url.get_secret_value()
    settings = load_settings(home=tmp_path / "client", database_url=url)
    deep = DeepResearcher(settings)
    homes = [machine(tmp_path, name, url) for name in "ab"]
    run_id = await deep.submit(_request(QUESTION, docs))
    with psycopg.connect(url) as server:
        server.execute("lock table checkpoints in exclusive mode")  # until the end of the block
        with worker(*homes[0]) as first:
            end = time.monotonic() + PATIENCE_S
            while not _count(settings, "events"):
                assert time.monotonic() < end
                await asyncio.sleep(0.1)
            os.kill(first.pid, signal.SIGKILL)
            first.wait()
        others = "from pg_stat_activity where datname = 'unbegun' and pid <> pg_backend_pid()"
        server.execute(f"select pg_terminate_backend(pid, 9000) {others}")  # what waits is never written
    assert _count(settings, "run_configs")
    assert _count(settings, "checkpoints") == 0
    with worker(*homes[1]):
        assert await until_over(deep, run_id) == "extracts"


async def test_a_server_that_is_away_for_a_moment_costs_no_report_and_no_answer_twice(tmp_path: Path) -> None:
    docs = written(tmp_path / "share", TIDES)
    url = new_database("away").url.get_secret_value()
    with Model(researcher) as model:
        given = {"base_url": model.base_url, "openai_api_key": "k", "model": MODEL}
        settings = load_settings(home=tmp_path / "client", database_url=url, **given)
        deep = DeepResearcher(settings)
        own = {"FATHOM_BASE_URL": model.base_url, "OPENAI_API_KEY": "k", "FATHOM_MODEL": MODEL}
        homes = [(place, {**words, **own}) for place, words in (machine(tmp_path, n, url) for n in "ab")]
        runs = [await deep.submit(_request(f"{QUESTION} ({n})", docs)) for n in range(3)]
        with worker(*homes[0], "--at-once", "2"), worker(*homes[1], "--at-once", "1"):
            await _until_called(model, 3)
            with psycopg.connect(server_address(), autocommit=True) as server:
                server.execute("alter database away allow_connections false")
                everybody = "from pg_stat_activity where datname = 'away'"
                server.execute(f"select pg_terminate_backend(pid, 9000) {everybody}")
                await asyncio.sleep(3)
                server.execute("alter database away allow_connections true")
            for run_id in runs:
                await until_over(deep, run_id)
        assert _paid_twice(settings) == 0


async def test_a_worker_that_slept_while_another_took_its_run_over_stops(tmp_path: Path) -> None:
    docs = written(tmp_path / "share", TIDES)
    url = new_database("slept").url.get_secret_value()
    with Model(researcher) as model:
        prices = tmp_path / "prices.toml"
        prices.write_text(f'[models."{MODEL}"]\ninput = 0.4\noutput = 1.6\n', "utf-8")
        given = {"base_url": model.base_url, "openai_api_key": "k", "model": MODEL, "prices_file": prices}
        settings = load_settings(home=tmp_path / "client", database_url=url, **given)
        deep = DeepResearcher(settings)
        own = {"FATHOM_BASE_URL": model.base_url, "OPENAI_API_KEY": "k", "FATHOM_MODEL": MODEL}
        own["FATHOM_PRICES_FILE"] = str(prices)
        place, words = machine(tmp_path, "a", url)
        run_id = await deep.submit(_request(QUESTION, docs))
        with worker(place, {**words, **own}) as sleeper:
            await _until_called(model, 3)
            os.kill(sleeper.pid, signal.SIGSTOP)
            in_flight = _count(settings, "payments where settled_at is null")
            with connect(settings.database) as server:  # type: ignore[arg-type]
                found = "from pg_locks where locktype = 'advisory' and pid <> pg_backend_pid()"
                server.execute(f"select pg_terminate_backend(pid, 9000) {found}")
            result = await deep.resume(run_id)
            before = [len(model.requests), _count(settings, "checkpoints"), _count(settings, "events")]
            os.kill(sleeper.pid, signal.SIGCONT)
            end = time.monotonic() + PATIENCE_S
            while _count(settings, "procrastinate_jobs where status = 'doing' or status = 'todo'"):
                assert time.monotonic() < end
                await asyncio.sleep(0.2)
        after = [len(model.requests), _count(settings, "checkpoints"), _count(settings, "events")]
        assert after[1:] == before[1:]
        assert after[0] - before[0] <= in_flight  # what it had paid for when it fell asleep
        assert _paid_twice(settings) <= in_flight
        assert (await deep.result(run_id)).report == result.report


async def test_the_page_of_a_server_with_workers_steers_runs_that_workers_do(tmp_path: Path) -> None:
    docs = written(tmp_path / "share", TIDES)
    url = new_database("paged").url.get_secret_value()
    settings = load_settings(home=tmp_path / "page", database_url=url, docs_roots=[tmp_path / "share"])
    place, words = machine(tmp_path, "a", url)
    app = make_page_app(settings, by_workers=True)
    transport = httpx.ASGITransport(app=app)
    origin = "http://127.0.0.1:8321"
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url=origin) as page,
    ):
        asked = {"query": QUESTION, "config": {"docs": [str(docs)], "rounds": 1, "review": "plan"}}
        run_id = (await page.post("/api/runs", json=asked, headers={"origin": origin})).json()["id"]
        assert await _standing(page, run_id) == "running"
        assert _count(settings, "events") == 0  # nobody works here
        with worker(place, words):
            while await _standing(page, run_id) != "waiting for review":  # noqa: ASYNC110 - by a worker
                await asyncio.sleep(0.5)
            added = {"word": "add", "text": "tidal power subsidies"}
            await page.post(f"/api/runs/{run_id}/control", json=added, headers={"origin": origin})
            answer = {"action": "approve"}
            heard = await page.post(f"/api/runs/{run_id}/answer", json=answer, headers={"origin": origin})
            assert heard.json() == {"is_heard": True}
            async with page.stream("GET", f"/api/runs/{run_id}/events") as told:
                kinds = [
                    json.loads(line[6:]).get("kind")
                    async for line in told.aiter_lines()
                    if line[:6] == "data: "
                ]
            assert kinds[0] == "started"
            assert "completed" in kinds
            result = (await page.get(f"/api/runs/{run_id}/result")).json()
            assert "tidal power subsidies" in [query["text"] for query in result["asked"]]
            follow = {"query": "And what does it cost a year?", "config": {"docs": [str(docs)], "rounds": 1}}
            for path, body in (("follow-up", follow), ("update", {})):
                begun = await page.post(f"/api/runs/{run_id}/{path}", json=body, headers={"origin": origin})
                assert await until_over(DeepResearcher(settings), begun.json()["id"])


async def _standing(page: httpx.AsyncClient, run_id: str) -> str:
    told = (await page.get(f"/api/runs/{run_id}")).json()
    assert not told["problem"]
    return str(told["status"])


def _request(question: str, docs: str) -> ResearchRequest:
    return ResearchRequest(query=question, docs=[docs], rounds=1, reuse=False)


async def _until_called(model: Model, calls: int) -> None:
    end = time.monotonic() + PATIENCE_S
    while len(model.requests) < calls and time.monotonic() < end:  # noqa: ASYNC110 - another thread serves
        await asyncio.sleep(0.05)


def _paid_twice(settings: Settings) -> int:
    """How many calls of a run have two settled lines."""
    return _count(
        settings, "(select 1 from payments group by run, call having count(settled_at) > 1) as twice"
    )


def _calls(settings: Settings) -> int:
    return _count(settings, "payments where settled_at is not null")


def _count(settings: Settings, what: str) -> int:
    with connect(settings.database) as server:  # type: ignore[arg-type]
        ((found,),) = server.execute(f"select count(*) from {what}").fetchall()
    return int(found)


async def test_the_page_of_one_machine_shows_what_a_run_tells_on_another(tmp_path: Path) -> None:
    docs = written(tmp_path / "share", TIDES)
    url = new_database("watched").url.get_secret_value()
    there = DeepResearcher(load_settings(home=tmp_path / "there", database_url=url))
    result = await there.research(ResearchRequest(query=QUESTION, docs=[str(docs)], rounds=1))
    here = DeepResearcher(load_settings(home=tmp_path / "here", database_url=url))
    live = LiveRuns(here, tmp_path / "runs", here.shared_events)
    told = [one async for one in live.stream(result.run_id, None, 0)]
    kinds = [json.loads(str(one.data))["kind"] for one in told if one.event is None]
    assert kinds[0] == "started"
    assert kinds[-1] == "completed"
    rest = [one async for one in live.stream(result.run_id, None, len(kinds) - 1)]
    assert [one.id for one in rest if one.event is None] == [str(len(kinds))]
