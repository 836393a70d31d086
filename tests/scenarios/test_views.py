"""Threads and views of real runs: what the API shows is what the runs hold, made when it is asked for."""

import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from standins.documents import HANOK, TIDES, written

from fathom import BadInput, DeepResearcher, ResearchRequest, RunStopped
from fathom.errors import IllegalTransition
from fathom.runs.agent_states import agent_messages_from_events, agent_states_from_events
from fathom.runs.executor import open_runs
from fathom.runs.folder import open_folder
from fathom.runs.view_builder import view_thread, word_count
from fathom.runs.views import ViewedRun
from fathom.settings import Settings, load_settings

QUESTION = "How much does tidal power cost?"
AT_HAND = "Which part fails most often in the Pentle strait?"


def asked(tmp_path: Path, **words: str) -> tuple[Settings, ResearchRequest]:
    docs = written(tmp_path / "docs", TIDES)
    request = ResearchRequest.model_validate({"query": QUESTION, "docs": [docs], **words})
    return load_settings(home=tmp_path), request


async def test_a_thread_lists_its_questions_and_answers_in_order(tmp_path: Path) -> None:
    settings, request = asked(tmp_path)
    asking = DeepResearcher(settings)
    first = await asking.research(request)
    alone = await asking.research(ResearchRequest(query="What limits tidal power?", docs=request.config.docs))
    second = await asking.follow_up(first.run_id, AT_HAND)
    thread = await asking.thread(second.run_id[:8])
    assert thread == (await asking.thread(first.run_id)).model_copy(update={"status": thread.status})
    assert (thread.id, thread.status) == (first.run_id, "active")
    assert [(q.id, q.content, q.status) for q in thread.queries] == [
        (first.run_id, QUESTION, "completed"),
        (second.run_id, AT_HAND, "completed"),
    ]
    assert [answer.content for answer in thread.answers] == [first.report, second.report]
    assert {q.thread_id for q in thread.queries} == {first.run_id}
    other = await asking.thread(alone.run_id)
    assert [query.id for query in other.queries] == [alone.run_id]


async def test_a_thread_keeps_the_session_of_the_client_that_began_it(tmp_path: Path) -> None:
    settings, request = asked(tmp_path)
    asking = DeepResearcher(settings)
    named = ResearchRequest(query=request.query, **{**request.said, "session_id": "tab-1"})
    first = await asking.research(named)
    await asking.follow_up(first.run_id, AT_HAND)
    assert (await asking.thread(first.run_id)).session_id == "tab-1"
    with pytest.raises(BadInput):
        ResearchRequest(query="What?", session_id="<script>")


async def test_a_thread_is_idle_after_ten_minutes_and_closed_for_good(tmp_path: Path) -> None:
    settings, request = asked(tmp_path)
    asking = DeepResearcher(settings)
    first = await asking.research(request)
    closed = await asking.close_thread(first.run_id)
    assert closed.status == (await asking.thread(first.run_id)).status == "closed"
    with pytest.raises(BadInput, match=r"^The thread of run \w+ is closed; ask a new question instead\.$"):
        await asking.follow_up(first.run_id, AT_HAND)
    with pytest.raises(IllegalTransition, match="A thread that is closed cannot become closed"):
        await asking.close_thread(first.run_id)
    async with open_runs(settings) as runs:
        state = (await runs.snapshot(first.run_id)).values
    last = datetime(2026, 1, 2, 12, tzinfo=UTC)
    sight = ViewedRun("r", "r", QUESTION, state, last, last, is_over=True)  # type: ignore[arg-type]
    ages = {timedelta(minutes=9, seconds=59): "active", timedelta(minutes=10): "idle"}
    assert {age: view_thread([sight], last + age, is_closed=False).status for age in ages} == ages


async def test_the_views_of_a_run_are_its_own_records_seen_otherwise(tmp_path: Path) -> None:
    settings, request = asked(tmp_path)
    asking = DeepResearcher(settings)
    result = await asking.research(request)
    tables = _tables(settings)
    views = await asking.views(result.run_id)
    assert _tables(settings) == tables
    assert (views.query.status, views.query.search_sources) == ("completed", ["local"])
    assert views.plan is not None
    assert [step.description for step in views.plan.steps] == [q.text for q in result.questions]
    assert "tidal" in views.plan.keywords
    assert views.plan.steps[0].keywords == [QUESTION]
    assert views.plan.estimated_s is not None
    assert views.plan.estimated_s > 0
    assert views.query.created_at <= views.plan.created_at <= views.query.updated_at
    assert [r.address for r in views.results] == [page.address for page in result.sources]
    assert {r.source for r in views.results} == {"local"}
    assert all(r.relevance and r.snippet for r in views.results)
    answer = views.answer
    assert answer is not None
    assert answer.content == result.report
    assert [c.number for c in answer.citations] == list(range(1, len(result.citations) + 1))
    assert {c.id for c in answer.citations} <= {r.id for r in views.results}
    assert sorted({n for s in answer.sections for n in s.citations}) == [c.number for c in answer.citations]
    assert answer.by_source == {"local": answer.total_sources}
    assert answer.word_count > 40
    assert await asking.views(result.run_id) == views


async def test_engines_are_counted_and_the_judge_says_what_it_thinks(tmp_path: Path) -> None:
    settings, request = asked(tmp_path, rounds="1")
    asking = DeepResearcher(settings)
    done = await asking.research(request)
    views = await asking.views(done.run_id)
    assert {(result.engine, result.is_read) for result in views.results} == {("local", True)}
    assert views.answer is not None
    assert views.answer.by_engine == {"local": views.answer.total_sources}
    (judge,) = [agent for agent in views.agents if agent.agent == "judge"]
    thought = judge.intermediate_result
    assert {"quality", "relevance", "needs_more", "feedback"} <= thought.keys()
    assert (thought["needs_more"], bool(thought["feedback"])) == (False, True)


async def test_agents_and_messages_come_from_the_events_or_else_from_the_state(tmp_path: Path) -> None:
    settings, request = asked(tmp_path)
    told = [event async for event in DeepResearcher(settings).stream(request)]
    run_id = told[0].run_id
    at_rest = await DeepResearcher(settings).views(run_id)
    assert {agent.status for agent in at_rest.agents} == {"completed"}
    assert ("judge", None, "notification") in {(m.sender, m.recipient, m.type) for m in at_rest.messages}
    assert [m.at for m in at_rest.messages] == sorted(m.at for m in at_rest.messages)
    async with open_runs(settings) as runs:
        folder = await open_folder(runs.settings, run_id, tmp_path / "out")
    for event in told:
        await folder.tell(event)
    views = await DeepResearcher(settings).views(run_id)
    assert views.agents == agent_states_from_events(run_id, told, views.query.created_at)
    assert views.messages == agent_messages_from_events(run_id, told)
    assert {agent.status for agent in views.agents} == {"completed"}
    assert {m.type for m in views.messages} >= {"request", "response", "notification"}


@pytest.mark.parametrize("words", [{"strategy": "rollouts"}, {"strategy": "tree"}, {"max_rounds": "2"}])
async def test_every_kind_of_run_can_be_seen_and_followed(tmp_path: Path, words: dict[str, str]) -> None:
    settings, request = asked(tmp_path, **words)
    told = [event async for event in DeepResearcher(settings).stream(request)]
    views = await DeepResearcher(settings).views(told[0].run_id)
    assert views.query.status == "completed"
    agents = agent_states_from_events(views.query.id, told, views.query.created_at)
    assert {agent.status for agent in [*agents, *views.agents]} == {"completed"}
    new = await DeepResearcher(settings).follow_up(views.query.id, AT_HAND)
    assert (new.status, new.settings.strategy) == ("extracts", "loop")


async def test_a_run_that_waits_is_still_being_worked_on(tmp_path: Path) -> None:
    settings, request = asked(tmp_path, review="plan")
    with pytest.raises(RunStopped):
        await DeepResearcher(settings).research(request)
    async with open_runs(settings) as runs:
        run_id = await runs.find(None)
    views = await DeepResearcher(settings).views(run_id)
    assert (views.query.status, views.answer, views.results) == ("processing", None, [])
    assert views.plan is not None
    assert {agent.agent: agent.status for agent in views.agents}["writer"] == "idle"
    thread = await DeepResearcher(settings).thread(run_id)
    assert ([q.status for q in thread.queries], thread.answers) == (["processing"], [])


async def test_a_run_that_found_nothing_has_failed(tmp_path: Path) -> None:
    settings, request = asked(tmp_path)
    nothing = request.model_copy(update={"query": "Which comet passed Jupiter in 1994?"})
    result = await DeepResearcher(settings).research(nothing)
    views = await DeepResearcher(settings).views(result.run_id)
    assert views.query.status == "failed"
    assert views.answer is not None
    assert (views.answer.sections, views.answer.word_count, views.answer.opening) == ([], 0, "")


async def test_korean_words_are_counted(tmp_path: Path) -> None:
    settings = load_settings(home=tmp_path)
    docs = written(tmp_path / "docs", HANOK)
    request = ResearchRequest(query="온돌은 어떻게 방을 따뜻하게 하나?", docs=[docs])
    result = await DeepResearcher(settings).research(request)
    answer = (await DeepResearcher(settings).views(result.run_id)).answer
    assert answer is not None
    told = [s.text for section in result.sections for s in section.sentences]
    words = sum(len(text.split()) for text in [*told, *(s.title for s in result.sections)])
    assert answer.word_count == words > 10


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 0),
        ("Tidal power, since 1987.", 4),
        ("It's a state-of-the-art plant (3.5 MW).", 6),
        ("온돌은 방을 따뜻하게 한다.", 4),
        ("AI는 2024년에 나왔다", 3),
        ("- 目 of 目", 3),
        ("潮汐発電", 4),
        ("— … —", 0),
    ],
)
def test_a_word_is_what_stands_between_spaces(text: str, words: int) -> None:
    assert word_count(text) == words


def _tables(settings: Settings) -> dict[str, int]:
    """How many rows every table has: looking at a run stores nothing."""
    connection = sqlite3.connect(settings.home / "fathom.sqlite")
    try:
        names = [row[0] for row in connection.execute("select name from sqlite_master where type = 'table'")]
        counts = {n: connection.execute(f"select count(*) from {n}").fetchone()[0] for n in names}
        return {name: count for name, count in counts.items() if count}
    finally:
        connection.close()
