"""A model that is not there, goes away, or talks nonsense."""

import json
import threading
import time
from pathlib import Path

import pytest
from standins.documents import TIDES, written
from standins.model import Model, ModelRequest
from standins.replies import Reply
from standins.server import most_at_once
from standins.working_model import form_of, never_satisfied, researcher

from fathom import DeepResearcher, ResearchRequest, RunStopped, Settings
from fathom.runs import list_runs
from fathom.runs.executor import open_runs
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


AWAY_S = 2.0


async def test_a_model_that_is_away_in_the_middle_of_a_run_is_waited_for(tmp_path: Path) -> None:
    docs = written(tmp_path / "docs", TIDES)
    away: list[float] = []

    def answer(request: ModelRequest) -> Reply:
        if form_of(request) != "plan":
            away.append(time.monotonic())
        is_away = bool(away) and time.monotonic() - away[0] < AWAY_S
        return Reply.broken(503) if is_away else researcher(request)

    with Model(answer) as model:
        settings = load_settings(home=tmp_path, base_url=model.base_url, outage_s=60)
        request = ResearchRequest(query=QUESTION, docs=[docs], model="stand-in")
        began = time.monotonic()
        result = await DeepResearcher(settings).research(request)
        failed = [seen for seen in model.calls if seen.status == 503]
    assert result.status == "complete"
    assert result.errors == []
    assert AWAY_S <= time.monotonic() - began < AWAY_S + 20
    # The four pages that were being read fail together; from then on one asks for all of them.
    assert len(failed) <= len(TIDES) + 5


async def test_callers_that_are_told_to_wait_do_and_come_back_one_by_one(tmp_path: Path) -> None:
    docs = written(tmp_path / "docs", TIDES)
    limited: list[float] = []

    def answer(request: ModelRequest) -> Reply:
        if form_of(request) == "read" and len(limited) < len(TIDES):
            limited.append(time.monotonic())
            return Reply.too_fast(wait_s=1.0)
        return researcher(request).after(0.05)

    with Model(answer) as model:
        settings = load_settings(home=tmp_path, base_url=model.base_url)
        request = ResearchRequest(query=QUESTION, docs=[docs], model="stand-in")
        result = await DeepResearcher(settings).research(request)
        later = [seen for seen in model.calls if seen.arrived > limited[0] + 0.5]
    assert result.status == "complete"
    assert result.errors == []
    assert min(seen.arrived for seen in later) >= limited[0] + 1.0
    assert most_at_once(sorted(later, key=lambda seen: seen.arrived)[:2]) == 1


async def test_an_answer_that_ended_at_its_limit_and_cost_claims_is_told(tmp_path: Path) -> None:
    def answer(request: ModelRequest) -> Reply:
        whole = researcher(request)
        if form_of(request) != "read":
            return whole
        text = json.dumps(whole.value)
        return Reply.cut(text[: text.index("}") + 20])  # the first claim, and the beginning of the second

    with Model(answer) as model:
        settings, request = thinking(tmp_path, model)
        result = await DeepResearcher(settings).research(request)
        again = await DeepResearcher(settings).research(request)  # from remembered answers
    for found in (result, again):
        assert found.claims
        assert found.status == "partial"
        assert "stopped at its limit of tokens" in found.report
        assert any(failure.what == "the end of an answer in the step read" for failure in found.errors)
