"""A person's word on the plan, through a real interrupt."""

from typing import Any

import pytest
from fakes.records import claim, gap, judgement, points, query, question
from fakes.services import NO_SIGNALS, FakeBudget, FakeSignals
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command
from pydantic import ValidationError

from fathom.nodes.review import review
from fathom.state import ResearchState, ReviewAnswer, RunConfig
from fathom.storage.checkpoints import CompressedSerializer

PURSE = FakeBudget(0.25)
CLAIMS = [claim(f"Statement {n}.", name=str(n)) for n in range(9)]
STATE: ResearchState = {
    "question": "What is it?",
    "strategy": "look",
    "questions": [question(1), question(2)],
    "queries": [query("tides", "r2q1", "Q2"), query("moon", "r2q2")],
    "judgements": [judgement(gaps=[gap("high"), gap("low", "No maps")])],
    "claims": CLAIMS,
    "findings": [point.finding for point in points(*reversed(CLAIMS))],
}


def graph(signals: FakeSignals = NO_SIGNALS, run_config: RunConfig | None = None) -> Any:
    async def node(state: ResearchState) -> ResearchState:
        return await review(
            state, run_config=run_config or RunConfig(review="rounds"), signals=signals, budget=PURSE
        )

    b = StateGraph(ResearchState)
    b.add_node("review", node)
    b.add_edge(START, "review")
    b.add_edge("review", END)
    return b.compile(InMemorySaver(serde=CompressedSerializer()))


AT: RunnableConfig = {"configurable": {"thread_id": "t"}}


async def answered(
    answer: object, signals: FakeSignals = NO_SIGNALS, run_config: RunConfig | None = None
) -> tuple[Any, dict[str, Any]]:
    """The state after the answer, and what was on the table before it."""
    machine = graph(signals, run_config)
    shown = await machine.ainvoke(STATE, AT)
    return await machine.ainvoke(Command(resume=answer), AT), shown["__interrupt__"][0].value


async def test_nobody_is_asked_who_did_not_want_to_be() -> None:
    assert await review(STATE, run_config=RunConfig(), signals=NO_SIGNALS, budget=PURSE) == {}


async def test_only_the_first_plan_is_shown_to_whoever_asked_for_that() -> None:
    assert await review(STATE, run_config=RunConfig(review="plan"), signals=NO_SIGNALS, budget=PURSE) == {}


async def test_the_plan_the_findings_and_the_gaps_are_on_the_table() -> None:
    after, table = await answered({"action": "approve"})
    assert table["round"] == 2
    assert table["queries"] == ["tides", "moon"]
    assert table["findings"] == [f"Statement {n}. (LIKELY)" for n in range(4, 9)]
    assert table["gaps"] == ["Costs are missing", "No maps"]
    assert table["suggested"] == ["cost", "cost"]
    assert (table["spent_usd"], table["budget_usd"]) == (0.25, 1.0)
    assert table["summary"].startswith("After round 1 there is 1 claim ")
    assert "What is missing most: Costs are missing." in table["summary"]
    assert table["why"] == "review"
    assert after["queries"] == STATE["queries"]
    assert not after.get("feedback")
    assert not after.get("is_finishing")


async def test_edited_queries_replace_the_plan_and_known_ones_keep_their_sub_question() -> None:
    after, _ = await answered({"action": "edit", "queries": [" wind ", "tides", "  "]})
    found = [(q.id, q.text, q.question, q.round) for q in after["queries"]]
    assert found == [("r2q1", "wind", "Q1", 2), ("r2q2", "tides", "Q2", 2)]


async def test_an_added_query_joins_the_others() -> None:
    after, _ = await answered({"action": "add", "text": "no tides now"})
    assert [(q.id, q.text) for q in after["queries"]] == [
        ("r2q1", "tides"),
        ("r2q2", "moon"),
        ("r2q3", "no tides now"),
    ]


@pytest.mark.parametrize(
    "words", ["no", "now look at costs", "yes, but approve only costs", "finish with costs", "아니요"]
)
async def test_feedback_is_feedback_whatever_words_are_in_it(words: str) -> None:
    after, _ = await answered({"action": "feedback", "text": f" {words} "})
    assert after["feedback"] == words
    assert not after.get("is_finishing")
    assert after["queries"] == STATE["queries"]


async def test_finish_is_finish() -> None:
    after, _ = await answered({"action": "finish"})
    assert after["is_finishing"] is True


@pytest.mark.parametrize(
    "answer", [{"action": "edit"}, {"action": "maybe"}, "approve", {"action": "add", "text": " "}]
)
async def test_an_answer_that_makes_no_sense_leaves_the_question_open(answer: dict[str, object]) -> None:
    machine = graph()
    await machine.ainvoke(STATE, AT)
    with pytest.raises(ValidationError):
        await machine.ainvoke(Command(resume=answer), AT)
    assert (await machine.aget_state(AT)).next == ("review",)
    after = await machine.ainvoke(Command(resume={"action": "finish"}), AT)
    assert after["is_finishing"] is True


async def test_edited_sub_questions_replace_those_that_nothing_was_found_for() -> None:
    answer = {"action": "edit", "questions": ["Who pays?", "What is part 1?", " "]}
    after, _ = await answered(answer)
    # Part 1 has claims; part 2 has none and is gone, and its query is asked for the first that is left.
    assert [(q.id, q.text) for q in after["questions"]] == [("Q1", "What is part 1?"), ("Q3", "Who pays?")]
    assert [(q.text, q.question) for q in after["queries"]] == [("tides", "Q1"), ("moon", "Q1")]


async def test_the_same_words_said_twice_are_remembered_twice() -> None:
    after, _ = await answered({"action": "feedback", "text": "no"})
    assert after["said"] == ["no"]
    again: Any = {**STATE, "said": ["no"]}
    machine = graph()
    await machine.ainvoke(again, AT)
    assert (await machine.ainvoke(Command(resume={"action": "feedback", "text": "no"}), AT))["said"] == [
        "no",
        "no",
    ]


async def test_a_persons_stop_ends_the_looking_without_asking() -> None:
    signals = FakeSignals(is_stop=True)
    assert await review(STATE, run_config=RunConfig(review="rounds"), signals=signals, budget=PURSE) == {
        "is_finishing": True
    }


async def test_queries_that_were_added_join_the_plan_once() -> None:
    signals = FakeSignals(queries={7: "seals", 9: "moon"})
    update = await review(STATE, run_config=RunConfig(), signals=signals, budget=PURSE)
    assert [(q.id, q.text, q.round) for q in update["queries"]] == [
        ("r2q1", "tides", 1),
        ("r2q2", "moon", 1),
        ("a7", "seals", 2),
    ]
    again: ResearchState = {**STATE, **update}
    assert await review(again, run_config=RunConfig(), signals=signals, budget=PURSE) == update


async def test_they_are_on_the_table_and_stay_when_the_plan_is_approved() -> None:
    signals = FakeSignals(queries={7: "seals"})
    after, table = await answered({"action": "approve"}, signals)
    assert table["queries"] == ["tides", "moon", "seals"]
    assert [q.text for q in after["queries"]] == ["tides", "moon", "seals"]


async def test_a_pause_shows_the_plan_to_whoever_did_not_ask_for_review() -> None:
    after, table = await answered({"action": "approve"}, FakeSignals(is_pause=True), RunConfig())
    assert table["why"] == "paused"
    assert after["queries"] == STATE["queries"]
    edited, _ = await answered(
        {"action": "edit", "queries": ["wind"]}, FakeSignals(is_pause=True), RunConfig()
    )
    assert [q.text for q in edited["queries"]] == ["wind"]


def test_every_field_of_the_answer_says_what_it_is_for() -> None:
    fields = ReviewAnswer.model_json_schema()["properties"]
    assert all(field["description"] for field in fields.values())
    assert set(fields["action"]["enum"]) == {"approve", "edit", "feedback", "add", "finish"}
