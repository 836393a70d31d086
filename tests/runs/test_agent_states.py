"""Agents and messages out of events, in whatever order they come."""

from datetime import UTC, datetime, timedelta
from typing import Any

from fakes.records import judgement
from hypothesis import given
from hypothesis import strategies as st

from fathom.events import (
    AnalysisCompleted,
    AnalysisStarted,
    Checkpoint,
    Completed,
    ContentExtracted,
    ExtractionStarted,
    Failed,
    PageName,
    Payload,
    PlanGenerated,
    Progress,
    ReportSection,
    ReportStarted,
    ReportWritten,
    SearchCompleted,
    SearchStarted,
    Started,
    SufficiencyEvaluated,
)
from fathom.runs.agent_states import agent_messages_from_events, agent_states_from_events
from fathom.state import Failure, RunConfig

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)
LOST = Failure(where="search", what="tides", why="closed")
PAYLOADS: list[Payload] = [
    Started(question="What?", run_config=RunConfig()),
    PlanGenerated(strategy="look", questions=["What?"], queries=["tides", "silt"]),
    SearchStarted(query="tides"),
    SearchCompleted(query="tides", hits=3),
    SearchStarted(query="silt"),
    SearchCompleted(query="silt", hits=0, lost=[LOST]),
    ExtractionStarted(pages=[PageName(title="A", address="a"), PageName(title="B", address="b")]),
    ContentExtracted(title="A", address="a", chars=100),
    AnalysisStarted(title="A", address="a"),
    AnalysisCompleted(title="A", address="a", claims=2),
    SufficiencyEvaluated(judgement=judgement(1), threshold=0.8),
    ReportStarted(sections=["One", "Two"]),
    ReportSection(title="One", sentences=["It is."]),
    ReportWritten(status="complete", markdown="# It"),
    Checkpoint(why="review"),
    Failed(error="The model is gone.", how_to_go_on="fathom resume x"),
    Completed(status="complete"),
]


def events(*payloads: Payload) -> list[Progress]:
    return [
        Progress(
            kind=payload.kind,
            run_id="r1",
            round=1,
            limit=3,
            elapsed_s=float(n),
            at=NOON + timedelta(seconds=n),
            payload=payload,
        )
        for n, payload in enumerate(payloads)
    ]


def after(*payloads: Payload) -> dict[str, Any]:
    return {state.agent: state for state in agent_states_from_events("r1", events(*payloads), NOON)}


def test_before_anything_happens_all_are_idle() -> None:
    assert {state.status for state in after().values()} == {"idle"}


def test_half_way_through_it_is_told_who_does_what_and_how_far() -> None:
    agents = after(*PAYLOADS[:5])
    assert agents["planner"].status == "completed"
    assert agents["planner"].intermediate_result["queries"] == ["tides", "silt"]
    assert (agents["searcher"].status, agents["searcher"].progress) == ("working", 0.5)
    assert agents["searcher"].current_task == "silt"
    assert agents["writer"].status == "idle"
    reading = after(*PAYLOADS[:9])
    assert (reading["reader"].status, reading["reader"].progress) == ("working", 0.5)
    assert reading["searcher"].intermediate_result == {"hits": 3}
    writing = after(*PAYLOADS[:13])
    assert (writing["writer"].progress, writing["writer"].intermediate_result) == (0.5, {"sections": 1})
    assert {writing[name].status for name in ("searcher", "reader", "analyzer", "judge")} == {"completed"}


def test_who_works_when_the_run_fails_has_failed_and_goes_on_when_it_does() -> None:
    failed = after(*PAYLOADS[:3], PAYLOADS[15])
    assert (failed["searcher"].status, failed["searcher"].error) == ("failed", "The model is gone.")
    assert failed["planner"].status == "completed"
    again = after(*PAYLOADS[:3], PAYLOADS[15], *PAYLOADS[2:4])
    assert (again["searcher"].status, again["searcher"].error) == ("working", "")


def test_the_messages_say_who_told_whom() -> None:
    messages = agent_messages_from_events("r1", events(*PAYLOADS))
    told = [(m.sender, m.recipient, m.type) for m in messages]
    assert told == [
        ("planner", "searcher", "request"),
        ("searcher", "reader", "response"),
        ("searcher", "reader", "response"),
        ("searcher", None, "error"),
        ("reader", "analyzer", "response"),
        ("analyzer", "judge", "response"),
        ("judge", None, "notification"),
        ("writer", None, "notification"),
        ("planner", None, "notification"),
        ("planner", None, "error"),
    ]
    assert len({message.id for message in messages}) == len(messages)
    assert [m.at for m in messages] == sorted(m.at for m in messages)


@given(st.lists(st.sampled_from(PAYLOADS), max_size=40))
def test_no_order_of_events_leads_off_the_arrows(payloads: list[Payload]) -> None:
    for state in after(*payloads).values():
        assert 0 <= state.progress <= 1
        assert (state.status == "failed") == bool(state.error)
    assert len(agent_messages_from_events("r1", events(*payloads))) <= 3 * len(payloads)


def test_a_clock_that_is_set_back_breaks_nothing() -> None:
    told = events(*PAYLOADS[:6])
    back = [event.model_copy(update={"at": NOON - timedelta(hours=n)}) for n, event in enumerate(told)]
    assert {state.updated_at for state in agent_states_from_events("r1", back, NOON)} == {NOON}
