"""Cleaning up: the room comes back, and whatever a run that stays may need is still there."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import pytest
from fakes.run_parts import Library, ScriptedModel, make_dependencies
from standins.commandline import spawned
from standins.prose import page
from standins.rows import rows_of

from fathom.errors import BadInput, Refused
from fathom.graph import CustomDependencies, Dependencies, build_graph
from fathom.nodes.ports import PagesPort
from fathom.report.ledger import read_ledger
from fathom.report.verify import verify_report
from fathom.runs.control import hold_run
from fathom.runs.event_stream import graph_config
from fathom.runs.executor import Runs, open_runs
from fathom.runs.folder import open_folder
from fathom.runs.prune import PruneResult, choose_runs, clean_runs, parse_age
from fathom.runs.round_summary import spent_by_run
from fathom.runs.verify import stored_fates, stored_texts
from fathom.settings import load_settings
from fathom.state import RunConfig, RunState, Section
from fathom.state.model_io import ModelResult
from fathom.storage import content, open_storage
from fathom.storage.files import PdfStore

BOOKS = {f"https://shelf{n}.example/book": page(n, 900) for n in range(8)}
KNOBS = RunConfig(rounds=1, sources=4, threshold=1.0)
LISTS = 1  # a round keeps what was found as one more text


class Striker(ScriptedModel):
    """A clerk that does not write before it is told to."""

    is_willing = False

    async def write(self, *words: Any) -> ModelResult[list[Section]]:
        if not Striker.is_willing:
            raise Refused("I will not.")
        return await super().write(*words)


@dataclass(frozen=True)
class Tidied:
    """Pages among which somebody cleans up whenever one was put, before a checkpoint can name it."""

    pages: PagesPort
    tidy: Callable[[], Awaitable[None]]

    async def put(self, text: str) -> str:
        sha = await self.pages.put(text)
        await self.tidy()
        return sha

    async def get(self, sha: str) -> str:
        return await self.pages.get(sha)


@dataclass
class Desk:
    """Runs over books that they share, on one database."""

    runs: Runs
    names: list[str] = field(default_factory=list)
    tidy: Callable[[], Awaitable[None]] | None = None

    async def work(
        self, books: range, clerk: ScriptedModel | None = None, run_config: RunConfig = KNOBS
    ) -> str:
        """A run that reads these books, to its end; its id."""
        number = len(self.names) + 1
        run_id = f"{number:08d}-0000-4000-8000-000000000000"
        self.names.append(run_id)
        given = {"question": f"What is known about tidal turbines, part {number}?"}
        await self.go_on(run_id, books, given, clerk, run_config)
        return run_id

    async def go_on(
        self,
        run_id: str,
        books: range,
        given: Any = None,
        clerk: ScriptedModel | None = None,
        run_config: RunConfig = KNOBS,
    ) -> None:
        shelf = {address: text for n, (address, text) in enumerate(BOOKS.items()) if n in books}
        kits = make_dependencies(
            self.runs.settings.home, Library(shelf), clerk or ScriptedModel(quotes=3, usd_a_call=0.01)
        )
        tidied = CustomDependencies(lambda own: self._tidied(kits(own)), kits.run_configs())
        graph = build_graph(tidied, self.runs.saver)
        await graph.ainvoke(given, graph_config(run_id), context=run_config)

    def _tidied(self, kit: Dependencies) -> Dependencies:
        return replace(kit, pages=Tidied(kit.pages, self.tidy)) if self.tidy else kit

    async def clean(self, keep: int, *, is_dry: bool = False) -> PruneResult:
        return await clean_runs(self.runs, await choose_runs(self.runs, None, keep), is_dry=is_dry)

    async def verifies(self, run_id: str, place: Path) -> bool:
        """Whether the report of a run holds, as `fathom verify` sees it."""
        state = cast(RunState, (await self.runs.snapshot(run_id)).values)
        folder = await open_folder(self.runs.settings, run_id, place)
        await folder.keep(state, spent_by_run(state))
        ledger = read_ledger(place / "report.json")
        fates = stored_fates(ledger, await stored_texts(ledger, self.runs.settings))
        found = verify_report(ledger, lambda quote: fates[quote.model_dump_json()], ledger.report)
        return bool(found.sentences) and found.is_sound

    def rows(self, words: str) -> list[Any]:
        return rows_of(self.runs.settings.home / "fathom.sqlite", words)

    def threads(self) -> set[str]:
        return {run_id for (run_id,) in self.rows("select distinct thread_id from checkpoints")}


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with open_runs(load_settings(home=tmp_path)) as runs:
        yield Desk(runs)


@pytest.mark.sqlite
async def test_the_room_comes_back_and_the_run_that_stays_still_verifies(desk: Desk, tmp_path: Path) -> None:
    for books in (range(4), range(2, 6), range(4, 8)):
        await desk.work(books)
    last = desk.names[-1]
    assert len(desk.rows("select sha from pages")) == 8 + 3 * LISTS
    result = await desk.clean(keep=1)
    assert [line.id for line in result.gone] == desk.names[1::-1]
    assert result.swept.pages == 4 + 2 * LISTS
    assert result.after_bytes < 0.65 * result.before_bytes
    on_disk = sum(file.stat().st_size for file in _files(tmp_path, "fathom.sqlite*"))
    assert on_disk == result.after_bytes
    assert desk.threads() == {last}
    for table in ("writes",):
        assert {run for (run,) in desk.rows(f"select distinct thread_id from {table}")} <= {last}
    assert await desk.verifies(last, tmp_path / "out")
    told = await asyncio.to_thread(spawned, ["verify", "out/report.json"], tmp_path)
    assert told.code == 0, told
    again = await desk.clean(keep=1)
    assert (again.gone, again.swept.rows) == ([], 0)


async def test_what_is_only_counted_is_still_there(desk: Desk) -> None:
    for books in (range(4), range(2, 6)):
        await desk.work(books)
    counts = [desk.rows(f"select count(*) from {table}") for table in ("pages", "checkpoints")]
    told = await desk.clean(keep=1, is_dry=True)
    assert [line.id for line in told.gone] == desk.names[:1]
    assert told.swept.pages == 2 + LISTS
    assert told.swept.bytes > 1000
    assert [desk.rows(f"select count(*) from {t}") for t in ("pages", "checkpoints")] == counts


async def test_a_run_that_somebody_works_on_is_never_touched(desk: Desk, tmp_path: Path) -> None:
    busy, free = await desk.work(range(4)), await desk.work(range(4, 8))
    async with hold_run(desk.runs.storage, busy):
        result = await desk.clean(keep=0)
        assert [line.id for line in result.gone] == [free]
        assert [line.id for line in result.busy] == [busy]
        assert "is active" in result.why_not_shrunk
    assert desk.threads() == {busy}
    assert await desk.verifies(busy, tmp_path / "out")


async def test_what_who_is_at_work_has_just_read_stays(desk: Desk, tmp_path: Path) -> None:
    await desk.work(range(4))
    busy = await desk.work(range(4, 8))
    pages = open_storage(tmp_path / "fathom.sqlite").pages
    # It was read a moment ago, by a step that has not been saved; one of them an older run knows too.
    fresh = [await pages.put("a page that nobody names yet"), await pages.put(next(iter(BOOKS.values())))]
    async with hold_run(desk.runs.storage, busy):
        await desk.clean(keep=1)
        assert [await pages.get(sha) for sha in fresh]
    await desk.clean(keep=1)
    kept = {sha for (sha,) in desk.rows("select sha from pages")}
    assert kept.isdisjoint(fresh)
    assert len(kept) == 4 + LISTS


async def test_a_run_that_stopped_in_the_middle_can_still_go_on(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await desk.work(range(4))
    with pytest.raises(Refused):
        await desk.work(range(2, 6), Striker(quotes=3))
    stopped = desk.names[-1]
    await desk.clean(keep=1)
    monkeypatch.setattr(Striker, "is_willing", True)
    await desk.go_on(stopped, range(2, 6), None, Striker(quotes=3))
    assert await desk.verifies(stopped, tmp_path / "out")


async def test_what_branches_shared_goes_with_their_run(desk: Desk) -> None:
    run_config = RunConfig(strategy="rollouts", branches=2, levels=1, sources=2, threshold=1.0)
    await desk.work(range(4), run_config=run_config)
    await desk.work(range(4, 8), run_config=run_config)
    runs = {run for (run,) in desk.rows("select distinct run from page_leases")}
    assert len(runs) == 2
    await desk.clean(keep=1)
    (left,) = {run for (run,) in desk.rows("select distinct run from page_leases")}
    assert left == (await desk.runs.snapshot(desk.names[-1])).values["run"]


@pytest.mark.sqlite
async def test_replies_folders_locks_and_papers_of_a_run_go_with_it(desk: Desk, tmp_path: Path) -> None:
    old, new = await desk.work(range(4)), await desk.work(range(2, 6))
    pdf_store, pages = (
        PdfStore(tmp_path / "papers"),
        open_storage(tmp_path / "fathom.sqlite").pages,
    )
    for text in BOOKS.values():
        await pdf_store.keep(text, b"%PDF-1.4")
    for run_id in (old, new):
        await (
            content.Replies(open_storage(tmp_path / "fathom.sqlite"))
            .within(run_id)
            .put("a call", "an answer")
        )
        await open_folder(desk.runs.settings, run_id, tmp_path / "out" / run_id)
        (tmp_path / "locks").mkdir(exist_ok=True)
        (tmp_path / "locks" / f"{run_id}.lock").touch()
    await desk.clean(keep=1)
    assert desk.rows("select run from replies") == [(new,)]
    assert desk.rows("select run from run_folders") == [(new,)]
    assert (tmp_path / "out" / old).is_dir()  # a folder is a person's own
    assert not (tmp_path / "locks" / f"{old}.lock").exists()
    kept = {sha for (sha,) in desk.rows("select sha from pages")}
    papers = {file.stem for file in _files(tmp_path / "papers", "*.pdf")}
    assert papers < kept
    assert len(kept - papers) == LISTS
    assert all([await pages.get(sha) for sha in kept])


async def test_a_run_works_while_others_are_cleaned_away(desk: Desk, tmp_path: Path) -> None:
    for books in (range(4), range(2, 6), range(4, 8)):
        await desk.work(books)
    done = asyncio.Event()

    async def cleaning() -> None:
        while not done.is_set():
            choice = await choose_runs(desk.runs, None, 1)
            await clean_runs(desk.runs, choice)
            await asyncio.sleep(0.01)

    task = asyncio.create_task(cleaning())
    async with hold_run(desk.runs.storage, "00000004-0000-4000-8000-000000000000"):
        newest = await desk.work(range(8), run_config=KNOBS.model_copy(update={"rounds": 2}))
    done.set()
    await task
    assert desk.threads() == {newest}
    assert await desk.verifies(newest, tmp_path / "out")


async def test_what_a_run_reads_after_somebody_looked_stays_when_they_clean_up(
    desk: Desk, tmp_path: Path
) -> None:
    for books in (range(4), range(2, 6)):
        await desk.work(books)
    before = await choose_runs(desk.runs, None, 1)
    assert before.is_idle  # the run begins only now
    turn = asyncio.Lock()
    found: list[PruneResult] = []

    async def tidy() -> None:
        async with turn:
            found.append(await clean_runs(desk.runs, before))
            found.append(await clean_runs(desk.runs, await choose_runs(desk.runs, None, 1)))

    desk.tidy = tidy
    async with hold_run(desk.runs.storage, "00000003-0000-4000-8000-000000000000"):
        newest = await desk.work(range(8))
    assert [line.id for line in found[0].gone] == desk.names[:1]
    assert len(found) == 2 * (KNOBS.max_sources + LISTS)
    assert desk.threads() == {newest}
    assert await desk.verifies(newest, tmp_path / "out")


@pytest.mark.parametrize(
    ("said", "seconds"), [("30d", 2592000), ("2w", 1209600), ("12H", 43200), ("5 m", 300)]
)
def test_an_age_is_said_as_people_do(said: str, seconds: float) -> None:
    assert parse_age(said) == seconds


@pytest.mark.parametrize("said", ["", "30", "d", "-3d", "1y", "1.5d", "30 days", "9999999d"])
def test_another_age_is_refused(said: str) -> None:
    with pytest.raises(BadInput, match="30d"):
        parse_age(said)


async def test_young_runs_stay_and_something_must_be_said(desk: Desk) -> None:
    await desk.work(range(4))
    assert (await choose_runs(desk.runs, parse_age("30d"), None)).gone == []
    assert len((await choose_runs(desk.runs, 0.0, None)).gone) == 1
    with pytest.raises(BadInput, match="--older-than 30d"):
        await choose_runs(desk.runs, None, None)


def _files(folder: Path, pattern: str) -> list[Path]:
    return list(folder.glob(pattern))
