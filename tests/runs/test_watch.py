"""Watched reports are brought up to date when they are due, once, and the change is told."""

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from contextlib import aclosing, contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from standins.documents import QUESTION, stocked

from fathom import BadInput, BatchStop, DeepResearcher, ResearchRequest, ResearchResult
from fathom.errors import RunStopped
from fathom.runs.watch import run_due
from fathom.settings import Settings, load_settings
from fathom.storage import open_storage
from fathom.storage.records import Watch

pytestmark = pytest.mark.whole
WEEK_S = 7 * 86400


class Clock:
    """Time that passes when it is told to."""

    def __init__(self) -> None:
        self.now = time.time()

    def __call__(self) -> float:
        return self.now


@contextmanager
def _listening(status: int = 200) -> Iterator[tuple[list[Any], str]]:
    heard: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            heard.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(status)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the package's name
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield heard, f"http://127.0.0.1:{server.server_port}/told"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    return stocked(tmp_path / "shelf")


@pytest.fixture
def settings(tmp_path: Path, shelf: Path) -> Settings:
    hosts = ["127.0.0.1"]
    return load_settings(home=tmp_path / "home", docs_roots=[shelf], local_servers={}, webhook_hosts=hosts)


async def _finished(researcher: DeepResearcher, shelf: Path) -> str:
    request = ResearchRequest(query=QUESTION, docs=[str(shelf)], rounds=1)
    return (await researcher.research(request)).run_id


async def test_a_report_is_updated_when_it_is_due_and_the_next_update_builds_on_it(
    settings: Settings, shelf: Path, tmp_path: Path
) -> None:
    clock = Clock()
    with _listening() as (heard, address):
        async with DeepResearcher(settings, out=tmp_path / "runs") as researcher:
            run = await _finished(researcher, shelf)
            await researcher.watch(run[:8], "7d", webhook=address)
            assert await researcher.run_watches(clock) == []
            wind = shelf / "wind.md"
            wind.write_text(wind.read_text("utf-8").replace("45 percent", "46 percent"), "utf-8")
            clock.now += WEEK_S + 60
            (outcome,) = await researcher.run_watches(clock)
            assert outcome.result is not None
            assert outcome.result.update is not None
            assert "wind" in outcome.digest.lower()
            digests = list((tmp_path / "runs").glob("*/digest.md"))
            assert [path.read_text("utf-8") for path in digests] == [outcome.digest]
            assert [told["run_id"] for told in heard] == [outcome.result.run_id]
            assert heard[0]["watched"] == run
            assert await researcher.run_watches(clock) == []
            (watched,) = await researcher.watches()
            assert (watched.run, watched.latest) == (run, outcome.result.run_id)
            clock.now += WEEK_S + 60
            (second,) = await researcher.run_watches(clock)
            assert "Nothing changed" in second.digest
            assert second.result is not None
            assert second.result.update is not None
            assert second.result.update.run == outcome.result.run_id
            await researcher.unwatch(run)
            assert await researcher.watches() == []


async def test_two_who_look_at_once_do_not_update_twice(settings: Settings, shelf: Path) -> None:
    clock = Clock()
    async with DeepResearcher(settings) as one, DeepResearcher(settings) as other:
        await one.watch(await _finished(one, shelf), "1d")
        clock.now += 2 * 86400
        both = await asyncio.gather(one.run_watches(clock), other.run_watches(clock))
        assert sorted(len(outcomes) for outcomes in both) == [0, 1]


async def test_an_update_that_fails_is_told_and_tried_again(settings: Settings, shelf: Path) -> None:
    clock = Clock()

    async def failing(_: Watch) -> tuple[ResearchResult, Path | None]:
        raise RunStopped("The model is away.")

    async with DeepResearcher(settings) as researcher:
        run = await _finished(researcher, shelf)
        await researcher.watch(run, "1d")
        clock.now += 2 * 86400
        due = run_due(open_storage(settings.database), failing, clock, [])
        (outcome,) = [outcome async for outcome in due]
        assert outcome.result is None
        assert outcome.watch.problem == "The model is away."
        assert outcome.watch.latest == run
        assert await researcher.run_watches(clock) == []
        clock.now += 2 * 3600
        (outcome,) = await researcher.run_watches(clock)
        assert outcome.result is not None
        assert not outcome.watch.problem


async def test_an_update_that_was_cut_off_is_finished_and_not_begun_again(
    settings: Settings, shelf: Path
) -> None:
    clock, storage = Clock(), open_storage(settings.database)
    async with DeepResearcher(settings) as researcher:
        run = await _finished(researcher, shelf)
        await researcher.watch(run, "1d")
        begun = await researcher.begin_update(run)
        async with aclosing(begun.events()) as events:
            async for event in events:
                if event.kind == "search completed":
                    break
        await storage.watches.begin(run, begun.id)
        clock.now += 2 * 86400
        (outcome,) = await researcher.run_watches(clock)
        assert outcome.result is not None
        assert outcome.result.run_id == begun.id


async def test_a_report_that_is_watched_no_longer_stays_so_when_its_update_ends(
    settings: Settings, shelf: Path
) -> None:
    clock, storage = Clock(), open_storage(settings.database)
    async with DeepResearcher(settings) as researcher:
        run = await _finished(researcher, shelf)
        await researcher.watch(run, "1d")
        result = await researcher.result(run)

        async def unwatching(_: Watch) -> tuple[ResearchResult, Path | None]:
            await researcher.unwatch(run)
            return result, Path("/nowhere/at/all")

        clock.now += 2 * 86400
        (outcome,) = [one async for one in run_due(storage, unwatching, clock, [])]
        assert "cannot be written" in outcome.watch.problem
        assert await researcher.watches() == []


async def test_runs_of_watched_reports_are_not_cleaned_away(settings: Settings, shelf: Path) -> None:
    async with DeepResearcher(settings) as researcher:
        run = await _finished(researcher, shelf)
        other = await _finished(researcher, shelf)
        await researcher.watch(run, "1d")
        choice = await researcher.choose_old(None, keep=0)
        assert [line.id for line in choice.gone] == [other]


async def test_a_webhook_that_refuses_is_told_and_costs_nothing_else(settings: Settings, shelf: Path) -> None:
    clock = Clock()
    with _listening(503) as (_, address):
        async with DeepResearcher(settings) as researcher:
            await researcher.watch(await _finished(researcher, shelf), "1d", webhook=address)
            clock.now += 2 * 86400
            (outcome,) = await researcher.run_watches(clock)
            assert outcome.result is not None
            assert "503" in outcome.watch.problem


@pytest.mark.parametrize(
    ("every", "webhook"),
    [
        ("often", ""),
        ("5m", ""),
        ("7d", "ftp://127.0.0.1/x"),
        ("7d", "http://elsewhere.example/x"),
        ("7d", "x"),
    ],
)
async def test_what_makes_no_sense_is_refused(
    settings: Settings, shelf: Path, every: str, webhook: str
) -> None:
    async with DeepResearcher(settings) as researcher:
        run = await _finished(researcher, shelf)
        with pytest.raises(BadInput):
            await researcher.watch(run, every, webhook=webhook)
        with pytest.raises(BadInput):
            await researcher.unwatch(run)


@pytest.mark.postgres
async def test_a_worker_brings_watched_reports_up_to_date(tmp_path: Path, shelf: Path) -> None:
    from standins.postgres import new_database

    address = new_database("watching").url.get_secret_value()
    settings = load_settings(
        home=tmp_path / "home", database_url=address, docs_roots=[shelf], local_servers={}
    )
    stop = BatchStop()
    async with DeepResearcher(settings) as researcher:
        run = await _finished(researcher, shelf)
        made = await researcher.watch(run, "1d")
        await open_storage(settings.database).watches.put(replace(made, due=0))
        working = asyncio.create_task(researcher.work(1, stop=stop))
        while (await researcher.watches())[0].latest == run:
            assert not working.done()
            await asyncio.sleep(0.1)
        stop.request()
        await working
