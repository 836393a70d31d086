"""Directions are planned, branches are sent out, and what they bring becomes one body of evidence."""

from typing import Any

import pytest
from fakes.records import claim, clock, gap, hit, judgement, page, query, question
from fakes.services import (
    NO_SIGNALS,
    FakeBudget,
    FakeEngines,
    FakeModel,
    FakePageLeases,
    FakePages,
    FakeReader,
)
from langgraph.types import Overwrite

from fathom.errors import BadInput
from fathom.nodes.coordinator import coordinator
from fathom.nodes.finish_branch import finish_branch
from fathom.nodes.planner import planner
from fathom.nodes.selector import selector
from fathom.state import Direction, ResearchState, RunConfig

FACT = "How much does tidal power cost?"
SURVEY = "What are the approaches to tidal power, and which trends are there?"
ROLLOUTS = RunConfig(strategy="rollouts")


def direction(name: str = "b1", **words: Any) -> Direction:
    given = {"text": f"way {name}", "angle": "x", "rounds": 2, "queries": 2, "sources": 2, **words}
    return Direction(id=name, **given)


async def planned(question: str = FACT, run_config: RunConfig = ROLLOUTS, **words: Any) -> ResearchState:
    given: Any = {"question": question, **words}
    reader = FakeReader(RuntimeError("nothing is read"))
    return await planner(
        given, model=FakeModel(), engines=FakeEngines(), reader=reader, run_config=run_config, clock=clock
    )


async def test_the_plan_says_the_effort_and_the_branches() -> None:
    update = await planned(SURVEY)
    assert update["effort"].kind == "survey"
    assert len(update["directions"]) == update["effort"].branches == 4
    assert "survey" in update["strategy"]
    assert "4 branches" in update["strategy"]
    assert [q.text for q in update["queries"]] == [d.text for d in update["directions"]]
    assert [q.id for q in update["queries"]] == ["b1", "b2", "b3", "b4"]


@pytest.mark.parametrize(("branches", "number"), [(None, 2), (1, 1), (5, 5), (8, 8)])
async def test_who_sets_branches_gets_as_many(branches: int | None, number: int) -> None:
    update = await planned(run_config=RunConfig(strategy="rollouts", branches=branches))
    assert len(update["directions"]) == number


async def test_a_branch_of_the_tree_looks_once_and_a_rollout_as_often_as_the_question_is_worth() -> None:
    tree = (await planned(run_config=RunConfig(strategy="tree", breadth=3)))["directions"]
    assert {(d.rounds, d.queries, d.sources) for d in tree} == {(1, 3, 3)}
    assert len(tree) == 3
    rollouts = await planned(run_config=RunConfig(strategy="rollouts"))
    assert {d.rounds for d in rollouts["directions"]} == {rollouts["effort"].rounds}
    assert {
        d.rounds for d in (await planned(run_config=RunConfig(strategy="rollouts", levels=4)))["directions"]
    } == {4}


async def test_feedback_is_looked_into_first() -> None:
    update = await planned(feedback="ask fishermen")
    assert update["directions"][0].text == "ask fishermen"
    assert update["feedback"] == ""


@pytest.mark.parametrize("question", ["", "  ", None, 7, "x" * 2001])
async def test_no_question_is_refused(question: Any) -> None:
    with pytest.raises(BadInput, match="The question is"):
        await planned(question)


async def test_a_page_that_another_branch_took_is_left_to_it() -> None:
    page_leases = FakePageLeases(others=["https://a.example"])
    hits = [hit("https://a.example"), hit("https://b.example", 2), hit("https://c.example", 3)]
    state: ResearchState = {"hits": hits, "run": "run", "direction": direction(sources=1)}
    update = await selector(
        state, run_config=RunConfig(), page_leases=page_leases, signals=NO_SIGNALS, pages=FakePages()
    )
    assert update["visited"] == ["https://b.example"]
    # A branch that was killed before it could say so gets the same page again.
    assert (
        await selector(
            state, run_config=RunConfig(), page_leases=page_leases, signals=NO_SIGNALS, pages=FakePages()
        )
    )["visited"] == ["https://b.example"]


async def test_a_branch_brings_back_its_own_under_its_name() -> None:
    handed, own = claim(name="c0", of="old"), claim(name="c1")
    state: ResearchState = {
        "question": "way b2",
        "run": "run",
        "direction": direction("b2", given=["c0"]),
        "questions": [question(1), question(2)],
        "asked": [query("old", "b1/r1q1"), query("new")],
        "claims": [handed, own],
        "pages": [page("old", "https://o.example"), page()],
        "judgements": [judgement(gaps=[gap("high")], stop="rounds used up", because="1 of 1")],
    }
    update = await finish_branch(state)
    brought: dict[str, Any] = {
        name: value.value for name, value in update.items() if isinstance(value, Overwrite)
    }
    assert [q.id for q in brought["questions"]] == ["b2/Q1", "b2/Q2"]
    assert [(q.id, q.question) for q in brought["asked"]] == [("b2/r1q1", "b2/Q1")]
    assert [(c.id, c.question) for c in brought["claims"]] == [("c1", "b2/Q1")]
    told = update["directions"][0]
    assert (told.status, told.asked, told.pages, told.claims) == ("explored", 1, 1, 1)
    assert told.leads == ["cost"]
    assert told.because == "rounds used up (1 of 1)"


async def test_a_branch_that_found_nothing_says_so() -> None:
    state: ResearchState = {
        "question": "way b1", "run": "run", "direction": direction(), "judgements": [judgement(gaps=[gap()])],
    }  # fmt: skip
    told = (await finish_branch(state))["directions"][0]
    assert (told.status, told.leads) == ("empty", [])


async def test_the_same_sub_question_of_two_branches_is_one() -> None:
    state: ResearchState = {
        "questions": [
            question(1, "What does it cost?").model_copy(update={"id": "b1/Q1"}),
            question(1, "Who pays?").model_copy(update={"id": "b1/Q2"}),
            question(1, "what does it  COST").model_copy(update={"id": "b2/Q1"}),
        ],
        "claims": [claim(name="c1", question="b1/Q1"), claim(name="c2", question="b2/Q1")],
        "asked": [query("x", "b2/r1q1", "b2/Q1"), query("y", "b2/scout", "")],
        "directions": [direction("b1", status="explored"), direction("b2", status="explored")],
        "queries": [direction("b1").query(), direction("b2").query()],
    }
    update: dict[str, Any] = {
        **await coordinator(state, run_config=ROLLOUTS, signals=NO_SIGNALS, budget=FakeBudget())
    }
    assert [(q.id, q.text) for q in update["questions"].value] == [
        ("Q1", "What does it cost?"),
        ("Q2", "Who pays?"),
    ]
    assert [c.question for c in update["claims"]] == ["Q1", "Q1"]
    assert [q.question for q in update["asked"]] == ["Q1"]
    assert "queries" not in update


async def test_a_start_that_a_person_took_out_is_pruned() -> None:
    state: ResearchState = {
        "directions": [direction("b1", status="explored"), direction("b2")],
        "queries": [direction("b1").query()],
    }
    update = await coordinator(state, run_config=ROLLOUTS, signals=NO_SIGNALS, budget=FakeBudget())
    assert [(d.id, d.status) for d in update["directions"]] == [("b1", "explored"), ("b2", "pruned")]


async def test_the_next_branch_of_a_hand_off_asks_with_what_the_one_before_left_open() -> None:
    state: ResearchState = {
        "directions": [direction("b1", status="explored", leads=["way to Ouseport"]), direction("b2")],
        "queries": [direction("b1").query(), direction("b2").query()],
    }
    handoff = RunConfig(strategy="rollouts", orchestration="handoff")
    update = await coordinator(state, run_config=handoff, signals=NO_SIGNALS, budget=FakeBudget())
    assert update["queries"][1].text == update["directions"][0].text == "way b2 to Ouseport"
    assert update["directions"][0].parent == "b1"
    assert "queries" not in await coordinator(
        state, run_config=ROLLOUTS, signals=NO_SIGNALS, budget=FakeBudget()
    )
