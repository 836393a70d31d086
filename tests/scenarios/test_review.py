"""A run that waits for a person, and goes on with what the person says."""

from pathlib import Path

import pytest
from standins.documents import TIDES, written
from standins.model import Model
from standins.working_model import form_of, never_satisfied, researcher, scripted

from fathom import BadInput, DeepResearcher, ResearchRequest, ReviewAnswer, RunStopped, Settings
from fathom.runs import list_runs
from fathom.runs.executor import open_runs
from fathom.settings import load_settings

QUESTION = "How much does tidal power cost?"


async def waiting(tmp_path: Path, model: Model | None = None) -> tuple[Settings, str]:
    """A run that has planned and waits; its id."""
    settings = load_settings(home=tmp_path, base_url=model.base_url if model else None)
    docs = written(tmp_path / "docs", TIDES)
    request = ResearchRequest(
        query=QUESTION, docs=[docs], review="rounds", max_rounds=1, model="stand-in" if model else None
    )
    with pytest.raises(RunStopped, match="waits for review"):
        await DeepResearcher(settings).research(request)
    async with open_runs(settings) as runs:
        line = (await list_runs(runs.settings))[0]
    assert line.status == "waiting for review"
    return settings, line.id


async def shown(settings: Settings, run_id: str) -> dict[str, object]:
    """What is on the table."""
    async with open_runs(settings) as runs:
        return dict((await runs.snapshot(run_id)).interrupts[0].value)


async def test_an_approved_plan_is_carried_out_and_not_paid_for_again(tmp_path: Path) -> None:
    with Model(researcher) as model:
        settings, run_id = await waiting(tmp_path, model)
        planned = await shown(settings, run_id)
        assert [form_of(request) for request in model.requests] == ["plan"]
        result = await DeepResearcher(settings).resume(run_id, ReviewAnswer(action="approve"))
        assert [form_of(request) for request in model.requests].count("plan") == 1
    assert [query.text for query in result.asked[1:]] == planned["queries"]
    assert result.status == "complete"


async def test_edited_queries_are_the_ones_that_are_sent(tmp_path: Path) -> None:
    settings, run_id = await waiting(tmp_path)
    answer = ReviewAnswer(action="edit", queries=["Ouseport barrage gates", " "])
    result = await DeepResearcher(settings).resume(run_id, answer)
    assert [query.text for query in result.asked[1:]] == ["Ouseport barrage gates"]
    assert "Ouseport" in result.report


async def test_one_query_more_is_sent_too(tmp_path: Path) -> None:
    settings, run_id = await waiting(tmp_path)
    planned = await shown(settings, run_id)
    result = await DeepResearcher(settings).resume(run_id, ReviewAnswer(action="add", text="seals in nets"))
    queries = planned["queries"]
    assert isinstance(queries, list)
    assert [query.text for query in result.asked[1:]] == [*queries, "seals in nets"]
    assert len({query.id for query in result.asked}) == len(result.asked)


async def test_feedback_is_planned_with_and_shown_again(tmp_path: Path) -> None:
    with Model(researcher) as model:
        settings, run_id = await waiting(tmp_path, model)
        with pytest.raises(RunStopped, match="waits for review"):
            words = ReviewAnswer(action="feedback", text="Think of the fishermen.")
            await DeepResearcher(settings).resume(run_id, words)
        plans = [request for request in model.requests if form_of(request) == "plan"]
        assert len(plans) == 2
        assert "Think of the fishermen." in plans[1].user_text
        assert "Think of the fishermen." not in plans[0].user_text
        result = await DeepResearcher(settings).resume(run_id, ReviewAnswer(action="approve"))
    assert result.status == "complete"


async def test_finish_before_anything_was_read_is_an_honest_nothing(tmp_path: Path) -> None:
    settings, run_id = await waiting(tmp_path)
    result = await DeepResearcher(settings).resume(run_id, ReviewAnswer(action="finish"))
    assert result.status == "failed"
    assert result.metadata.stop == "a person's word"


async def test_finish_after_a_round_writes_what_is_known(tmp_path: Path) -> None:
    docs = written(tmp_path / "docs", TIDES)
    with Model(scripted(judge=never_satisfied)) as model:
        settings = load_settings(home=tmp_path, base_url=model.base_url)
        request = ResearchRequest(query=QUESTION, docs=[docs], review="rounds", threshold=1.0)
        events = [event async for event in DeepResearcher(settings).stream(request)]
        assert events[-1].kind == "checkpoint"
        run_id = events[0].run_id
        with pytest.raises(RunStopped, match="waits for review"):
            await DeepResearcher(settings).resume(run_id, ReviewAnswer(action="approve"))
        between = await shown(settings, run_id)
        assert between["round"] == 2
        assert between["gaps"]
        assert between["suggested"]
        assert between["findings"]
        result = await DeepResearcher(settings).resume(run_id, ReviewAnswer(action="finish"))
    assert (result.metadata.stop, result.status) == ("a person's word", "unsure")
    assert result.citations


async def test_a_resume_without_an_answer_asks_again(tmp_path: Path) -> None:
    settings, run_id = await waiting(tmp_path)
    with pytest.raises(RunStopped, match="waits for review"):
        await DeepResearcher(settings).resume(run_id)
    with pytest.raises(BadInput, match="no report yet"):
        await DeepResearcher(settings).result(run_id)
