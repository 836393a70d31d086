"""A model that is not there, goes away, or talks nonsense."""

import threading
from pathlib import Path

import pytest
from standins.library import TIDES, written
from standins.model import Model, ModelRequest
from standins.replies import Reply
from standins.researcher import form_of, researcher
from standins.scripted import never_satisfied

from fathom import DeepResearcher, ResearchRequest, RunStopped, Settings
from fathom.run_index import list_runs
from fathom.runs import open_runs
from fathom.settings import load_settings

QUESTION = "How much does tidal power cost?"


def thinking(tmp_path: Path, model: Model) -> tuple[Settings, ResearchRequest]:
    settings = load_settings(home=tmp_path, base_url=model.base_url, call_retries=0, call_timeout_s=5)
    docs = written(tmp_path / "docs", TIDES)
    return settings, ResearchRequest(query=QUESTION, docs=[docs], model="stand-in")


def dying_after(form: str) -> Model:
    """A model that answers until this form is asked for, and then never again."""
    order = ["plan", "read", "verify", "judge", "outline", "write", "check"]
    alive = set(order[: order.index(form)])
    return Model(lambda request: researcher(request) if form_of(request) in alive else Reply.broken())


@pytest.mark.parametrize("form", ["read", "verify", "judge", "outline", "write", "check"])
async def test_a_model_that_dies_on_the_way_leaves_a_report_that_says_so(tmp_path: Path, form: str) -> None:
    with dying_after(form) as model:
        settings, request = thinking(tmp_path, model)
        result = await DeepResearcher(settings).research(request)
    assert (result.status, result.is_partial) == ("partial", True)
    assert len(result.sources) == len(TIDES)
    assert result.claims
    assert result.citations
    assert all(failure.where == "model" for failure in result.errors)
    assert "done without the model" in result.report
    assert "failed (500)" in result.report


async def test_a_model_that_dies_between_rounds_leaves_what_was_found(tmp_path: Path) -> None:
    judged = threading.Event()

    def answer(request: ModelRequest) -> Reply:
        if judged.is_set():
            return Reply.broken()
        if form_of(request) != "judge":
            return researcher(request)
        judged.set()
        return never_satisfied(request)

    with Model(answer) as model:
        settings, request = thinking(tmp_path, model)
        unsatisfied = request.model_copy(update={"threshold": 1.0, "max_rounds": 2, "max_sources": 2})
        result = await DeepResearcher(settings).research(unsatisfied)
    assert result.status == "partial"
    assert result.metadata.rounds == 2
    assert result.citations
    assert "done without the model" in result.report
    assert any("writing" in failure.what for failure in result.errors)


async def test_a_model_that_was_never_there_stops_the_run_until_it_is(tmp_path: Path) -> None:
    state = {"is_up": False}

    def answer(request: ModelRequest) -> Reply:
        return researcher(request) if state["is_up"] else Reply.broken(503)

    with Model(answer) as model:
        settings, request = thinking(tmp_path, model)
        with pytest.raises(RunStopped, match=r"stand-in .* failed \(503\)"):
            await DeepResearcher(settings).research(request)
        async with open_runs(settings) as runs:
            line = (await list_runs(runs.settings))[0]
        assert (line.status, line.question) == ("stopped", QUESTION)
        state["is_up"] = True
        result = await DeepResearcher(settings).resume(line.id)
    assert result.status == "complete"
    assert result.question == QUESTION
    assert len(result.sources) == len(TIDES)


@pytest.mark.parametrize(
    "nonsense",
    [
        Reply.say("Beep."),
        Reply.say(""),
        Reply.refuse(),
        Reply.give({}),
        Reply.garbage(),
        Reply.cut('{"a": ['),
    ],
)
async def test_a_model_that_talks_nonsense_still_leaves_a_report(tmp_path: Path, nonsense: Reply) -> None:
    with Model(lambda _: nonsense) as model:
        settings, request = thinking(tmp_path, model)
        result = await DeepResearcher(settings).research(request)
        answered = len(model.calls)
    assert result.status == "partial"
    assert result.citations
    assert "done without the model" in result.report
    assert any("outlining" in failure.what for failure in result.errors)
    if nonsense.raw is None:
        assert result.metadata.model_calls == answered
