"""A person's word on the plan, through a real interrupt."""

from typing import Any

import pytest
from fakes import claim, gap, judgement, query, question
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command
from pydantic import ValidationError

from fathom.nodes.review import review
from fathom.state import Knobs, ResearchState
from fathom.store import ALLOWED, CompressedSerializer

STATE: ResearchState = {
    "question": "What is it?",
    "strategy": "look",
    "questions": [question(1), question(2)],
    "queries": [query("tides", "r2q1", "Q2"), query("moon", "r2q2")],
    "judgements": [judgement(gaps=[gap("high"), gap("low", "No maps")])],
    "claims": [claim(f"Statement {n}.", name=str(n)) for n in range(9)],
}


async def node(state: ResearchState) -> ResearchState:
    return await review(state, knobs=Knobs(review="rounds"))


def graph() -> Any:
    b = StateGraph(ResearchState)
    b.add_node("review", node)
    b.add_edge(START, "review")
    b.add_edge("review", END)
    return b.compile(InMemorySaver(serde=CompressedSerializer(allowed_msgpack_modules=ALLOWED)))


AT: RunnableConfig = {"configurable": {"thread_id": "t"}}


async def answered(answer: object) -> tuple[Any, dict[str, Any]]:
    """The state after the answer, and what was on the table before it."""
    machine = graph()
    shown = await machine.ainvoke(STATE, AT)
    return await machine.ainvoke(Command(resume=answer), AT), shown["__interrupt__"][0].value


async def test_nobody_is_asked_who_did_not_want_to_be() -> None:
    assert await review(STATE, knobs=Knobs()) == {}


async def test_only_the_first_plan_is_shown_to_whoever_asked_for_that() -> None:
    assert await review(STATE, knobs=Knobs(review="plan")) == {}


async def test_the_plan_the_findings_and_the_gaps_are_on_the_table() -> None:
    after, table = await answered({"action": "approve"})
    assert table["round"] == 2
    assert table["queries"] == ["tides", "moon"]
    assert table["findings"] == [f"Statement {n}." for n in range(4, 9)]
    assert table["gaps"] == ["Costs are missing", "No maps"]
    assert table["suggested"] == ["cost", "cost"]
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
