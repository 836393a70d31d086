"""A run that somebody steers while it works: paused, stopped, given a query more, from wherever they are."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from checks.event_order import find_order_faults
from standins.commandline import PATIENCE_S
from standins.documents import CHEESE, QUESTION, TIDES, stocked, written
from standins.model import Model
from standins.searxng import Thoughtful
from standins.waiting_model import Paced
from standins.watched_signals import Noticing
from standins.working_model import researcher

from fathom.events import Checkpoint, ContentExtracted, Progress, SearchCompleted, SearchStarted
from fathom.request import ResearchRequest
from fathom.runs import list_runs
from fathom.runs.control import PausePoller
from fathom.runs.event_stream import StopSwitch
from fathom.runs.executor import Runs, open_runs
from fathom.settings import load_settings
from fathom.state import ReviewAnswer
from fathom.storage import open_storage


async def test_a_run_stopped_before_its_first_step_is_listed_and_goes_on(tmp_path: Path) -> None:
    shelf = stocked(tmp_path / "shelf")
    # The folder may be read because the run was begun with it; whoever goes on does not name it again.
    settings = load_settings(home=tmp_path / "home", docs_roots=[tmp_path / "elsewhere"])
    async with open_runs(settings) as runs:
        request = ResearchRequest(query=QUESTION, docs=[str(shelf)], max_rounds=1)
        run_id, _ = await runs.prepare_run(request)
        halt = StopSwitch()
        halt.request()
        assert [event.kind async for event in runs.work(run_id, request, halt=halt)][-1] == "checkpoint"
        (line,) = await list_runs(runs.settings)
        assert (line.question, line.status) == (QUESTION, "stopped")
        assert [event.kind async for event in runs.work(run_id)][-1] == "completed"
        assert (await runs.result(run_id)).settings.docs == [str(shelf)]


STEERED_QUESTION = "How much does tidal power cost?"

BRANCHES = {"strategy": "rollouts", "branches": 2}

# A branch for each part, and two pages for each branch that the other one does not find.
PARTS = "How much does tidal power cost? How long does a hard cheese ripen?"

CELLAR = {
    **CHEESE,
    "rind.md": "# A rind\n\nThe rind of a hard cheese ripens for two months longer in salt.\n",
}

GIVE = "import asyncio, sys, pathlib; from fathom.storage import open_storage; \
asyncio.run(open_storage(pathlib.Path(sys.argv[1])).signals.give(*sys.argv[2:]))"


@asynccontextmanager
async def begun(
    tmp_path: Path, wires: Mapping[str, str] | None = None, /, **words: object
) -> AsyncIterator[tuple[Runs, str, ResearchRequest]]:
    docs = written(tmp_path / "docs", TIDES)
    given = {
        "query": STEERED_QUESTION,
        "docs": [docs],
        "max_rounds": 3,
        "max_sources": 1,
        "threshold": 1.0,
        **words,
    }
    request = ResearchRequest.model_validate(given)
    async with open_runs(load_settings(home=tmp_path, **(wires or {}))) as runs:
        run_id, _ = await runs.prepare_run(request)
        yield replace(runs, watch=Noticing(runs.storage)), run_id, request


@asynccontextmanager
async def standing(
    tmp_path: Path, *, is_found: bool, **words: object
) -> AsyncIterator[tuple[Runs, str, ResearchRequest, Callable[[], None]]]:
    """A run whose searches do not end, or, once they are over, whose rounds are not judged, before it is let
    go: however quick the rest is, none of its branches is further than that."""
    written(tmp_path / "docs", CELLAR)
    paced = Paced(researcher, "judge")
    with Model(paced) as model, Thoughtful() as web:

        def let_go() -> None:
            paced.let_go()
            web.go.set()

        if is_found:
            web.go.set()
        given = {"query": PARTS, "max_sources": 2, "model": "stand-in", "providers": ["searxng"], **words}
        wires = {"base_url": model.base_url, "searxng_url": web.url}
        async with begun(tmp_path, wires, **given) as (runs, run_id, request):
            yield runs, run_id, request, let_go
        let_go()


async def listened(
    events: AsyncIterator[Progress], at: Callable[[Progress], bool], then: Callable[[], object]
) -> list[Progress]:
    """All events; the first time that one fits, something is done."""
    heard: list[Progress] = []
    is_done = False
    async for event in events:
        heard.append(event)
        if not is_done and at(event):
            is_done = True
            done = then()
            if asyncio.iscoroutine(done):
                await done
    assert is_done
    return heard


async def paused(runs: Runs, run_id: str) -> None:
    """The order, and as long as it takes until whoever watches sees it."""
    assert isinstance(runs.watch, Noticing)
    await runs.storage.signals.give(run_id, "pause")
    async with asyncio.timeout(PATIENCE_S):
        await runs.watch.seen.wait()


def why(events: list[Progress]) -> str:
    assert isinstance(events[-1].payload, Checkpoint)
    return events[-1].payload.why


@pytest.mark.parametrize("words", [{}, BRANCHES])
@pytest.mark.parametrize("kind", ["plan generated", "search completed", "content extracted"])
async def test_a_pause_lets_the_run_stand_after_its_step(
    tmp_path: Path, kind: str, words: dict[str, object]
) -> None:
    async with begun(tmp_path, **words) as (runs, run_id, request):
        first = await listened(
            runs.work(run_id, request),
            lambda event: event.kind == kind,
            lambda: paused(runs, run_id),
        )
        assert why(first) == "paused"
        assert (await list_runs(runs.settings))[0].status == "paused"
        assert not any(event.kind == "report started" for event in first)
        rest = [event async for event in runs.work(run_id)]
        assert rest[-1].kind == "completed"
        assert find_order_faults([*first, *rest]) == []
        searched = [e.payload.query for e in [*first, *rest] if isinstance(e.payload, SearchCompleted)]
        read = [e.payload.address for e in [*first, *rest] if isinstance(e.payload, ContentExtracted)]
        assert len(read) == len(set(read))
        if not words:
            assert len(searched) == len(set(searched))
        assert await runs.storage.signals.pending(run_id) == []


@pytest.mark.sqlite
async def test_an_order_from_another_process_is_heard(tmp_path: Path) -> None:
    async with begun(tmp_path) as (runs, run_id, request):
        command = [sys.executable, "-c", GIVE, str(tmp_path / "fathom.sqlite"), run_id, "stop"]
        await listened(
            runs.work(run_id, request),
            lambda event: event.kind == "search completed",
            lambda: asyncio.to_thread(subprocess.run, command, check=True, timeout=60),
        )
        assert (await runs.result(run_id)).metadata.stop == "a person's word"


@pytest.mark.parametrize("words", [{}, BRANCHES])
@pytest.mark.parametrize("kind", ["plan generated", "search started", "analysis completed"])
async def test_a_stop_ends_the_step_and_the_report_is_written(
    tmp_path: Path, kind: str, words: dict[str, object]
) -> None:
    is_found = kind == "analysis completed"
    async with standing(tmp_path, is_found=is_found, **words) as (runs, run_id, request, let_go):

        async def stopped() -> None:
            await runs.storage.signals.give(run_id, "stop")
            let_go()

        events = await listened(runs.work(run_id, request), lambda event: event.kind == kind, stopped)
        assert find_order_faults(events) == []
        assert events[-1].kind == "completed"
        asked = [e for e in events if e.kind == "plan generated" and e.round > 1]
        assert asked == []
        result = await runs.result(run_id)
        assert result.metadata.stop == "a person's word"
        assert (result.status == "failed") == (not is_found)
        assert bool(result.claims) == is_found
        assert await runs.storage.signals.pending(run_id) == []


async def test_a_stop_before_the_search_searches_nothing(tmp_path: Path) -> None:
    async with begun(tmp_path) as (runs, run_id, request):
        await runs.storage.signals.give(run_id, "stop")
        events = [event async for event in runs.work(run_id, request)]
        assert not any(isinstance(event.payload, SearchStarted) for event in events)
        assert (await runs.result(run_id)).metadata.stop == "a person's word"


async def test_an_added_query_is_asked_in_the_next_round(tmp_path: Path) -> None:
    async with begun(tmp_path) as (runs, run_id, request):
        events = await listened(
            runs.work(run_id, request),
            lambda event: event.kind == "extraction started",
            lambda: runs.storage.signals.give(run_id, "add", "seals and fishermen at Merrow"),
        )
        assert find_order_faults(events) == []
        asked = {query.text: query.round for query in (await runs.result(run_id)).asked}
        assert asked["seals and fishermen at Merrow"] == 2


async def test_what_a_person_added_is_asked_before_the_run_is_content(tmp_path: Path) -> None:
    async with begun(tmp_path, threshold=0.0) as (runs, run_id, request):
        await listened(
            runs.work(run_id, request),
            lambda event: event.kind == "extraction started",
            lambda: runs.storage.signals.give(run_id, "add", "seals at Merrow"),
        )
        result = await runs.result(run_id)
    assert result.judgements[0].held
    assert "seals at Merrow" in [query.text for query in result.asked]


async def test_what_came_too_late_is_told(tmp_path: Path) -> None:
    async with begun(tmp_path, max_rounds=1) as (runs, run_id, request):
        await listened(
            runs.work(run_id, request),
            lambda event: event.kind == "extraction started",
            lambda: runs.storage.signals.give(run_id, "add", "seals at Merrow"),
        )
        result = await runs.result(run_id)
    assert [(failure.where, failure.what) for failure in result.errors] == [("order", "seals at Merrow")]
    assert "seals at Merrow" in result.report


async def test_a_query_that_is_added_to_branches_is_a_branch(tmp_path: Path) -> None:
    async with begun(tmp_path, **BRANCHES) as (runs, run_id, request):
        events = await listened(
            runs.work(run_id, request),
            lambda event: event.kind == "branch completed",
            lambda: runs.storage.signals.give(run_id, "add", "What do fishermen at Merrow say?"),
        )
        assert find_order_faults(events) == []
        result = await runs.result(run_id)
    angles = {direction.text: direction.angle for direction in result.directions}
    assert angles["What do fishermen at Merrow say?"] == "a person's wish"


async def test_go_before_anybody_saw_the_pause_leaves_the_run_alone(tmp_path: Path) -> None:
    async with begun(tmp_path) as (runs, run_id, request):
        await runs.storage.signals.give(run_id, "pause")
        await runs.storage.signals.give(run_id, "go")
        events = [event async for event in runs.work(run_id, request)]
    assert events[-1].kind == "completed"


async def test_a_halt_keeps_everything_and_says_so(tmp_path: Path) -> None:
    halt = StopSwitch()
    async with begun(tmp_path) as (runs, run_id, request):
        events = await listened(
            runs.work(run_id, request, halt=halt),
            lambda event: event.kind == "search completed",
            lambda: asyncio.to_thread(halt.request),
        )
        assert why(events) == "stopped"
        again = [event async for event in runs.work(run_id, halt=halt)]
        assert [event.kind for event in again] == ["started", "checkpoint"]
        rest = [event async for event in runs.work(run_id)]
        assert find_order_faults([*events, *again, *rest]) == []
        assert (await runs.result(run_id)).status == "extracts"


async def test_a_review_that_is_paused_is_a_review(tmp_path: Path) -> None:
    async with begun(tmp_path, review="plan", max_rounds=1) as (watched, run_id, request):
        # Nobody looks between two steps here: it is the review that sees the pause.
        runs = replace(watched, watch=PausePoller(open_storage(tmp_path / "another.sqlite")))
        await runs.storage.signals.give(run_id, "pause")
        # Whoever begins a run has done with pauses, so this one is ordered while it works.
        events = await listened(
            runs.work(run_id, request),
            lambda event: event.kind == "effort sized",
            lambda: runs.storage.signals.give(run_id, "pause"),
        )
        assert why(events) == "review"
        again = [event async for event in runs.work(run_id)]
        assert why(again) == "review"
        rest = [event async for event in runs.work(run_id, ReviewAnswer(action="approve"))]
        assert rest[-1].kind == "completed"
