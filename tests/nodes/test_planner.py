"""The mind advises, the planner decides: limits, repeats and sub-questions are its own business."""

from typing import Any

import pytest
from fakes import FakeEngines, FakeMind, charge, claim, gap, hit, judgement, plan, query, question

from fathom.errors import BadInput, Unavailable
from fathom.nodes.planner import SCOUT, planner
from fathom.state import Knobs, Plan, ResearchState


async def planned(offered: Any, state: ResearchState | None = None, **words: Any) -> ResearchState:
    engines = words.pop("engines", FakeEngines([[]]))
    mind = words.pop("mind", None) or FakeMind(plans=[offered])
    return await planner(
        state or {"question": "What is it?"}, mind=mind, engines=engines, knobs=Knobs(**words)
    )


def later(**words: Any) -> ResearchState:
    first: ResearchState = {
        "question": "What is it?",
        "questions": [question(1), question(2)],
        "asked": [query("old one"), query("What is it?", SCOUT)],
        "judgements": [judgement(gaps=[gap()])],
        "claims": [claim()],
    }
    return {**first, **words}  # type: ignore[typeddict-item]


async def test_the_first_plan_is_grounded_in_a_quick_search() -> None:
    mind = FakeMind(plans=[plan("tides")], charges=[charge()])
    engines = FakeEngines([[hit()]])
    update = await planned(None, mind=mind, engines=engines, sources=3)
    assert engines.asked == [("What is it?", 3)]
    assert mind.asked[0].scouted == [hit()]
    assert [q.id for q in update["asked"]] == [SCOUT]
    assert update["hits"] == [hit()]
    assert [(q.id, q.text, q.question, q.round) for q in update["queries"]] == [("r1q1", "tides", "Q1", 1)]
    assert update["knobs"] == Knobs(sources=3)
    assert update["charges"] == [charge()]


async def test_a_quick_search_that_fails_is_told_and_planning_goes_on() -> None:
    update = await planned(plan("tides"), engines=FakeEngines([Unavailable("timeout")]))
    assert [(loss.where, loss.why) for loss in update["losses"]] == [("search", "timeout")]
    assert update["queries"]


async def test_a_mind_that_cannot_plan_stops_the_run() -> None:
    with pytest.raises(Unavailable, match="gone"):
        await planned(Unavailable("gone"))


@pytest.mark.parametrize("asked", [None, "", "  ", 7, "x" * 2001])
async def test_a_question_that_is_none_is_refused_before_anything_is_paid(asked: object) -> None:
    with pytest.raises(BadInput, match="question is"):
        await planned(None, {"question": asked}, engines=FakeEngines())  # type: ignore[arg-type]


async def test_there_are_no_more_queries_than_allowed_and_none_twice() -> None:
    offered = plan("Tides", " tides? ", "", "  ", "tides  now", "moon", "sun", "wind")
    update = await planned(offered, queries=3)
    assert [q.text for q in update["queries"]] == ["Tides", "tides now", "moon"]
    assert [q.id for q in update["queries"]] == ["r1q1", "r1q2", "r1q3"]


@pytest.mark.parametrize("offered", [plan(), plan("", "  "), Plan(strategy="", questions=[], queries=[])])
async def test_the_first_round_always_has_a_question_and_a_query(offered: Plan) -> None:
    update = await planned(offered)
    assert [q.text for q in update["queries"]] == ["What is it?"]
    assert update["queries"][0].question == update["questions"][0].id == "Q1"


async def test_later_rounds_know_what_was_found_and_do_not_ask_it_again() -> None:
    mind = FakeMind(plans=[plan("OLD one?", "new one")])
    update = await planned(None, later(), mind=mind, engines=FakeEngines())
    brief = mind.asked[0]
    assert (brief.round, list(brief.gaps), list(brief.findings)) == (2, [gap()], [claim()])
    assert brief.scouted == []
    assert [(q.id, q.text, q.round) for q in update["queries"]] == [("r2q1", "new one", 2)]


async def test_a_later_round_may_have_nothing_left_to_ask() -> None:
    assert (await planned(plan("old one"), later(), engines=FakeEngines()))["queries"] == []


async def test_known_sub_questions_stay_and_new_ones_get_the_next_id() -> None:
    offered = Plan(
        strategy="s",
        questions=[
            question(1, "what is part 2"),
            question(2, "What does it cost?"),
            question(3, " "),
            question(4, "what does it COST"),
        ],
        queries=[query("a", about="Q2"), query("b", about="Q4"), query("c", about="Q77")],
    )
    update = await planned(offered, later(), engines=FakeEngines())
    assert [(q.id, q.text) for q in update["questions"]] == [
        ("Q1", "What is part 1?"),
        ("Q2", "What is part 2?"),
        ("Q3", "What does it cost?"),
    ]
    assert [q.question for q in update["queries"]] == ["Q2", "Q3", "Q1"]


async def test_a_plan_beside_the_question_gets_the_question_itself_as_well() -> None:
    state: ResearchState = {"question": "How do barrages work?"}
    beside = await planned(plan("x", questions=["Who won at chess?"]), state)
    assert [q.text for q in beside["questions"]] == ["Who won at chess?", "How do barrages work?"]
    close = await planned(plan("x", questions=["Which barrages are there?"]), state)
    assert [q.text for q in close["questions"]] == ["Which barrages are there?"]


async def test_feedback_plans_the_same_round_again_and_is_used_up() -> None:
    mind = FakeMind(plans=[plan("costs")])
    state = later(
        judgements=[], asked=[query("What is it?", SCOUT)], queries=[query("tides")], feedback="no, costs"
    )
    update = await planned(None, state, mind=mind, engines=FakeEngines())
    brief = mind.asked[0]
    assert (brief.round, brief.feedback, [q.text for q in brief.proposed]) == (1, "no, costs", ["tides"])
    assert update["feedback"] == ""
    assert [q.id for q in update["queries"]] == ["r1q1"]
