"""Views are strict, and what has a status goes only along its arrows."""

from datetime import UTC, datetime, timedelta
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from fathom.errors import FathomError, IllegalTransition
from fathom.runs.views import (
    AgentMessage,
    AgentState,
    AgentStatus,
    AnswerSection,
    ConversationThread,
    QueryStatus,
    ResearchQuery,
    SearchResult,
    StatusView,
    ThreadStatus,
    stable_id,
)

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)
QUERY = ResearchQuery(
    id="r1",
    thread_id="r1",
    content="What is tidal power?",
    search_sources=["local"],
    created_at=NOON,
    updated_at=NOON,
)
AGENT = AgentState(id="a1", agent="planner", query_id="r1", updated_at=NOON)
THREAD = ConversationThread(id="r1", queries=[QUERY], answers=[], created_at=NOON, updated_at=NOON)
STATUSES: dict[type[StatusView], tuple[str, ...]] = {
    ResearchQuery: get_args(QueryStatus),
    AgentState: get_args(AgentStatus),
    ConversationThread: get_args(ThreadStatus),
}
DRAWN = {
    ResearchQuery: "pending>processing processing>completed processing>failed",
    AgentState: "idle>thinking thinking>working thinking>failed working>completed working>failed"
    " completed>idle failed>idle",
    ConversationThread: "active>idle active>closed idle>active idle>closed",
}


@pytest.mark.parametrize("record", [QUERY, AGENT, THREAD], ids=lambda r: type(r).__name__)
@given(steps=st.data())
def test_any_sequence_of_changes_goes_along_the_arrows_or_is_refused(record: StatusView, steps: Any) -> None:
    allowed = {tuple(arrow.split(">")) for arrow in DRAWN[type(record)].split()}
    known = STATUSES[type(record)]
    for number, status in enumerate(steps.draw(st.lists(st.sampled_from(known), max_size=12)), 1):
        before, at = record, NOON + timedelta(seconds=number)
        if (before.status, status) in allowed:
            record = before.moved(status, at)
            assert (record.status, record.updated_at) == (status, at)
        else:
            with pytest.raises(IllegalTransition) as refused:
                before.moved(status, at)
            assert str(refused.value).endswith(f"that is {before.status} cannot become {status}.")
        assert type(record) is type(before)
        assert record.id == before.id


@pytest.mark.parametrize("kind", STATUSES)
def test_every_arrow_is_between_statuses_that_exist(kind: type[StatusView]) -> None:
    drawn = {f"{a}>{b}" for a, ends in kind.arrows.items() for b in ends}
    assert drawn == set(DRAWN[kind].split())
    assert {part for arrow in drawn for part in arrow.split(">")} == set(STATUSES[kind])


def test_a_refused_change_is_one_sentence_and_an_error_of_ours() -> None:
    with pytest.raises(FathomError, match=r"^A research query that is pending cannot become completed\.$"):
        QUERY.moved("completed", NOON)
    with pytest.raises(IllegalTransition, match="before it was active"):
        THREAD.moved("idle", NOON - timedelta(seconds=1))
    with pytest.raises(IllegalTransition, match="cannot become lost"):
        AGENT.moved("lost", NOON)


@pytest.mark.parametrize(
    "words",
    [
        {"content": ""},
        {"content": "x" * 2001},
        {"search_sources": []},
        {"status": "lost"},
        {"id": ""},
        {"created_at": datetime(2026, 1, 2)},
        {"colour": "red"},
    ],
)
def test_a_query_that_makes_no_sense_is_refused(words: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        ResearchQuery.model_validate({**QUERY.model_dump(), **words})


@pytest.mark.parametrize(
    "words", [{"progress": 1.1}, {"progress": -0.1}, {"agent": "cook"}, {"query_id": ""}]
)
def test_an_agent_that_makes_no_sense_is_refused(words: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        AgentState.model_validate({**AGENT.model_dump(), **words})


def test_other_views_are_strict_too() -> None:
    result = {"id": "x", "query_id": "r1", "source": "web", "title": "T", "snippet": ""}
    result["address"] = "https://a.example/x"
    SearchResult.model_validate({**result, "created_at": NOON, "relevance": 0.5})
    for odd in ({"relevance": 2.0}, {"title": ""}, {"address": ""}, {"address": "a"}, {"source": "nowhere"}):
        with pytest.raises(ValidationError):
            SearchResult.model_validate({**result, "created_at": NOON, **odd})
    message: dict[str, Any] = {
        "id": "m",
        "query_id": "r1",
        "sender": "judge",
        "recipient": None,
        "content": {},
        "at": NOON,
    }
    AgentMessage.model_validate({**message, "type": "notification"})
    with pytest.raises(ValidationError):
        AgentMessage.model_validate({**message, "type": "gossip"})
    for numbers in ([2, 1], [1, 1], [0]):
        with pytest.raises(ValidationError):
            AnswerSection(heading="H", content="C", citations=numbers)
    with pytest.raises(ValidationError):
        QUERY.content = "other"  # type: ignore[misc]


def test_a_view_is_plain_json_and_back() -> None:
    for record in (QUERY, AGENT, THREAD):
        assert type(record).model_validate_json(record.model_dump_json()) == record


def test_names_last_and_differ() -> None:
    assert stable_id("r1", "plan") == stable_id("r1", "plan") != stable_id("r2", "plan")
