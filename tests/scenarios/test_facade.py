"""Fathom from Python: awaited, listened to, step by step, waited for, cancelled, shown in a notebook."""

import asyncio
import doctest
from collections.abc import Iterator
from contextlib import aclosing, suppress
from pathlib import Path

import pytest
from checks.event_order import find_order_faults
from langchain_core.language_models import FakeListChatModel
from standins.documents import TIDES, written
from standins.model import Model
from standins.rows import rows_of
from standins.working_model import form_of, never_satisfied, researcher, scripted

import fathom.researcher
import fathom.session
from fathom import BadInput, DeepResearcher, ResearchRequest, ReviewAnswer, RunStopped
from fathom.events import Checkpoint, PlanGenerated, Progress
from fathom.session import Session
from fathom.settings import Settings, load_settings
from fathom.storage import open_storage

QUESTION = "How much does tidal power cost?"
APPROVE = ReviewAnswer(action="approve")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load_settings(home=tmp_path)


@pytest.fixture
def tireless(tmp_path: Path) -> Iterator[Settings]:
    """With a model who always finds something missing, so that a run has as many rounds as it may."""
    with Model(scripted(judge=never_satisfied)) as model:
        yield load_settings(home=tmp_path, base_url=model.base_url, model="stand-in")


@pytest.fixture
def request_(tmp_path: Path) -> ResearchRequest:
    docs = written(tmp_path / "docs", TIDES)
    return ResearchRequest(query=QUESTION, docs=[docs], max_rounds=2, max_sources=2, threshold=1.0)


@pytest.mark.parametrize("module", [fathom.researcher, fathom.session])
def test_the_examples_do_what_they_say(
    module: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path / "papers", {"tower.md": "# The tower\n\nThe tower at Merrow is 48 metres high.\n"})
    monkeypatch.chdir(tmp_path)
    told = doctest.testmod(module, optionflags=doctest.FAIL_FAST)  # type: ignore[arg-type]
    assert told.failed == 0
    assert told.attempted > 3


async def test_a_session_goes_from_checkpoint_to_checkpoint(
    tireless: Settings, request_: ResearchRequest
) -> None:
    session = await DeepResearcher(tireless).start(request_)
    assert not session.is_complete
    table = await session.checkpoint()
    assert table
    assert (table.why, table.shown["round"]) == ("review", 1)
    assert await session.checkpoint() is table  # it stands there; nothing is done again
    await session.add_query("seals at Merrow")
    second = await session.go_on(APPROVE)
    assert second
    assert second.shown["round"] == 2
    assert second.shown["findings"]
    assert str(second.shown["summary"]).startswith("After round 1 there are ")
    assert await session.go_on(APPROVE) is None
    assert session.is_complete
    assert await session.checkpoint() is None
    result = await session.result()
    assert "seals at Merrow" in [query.text for query in result.asked if query.round == 1]
    assert [event async for event in session.events()] == []
    with pytest.raises(BadInput, match="is over; there is nothing to pause"):
        await session.pause()
    assert repr(session) == f"Session({session.id[:8]}, complete)"


async def test_the_same_words_said_twice_replan_twice(tmp_path: Path, request_: ResearchRequest) -> None:
    with Model(researcher) as model:
        settings = load_settings(home=tmp_path, base_url=model.base_url)
        asked = request_.model_copy(update={"model": "stand-in", "review": "plan", "max_rounds": 1})
        session = await DeepResearcher(settings).start(asked)
        await session.checkpoint()
        for times in (1, 2, 3):
            words = ReviewAnswer(action="feedback", text="No, stop. Now think of the fishermen.")
            events = [event async for event in session.events(words)]
            assert [isinstance(event.payload, PlanGenerated) for event in events].count(True) == 1
            assert events[-1].kind == "checkpoint"
            plans = [request for request in model.requests if form_of(request) == "plan"]
            assert len(plans) == 1 + times
        assert await session.go_on(APPROVE) is None
        assert len([request for request in model.requests if form_of(request) == "plan"]) == 4


async def test_an_answer_nobody_waits_for_is_refused(settings: Settings, request_: ResearchRequest) -> None:
    session = await DeepResearcher(settings).start(request_)
    with pytest.raises(BadInput, match="is not waiting for an answer"):
        await session.go_on(APPROVE)
    with pytest.raises(RunStopped, match="is not over"):
        await session.result()
    assert await session.checkpoint()


async def test_a_session_that_was_refused_a_folder_begins_once_it_has_one(
    settings: Settings, request_: ResearchRequest, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    out.write_text("a file, where a folder should be")
    session = await DeepResearcher(settings, out=out).start(request_.model_copy(update={"review": "off"}))
    with pytest.raises(BadInput, match="cannot be written"):
        await session.go_on()
    out.unlink()
    assert await session.go_on() is None
    assert (await session.result()).question == QUESTION


@pytest.mark.parametrize("kind", ["started", "plan generated", "search started", "analysis started"])
async def test_who_stops_listening_leaves_nobody_at_work(
    tireless: Settings, request_: ResearchRequest, kind: str
) -> None:
    """The run can be gone on with at once: no task of the work outlives its lock and its database."""
    researcher = DeepResearcher(tireless)
    async with aclosing(researcher.stream(request_)) as events:
        async for event in events:
            if event.kind == kind:
                break
    assert asyncio.all_tasks() == {asyncio.current_task()}


@pytest.mark.parametrize("error", [None, ValueError("of the listener")])
def test_a_loop_that_is_left_closes_cleanly_and_the_run_goes_on(
    settings: Settings, request_: ResearchRequest, error: ValueError | None, caplog: pytest.LogCaptureFixture
) -> None:
    researcher = DeepResearcher(settings)
    begun: list[str] = []

    async def leave() -> None:
        async with researcher:
            async for event in researcher.stream(request_):
                begun[:] = [event.run_id]
                if event.kind == "plan generated":
                    if error:
                        raise error
                    break

    with suppress(ValueError):
        asyncio.run(leave())
    assert caplog.text == ""  # no generator was closed half-way
    assert researcher.resume_sync(begun[0]).status == "extracts"


async def test_a_session_is_ended_with_what_it_knows(tireless: Settings, request_: ResearchRequest) -> None:
    session = await DeepResearcher(tireless).start(request_)
    await session.checkpoint()
    await session.go_on(APPROVE)
    result = await session.finalize()
    assert result.metadata.stop == "a person's word"
    assert result.metadata.rounds == 2  # judged once more, without a search
    assert {query.round for query in result.asked} == {1}
    assert (await session.finalize()).report == result.report


async def _ordered(settings: Settings, run_id: str) -> None:
    """Until somebody has left an order for the run."""
    for _ in range(600):
        if await open_storage(settings.database).signals.pending(run_id):
            return
        await asyncio.sleep(0.05)
    raise AssertionError("nobody ordered anything")


async def test_a_session_is_paused_and_ended_while_somebody_listens(
    settings: Settings, request_: ResearchRequest
) -> None:
    session = await DeepResearcher(settings).start(request_.model_copy(update={"review": "off"}))
    heard: list[Progress] = []
    async for event in session.events():
        heard.append(event)
        if event.kind == "search completed":
            await session.pause()
            await asyncio.sleep(0.8)
    assert isinstance(heard[-1].payload, Checkpoint)
    assert heard[-1].payload.why == "paused"
    ending: asyncio.Task[object] | None = None
    async for event in session.events():
        heard.append(event)
        if event.kind == "content extracted" and ending is None:
            ending = asyncio.ensure_future(session.finalize())
            await _ordered(settings, session.id)
    assert ending
    result = await ending
    assert find_order_faults(heard) == []
    assert getattr(result, "metadata").stop == "a person's word"  # noqa: B009


async def test_a_run_begun_in_one_session_is_answered_in_another(
    tireless: Settings, request_: ResearchRequest
) -> None:
    first = await DeepResearcher(tireless).start(request_)
    shown = await first.checkpoint()
    other = await DeepResearcher(tireless).session(first.id[:8])
    assert await other.checkpoint() == shown
    edited = ReviewAnswer(action="edit", queries=["Ouseport gates"], questions=["What do gates cost?"])
    table = await other.go_on(edited)
    assert table
    assert "What do gates cost?" in table.shown["questions"]
    result = await DeepResearcher(tireless).resume(first.id, ReviewAnswer(action="finish"))
    assert [query.text for query in result.asked if query.id != "scout"] == ["Ouseport gates"]
    assert (await DeepResearcher(tireless).session(first.id)).is_complete


async def test_a_cancelled_run_is_resumed_and_pays_for_no_answer_twice(
    tmp_path: Path, request_: ResearchRequest
) -> None:
    """Cancelled when its plan, its first claims and its first judgement are there, and gone on with.

    What was on its way to another page's reader is cut off, and only that is asked again.
    """
    with Model(scripted(judge=never_satisfied)) as model:
        settings = load_settings(home=tmp_path, base_url=model.base_url, model="stand-in")
        heard: list[Progress] = []
        cut_off = 0

        async def listen(session: Session, until: str) -> None:
            async for event in session.events():
                heard.append(event)
                if event.kind == until:
                    reached.set()
                    await asyncio.sleep(60)

        async with DeepResearcher(settings) as deep:
            first = await deep.start(request_.model_copy(update={"review": "off"}))
            for kind in ("plan generated", "analysis completed", "round completed"):
                reached = asyncio.Event()
                session = first if kind == "plan generated" else await deep.session()
                task = asyncio.ensure_future(listen(session, kind))
                await reached.wait()
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                await asyncio.sleep(0.3)  # what had just left may still be on its way to the server
                cut_off += len({request.text for request in model.requests}) - _kept(settings)
            result = await deep.resume(first.id)
        assert result.metadata.rounds == 2
        asked = [request.text for request in model.requests]
        assert len(asked) - len(set(asked)) <= cut_off <= 3
    assert _kept(settings) == len(set(asked))
    assert len({event.run_id for event in heard}) == 1


def _kept(settings: Settings) -> int:
    return int(rows_of(settings.home / "fathom.sqlite", "select count(*) from replies")[0][0])


def test_twins_for_those_who_wait(settings: Settings, request_: ResearchRequest, tmp_path: Path) -> None:
    deep = DeepResearcher(settings, out=tmp_path / "runs")
    result = deep.research_sync(request_)
    assert (tmp_path / "runs" / result.run_id[:8] / "report.md").read_text("utf-8") == result.report
    assert deep.result_sync(result.run_id).report == result.report
    assert deep.resume_sync(result.run_id).report == result.report
    assert deep.update_sync(result.run_id).update
    left = []
    for event in deep.stream_sync(request_):
        left.append(event)
        if event.kind == "search completed":
            break
    assert deep.resume_sync(left[0].run_id).question == QUESTION
    with pytest.raises(BadInput, match="There is no run"):
        deep.result_sync("ffffffff")


async def test_twins_work_where_a_loop_is_running(settings: Settings, request_: ResearchRequest) -> None:
    async with DeepResearcher(settings) as deep:
        result = deep.research_sync(request_)
        assert (await deep.result(result.run_id)).report == result.report
        kinds = [event.kind for event in deep.stream_sync(request_)]
        assert (kinds[0], kinds[-1]) == ("started", "completed")
        with pytest.raises(BadInput, match="There is no run"):
            deep.resume_sync("ffffffff")


async def test_a_result_shows_itself_in_a_notebook(settings: Settings, request_: ResearchRequest) -> None:
    result = await DeepResearcher(settings).research(request_)
    assert result._repr_markdown_() == result.report
    page = result._repr_html_()
    assert page.startswith("<div")
    assert "<h1>How much does tidal power cost?</h1>" in page
    assert "<blockquote>" in page
    assert f"{result.metadata.cost_usd:.4f} USD" in page


async def test_what_a_source_says_is_no_html_in_a_notebook(tmp_path: Path) -> None:
    evil = {
        "x.md": "# <script>alert(1)</script>\n\nTidal power costs <img src=x onerror=alert(1)> 92 euros.\n"
    }
    docs = written(tmp_path / "docs", evil)
    request = ResearchRequest(query=QUESTION, docs=[docs], max_rounds=1)
    page = (await DeepResearcher(load_settings(home=tmp_path)).research(request))._repr_html_()
    assert "<script" not in page
    assert "<img" not in page


def test_models_are_given_as_objects_or_by_name_one_a_role(settings: Settings) -> None:
    model = FakeListChatModel(responses=["no"])
    given = DeepResearcher(settings, model=model, models={"write": "ollama:llama3.1"}).settings
    assert given.chat_model("read") is model
    assert given.chat_model("write") is None
    assert given.model_for("write") == "ollama:llama3.1"
    with pytest.raises(BadInput, match="There is no role writer"):
        DeepResearcher(settings, models={"writer": model})  # type: ignore[dict-item]


async def test_a_model_that_is_no_model_leaves_extracts(
    settings: Settings, request_: ResearchRequest
) -> None:
    model = FakeListChatModel(responses=["no"])
    found = await DeepResearcher(settings, model=model).research(request_.with_config(model="none"))
    assert found.status == "extracts"
    assert found.metadata.model_calls == 0


async def test_runs_are_listed_and_steered_from_anywhere(
    settings: Settings, request_: ResearchRequest
) -> None:
    researcher = DeepResearcher(settings)
    assert await researcher.runs() == []
    session = await researcher.start(request_)
    table = await session.checkpoint()
    assert table is not None
    (line,) = await researcher.runs()
    assert (line.id, line.status, line.question) == (session.id, "waiting for review", QUESTION)
    with pytest.raises(BadInput, match=r"is not running \(waiting for review\)"):
        await researcher.pause(session.id)
    await researcher.add_query(session.id[:8], "tidal power price")
    assert (await researcher.stop(session.id)).id == session.id
    result = await session.finalize()
    (line,) = await researcher.runs()
    assert (line.status, line.rounds) == (result.status, result.metadata.rounds)
    for word in ("pause", "go", "stop"):
        with pytest.raises(BadInput, match="is over; there is nothing to steer"):
            await researcher.control(session.id, word)
    with pytest.raises(BadInput, match="There is no run whose id begins with 'zz'"):
        await researcher.go("zz")


async def test_a_run_that_works_is_listed_as_running_and_stops_at_a_word_from_elsewhere(
    settings: Settings, request_: ResearchRequest
) -> None:
    researcher = DeepResearcher(settings)
    session = await researcher.begin(request_)
    seen: list[str] = []
    async for event in session.events():
        if event.kind == "extraction started" and not seen:
            seen = [line.status for line in await researcher.runs()]
            await DeepResearcher(settings).stop(session.id)
    assert seen == ["running"]
    result = await session.result()
    assert result.metadata.stop == "a person's word"
    assert [line.status for line in await researcher.runs()] == [result.status]


async def test_runs_are_shown_compared_exported_verified_and_removed(
    settings: Settings, request_: ResearchRequest, tmp_path: Path
) -> None:
    async with DeepResearcher(settings) as researcher:
        assert (await researcher.forecast(request_)).worst_usd == 0
        assert await researcher.runs() == []  # a forecast begins nothing
        first, second = await researcher.research(request_), await researcher.research(request_)
        assert (await researcher.page(first.run_id, "findings")).startswith("# Findings")
        assert "Round 1" in await researcher.round_page(first.run_id, 1)
        found = await researcher.compare(first.run_id[:8], second.run_id[:8])
        assert (found.runs.first, found.questions.is_same) == (first.run_id, True)
        assert await researcher.export(first.run_id[:8], tmp_path / "folder") == first.run_id
        with pytest.raises(BadInput, match="exists"):
            await researcher.export(first.run_id, tmp_path / "folder" / "report.md")
        assert await researcher.render(first.run_id[:8], "html") == first.render("html")
        assert (await researcher.render(first.run_id, "ris")).startswith(b"TY  - ")
        assert (await researcher.verify(tmp_path / "folder" / "report.json")).is_sound
        choice = await researcher.choose_old(None, keep=1)
        third = await researcher.research(request_)
        await researcher.clean(choice=choice)
        assert [run.id for run in await researcher.runs()] == [third.run_id, second.run_id]
    assert (await researcher.diagnose()).can_keep_runs


def test_a_batch_goes_on_where_it_was(settings: Settings, request_: ResearchRequest, tmp_path: Path) -> None:
    researcher, out = DeepResearcher(settings), tmp_path / "batch"
    (first,) = researcher.batch_sync([request_], out)
    assert "1 question still" in researcher.forecast_batch_sync([request_, QUESTION], out).because
    events: list[Progress] = []
    again = researcher.batch_sync([request_], out, on_event=lambda _, event: events.append(event))
    assert ([one.run_id for one in again], events) == ([first.run_id], [])
