"""A run that somebody steers while it works: paused, stopped, given a query more, from wherever they are."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from standins.library import TIDES, written

from fathom.events import Checkpoint, ContentExtracted, Progress, SearchCompleted, SearchStarted
from fathom.grammar import complaints
from fathom.request import ResearchRequest
from fathom.runs import Runs, open_runs
from fathom.settings import load_settings
from fathom.state import ReviewAnswer
from fathom.streaming import Halt

QUESTION = "How much does tidal power cost?"
BRANCHES = {"strategy": "rollouts", "branches": 2}
GIVE = "import asyncio, sys, pathlib; from fathom.orders import Orders; \
asyncio.run(Orders(pathlib.Path(sys.argv[1])).give(*sys.argv[2:]))"


@asynccontextmanager
async def begun(tmp_path: Path, **words: object) -> AsyncIterator[tuple[Runs, str, ResearchRequest]]:
    docs = written(tmp_path / "docs", TIDES)
    given = {"query": QUESTION, "docs": [docs], "max_rounds": 3, "max_sources": 1, "threshold": 1.0, **words}
    request = ResearchRequest.model_validate(given)
    async with open_runs(load_settings(home=tmp_path)) as runs:
        run_id, _ = await runs.begin(request)
        yield runs, run_id, request


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
    """The order, and a moment in which whoever watches sees it."""
    await runs.orders.give(run_id, "pause")
    await asyncio.sleep(0.8)


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
        assert (await runs.lines())[0].status == "paused"
        assert not any(event.kind == "report started" for event in first)
        rest = [event async for event in runs.work(run_id)]
        assert rest[-1].kind == "completed"
        assert complaints([*first, *rest]) == []
        searched = [e.payload.query for e in [*first, *rest] if isinstance(e.payload, SearchCompleted)]
        read = [e.payload.address for e in [*first, *rest] if isinstance(e.payload, ContentExtracted)]
        assert len(read) == len(set(read))
        if not words:
            assert len(searched) == len(set(searched))
        assert await runs.orders.pending(run_id) == []


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
    async with begun(tmp_path, **words) as (runs, run_id, request):
        events = await listened(
            runs.work(run_id, request),
            lambda event: event.kind == kind,
            lambda: runs.orders.give(run_id, "stop"),
        )
        assert complaints(events) == []
        assert events[-1].kind == "completed"
        asked = [e for e in events if e.kind == "plan generated" and e.round > 1]
        assert asked == []
        result = await runs.result(run_id)
        assert result.metadata.stop == "a person's word"
        assert result.status == ("failed" if kind != "analysis completed" else result.status)
        assert bool(result.claims) == (kind == "analysis completed")
        assert await runs.orders.pending(run_id) == []


async def test_a_stop_before_the_search_searches_nothing(tmp_path: Path) -> None:
    async with begun(tmp_path) as (runs, run_id, request):
        await runs.orders.give(run_id, "stop")
        events = [event async for event in runs.work(run_id, request)]
        assert not any(isinstance(event.payload, SearchStarted) for event in events)
        assert (await runs.result(run_id)).metadata.stop == "a person's word"


async def test_an_added_query_is_asked_in_the_next_round(tmp_path: Path) -> None:
    async with begun(tmp_path) as (runs, run_id, request):
        events = await listened(
            runs.work(run_id, request),
            lambda event: event.kind == "extraction started",
            lambda: runs.orders.give(run_id, "add", "seals and fishermen at Merrow"),
        )
        assert complaints(events) == []
        asked = {query.text: query.round for query in (await runs.result(run_id)).asked}
        assert asked["seals and fishermen at Merrow"] == 2


async def test_what_a_person_added_is_asked_before_the_run_is_content(tmp_path: Path) -> None:
    async with begun(tmp_path, threshold=0.0) as (runs, run_id, request):
        await listened(
            runs.work(run_id, request),
            lambda event: event.kind == "extraction started",
            lambda: runs.orders.give(run_id, "add", "seals at Merrow"),
        )
        result = await runs.result(run_id)
    assert result.judgements[0].held
    assert "seals at Merrow" in [query.text for query in result.asked]


async def test_what_came_too_late_is_told(tmp_path: Path) -> None:
    async with begun(tmp_path, max_rounds=1) as (runs, run_id, request):
        await listened(
            runs.work(run_id, request),
            lambda event: event.kind == "extraction started",
            lambda: runs.orders.give(run_id, "add", "seals at Merrow"),
        )
        result = await runs.result(run_id)
    assert [(loss.where, loss.what) for loss in result.errors] == [("order", "seals at Merrow")]
    assert "seals at Merrow" in result.report


async def test_a_query_that_is_added_to_branches_is_a_branch(tmp_path: Path) -> None:
    async with begun(tmp_path, **BRANCHES) as (runs, run_id, request):
        events = await listened(
            runs.work(run_id, request),
            lambda event: event.kind == "branch completed",
            lambda: runs.orders.give(run_id, "add", "What do fishermen at Merrow say?"),
        )
        assert complaints(events) == []
        result = await runs.result(run_id)
    angles = {direction.text: direction.angle for direction in result.directions}
    assert angles["What do fishermen at Merrow say?"] == "a person's wish"


async def test_go_before_anybody_saw_the_pause_leaves_the_run_alone(tmp_path: Path) -> None:
    async with begun(tmp_path) as (runs, run_id, request):
        await runs.orders.give(run_id, "pause")
        await runs.orders.give(run_id, "go")
        events = [event async for event in runs.work(run_id, request)]
    assert events[-1].kind == "completed"


async def test_a_halt_keeps_everything_and_says_so(tmp_path: Path) -> None:
    halt = Halt()
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
        assert complaints([*events, *again, *rest]) == []
        assert (await runs.result(run_id)).status in {"complete", "unsure"}


async def test_a_review_that_is_paused_is_a_review(tmp_path: Path) -> None:
    async with begun(tmp_path, review="plan", max_rounds=1) as (runs, run_id, request):
        await runs.orders.give(run_id, "pause")
        # Whoever begins a run has done with pauses, so this one is ordered while it works.
        events = await listened(
            runs.work(run_id, request),
            lambda event: event.kind == "effort sized",
            lambda: runs.orders.give(run_id, "pause"),
        )
        assert why(events) == "review"
        again = [event async for event in runs.work(run_id)]
        assert why(again) == "review"
        rest = [event async for event in runs.work(run_id, ReviewAnswer(action="approve"))]
        assert rest[-1].kind == "completed"
