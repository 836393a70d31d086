"""The model advises, the planner decides: limits, repeats and sub-questions are its own business."""

import asyncio
from typing import Any

import pytest
from fakes.records import claim, clock, cost, gap, hit, judgement, known, page, plan, query, question
from fakes.services import FakeEngines, FakeModel, FakeReader

from fathom.errors import BadInput, Unavailable, Unreadable
from fathom.nodes.planner import planner
from fathom.reading import Document
from fathom.state import SCOUT, Hit, Plan, Reason, ResearchState, RunConfig


async def planned(offered: Any, state: ResearchState | None = None, **words: Any) -> ResearchState:
    engines = words.pop("engines", FakeEngines([[]]))
    model = words.pop("model", None) or FakeModel(plans=[offered])
    reader = words.pop("reader", None) or FakeReader(Document("# A page", "A page", "html"))
    asked = state or {"question": "What is it?"}
    return await planner(
        asked, model=model, engines=engines, reader=reader, run_config=RunConfig(**words), clock=clock
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
    model = FakeModel(plans=[plan("tides")], costs=[cost()])
    engines = FakeEngines([[hit()]])
    update = await planned(None, model=model, engines=engines, sources=3)
    assert engines.asked == [("What is it?", 3)]
    assert model.asked[0].scouted == [hit()]
    assert [q.id for q in update["asked"]] == [SCOUT]
    assert update["hits"] == [hit()]
    first = update["queries"][0]
    assert (first.id, first.text, first.question, first.round, first.family) == (
        "r1q1",
        "tides",
        "Q1",
        1,
        "web",
    )
    assert update["effort"].rounds == 3
    assert update["costs"] == [cost()]


async def test_a_quick_search_that_fails_is_told_and_planning_goes_on() -> None:
    update = await planned(plan("tides"), engines=FakeEngines([Unavailable("timeout")]))
    assert [(failure.where, failure.why) for failure in update["failures"]] == [("search", "timeout")]
    assert update["queries"]


async def test_a_model_that_cannot_plan_stops_the_run() -> None:
    with pytest.raises(Unavailable, match="gone"):
        await planned(Unavailable("gone"))


@pytest.mark.parametrize("asked", [None, "", "  ", 7, "x" * 2001])
async def test_a_question_that_is_none_is_refused_before_anything_is_paid(asked: object) -> None:
    with pytest.raises(BadInput, match="question is"):
        await planned(None, {"question": asked}, engines=FakeEngines())  # type: ignore[arg-type]


async def test_there_are_no_more_queries_than_allowed_and_none_twice() -> None:
    offered = plan("Tides", " tides? ", "", "  ", "tides  now", "moon", "sun", "wind")
    update = await planned(offered, queries=3)
    texts = [q.text for q in update["queries"]]
    assert "Tides" in texts
    assert "tides now" not in texts
    assert len(texts) == 3
    assert [q.id for q in update["queries"]] == ["r1q1", "r1q2", "r1q3"]


@pytest.mark.parametrize("offered", [plan(), plan("", "  "), Plan(strategy="", questions=[], queries=[])])
async def test_the_first_round_always_has_a_question_and_a_query(offered: Plan) -> None:
    update = await planned(offered)
    assert "What is it?" in [q.text for q in update["queries"]]
    assert update["queries"][0].question == update["questions"][0].id == "Q1"


async def test_later_rounds_know_what_was_found_and_do_not_ask_it_again() -> None:
    model = FakeModel(plans=[plan("OLD one?", "new one")])
    update = await planned(None, later(), model=model, engines=FakeEngines())
    brief = model.asked[0]
    assert (brief.round, list(brief.gaps), list(brief.findings)) == (2, [gap()], [claim()])
    assert not brief.scouted
    texts = [q.text for q in update["queries"]]
    assert "new one" in texts
    assert "OLD one?" not in texts
    assert {q.round for q in update["queries"]} == {2}
    assert "another angle" in update["strategy"]


async def test_a_model_that_settled_its_queries_may_have_nothing_left_to_ask() -> None:
    settled = plan("old one").model_copy(update={"is_settled": True})
    assert (await planned(settled, later(), engines=FakeEngines()))["queries"] == []
    # A run without end asks something else rather than nothing.
    assert (await planned(settled, later(), engines=FakeEngines(), endless=True))["queries"]


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
    assert {q.text: q.question for q in update["queries"] if len(q.text) == 1} == {
        "a": "Q2",
        "b": "Q3",
        "c": "Q1",
    }


async def test_a_plan_beside_the_question_gets_the_question_itself_as_well() -> None:
    state: ResearchState = {"question": "How do barrages work?"}
    beside = await planned(plan("x", questions=["Who won at chess?"]), state)
    assert [q.text for q in beside["questions"]] == ["Who won at chess?", "How do barrages work?"]
    close = await planned(plan("x", questions=["Which barrages are there?"]), state)
    assert [q.text for q in close["questions"]] == ["Which barrages are there?"]


async def test_feedback_plans_the_same_round_again_and_is_used_up() -> None:
    model = FakeModel(plans=[plan("costs")])
    state = later(
        judgements=[], asked=[query("What is it?", SCOUT)], queries=[query("tides")], feedback="no, costs"
    )
    update = await planned(None, state, model=model, engines=FakeEngines())
    brief = model.asked[0]
    assert (brief.round, brief.feedback, [q.text for q in brief.proposed]) == (1, "no, costs", ["tides"])
    assert update["feedback"] == ""
    assert "costs" in [q.text for q in update["queries"]]
    assert {q.round for q in update["queries"]} == {1}


async def test_what_is_known_already_is_doubted_by_one_query_at_least() -> None:
    update = await planned(plan("a new thing"), later(), engines=FakeEngines())
    assert "counter" in {q.family for q in update["queries"]}
    first = await planned(plan("tides", "moon", "sun"))
    assert {q.family for q in first["queries"]} == {"web"}


async def test_the_effort_fills_what_was_not_set_and_is_said() -> None:
    state: ResearchState = {"question": "An overview of tidal power"}
    update = await planned(
        plan("tidal power"), state, depth="standard", reader=FakeReader(Unreadable("torn"))
    )
    assert update["effort"].kind == "survey"
    assert (update["effort"].rounds, update["effort"].sources) == (5, 10)
    assert "Effort: survey" in update["strategy"]


async def test_a_model_advises_the_effort_and_a_chain_gets_its_rounds() -> None:
    offered = plan("tides").model_copy(update={"kind": "comparison"})
    assert (await planned(offered))["effort"].kind == "comparison"
    questions = [question(1), *(question(n).model_copy(update={"needs": [f"Q{n - 1}"]}) for n in range(2, 5))]
    chained = plan("tides").model_copy(update={"questions": questions})
    assert (await planned(chained, depth="standard"))["effort"].rounds == 5


async def test_perspectives_come_from_the_chapters_of_what_was_scouted() -> None:
    model = FakeModel(plans=[plan("tidal power cost")])
    text = "# Tidal power\n\n## Cost\n\nMuch.\n\n## Harm to fish\n\nSome.\n\n## References\n\nNone."
    update = await planned(
        None,
        {"question": "An overview of tidal power"},
        model=model,
        engines=FakeEngines([[hit(), hit("https://b.example/y", 2)]]),
        reader=FakeReader(Document(text, "Tidal power", "html")),
    )
    brief = model.asked[0]
    assert list(brief.outlines) == ["Tidal power: Cost | Harm to fish"] * 2
    assert update["perspectives"] == ["Cost", "Harm to fish"]
    assert update["failures"] == []


async def test_a_scouted_page_that_cannot_be_read_costs_a_loss_and_nothing_else() -> None:
    update = await planned(
        plan("tides"),
        {"question": "An overview of tidal power"},
        engines=FakeEngines([[hit(title="Barrages in winter")]]),
        reader=FakeReader(Unreadable("torn")),
    )
    assert [(failure.where, failure.why) for failure in update["failures"]] == [("reading", "torn")]
    assert update["perspectives"] == ["Barrages in winter"]
    assert update["queries"]


async def test_a_page_that_does_not_come_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    async def never(asked: Hit) -> Document:
        await asyncio.Event().wait()
        raise AssertionError

    monkeypatch.setattr("fathom.planning.model_inputs._STRUCTURE_TIMEOUT_S", 0.01)
    state: ResearchState = {"question": "An overview of tidal power"}
    update = await planned(plan("tides"), state, engines=FakeEngines([[hit()]]), reader=never)
    assert update["failures"] == []
    assert update["queries"]


async def test_nothing_is_read_to_plan_for_a_fact() -> None:
    reader = FakeReader(AssertionError("read"))
    assert await planned(plan("tides"), engines=FakeEngines([[hit()]]), reader=reader)


async def test_what_waits_is_asked_with_the_answer_once_it_is_there() -> None:
    asked = [
        question(1, "Who designed the lagoon?"),
        question(2, "Where was that designer born?").model_copy(update={"needs": ["Q1"]}),
    ]
    offered = Plan(
        strategy="s",
        questions=asked,
        queries=[query("lagoon designer"), query("{Q1} place of birth", about="Q2")],
    )
    first = await planned(offered, {"question": "Where was the designer of the lagoon born?"}, docs=["x"])
    assert [q.text for q in first["waiting"]] == ["{Q1} place of birth"]
    assert all(q.question == "Q1" for q in first["queries"])
    found = claim("The lagoon was designed by Mira Tollen.", question="Q1")
    model = FakeModel(plans=[plan("more", questions=[])])
    second = await planned(
        None,
        {
            **first,
            "question": "Where was the designer of the lagoon born?",
            "claims": [found],
            "judgements": [judgement()],
        },
        model=model,
        engines=FakeEngines(),
    )
    assert model.asked[0].answers == {"Q1": "Mira Tollen"}
    assert "Mira Tollen place of birth" in [q.text for q in second["queries"]]
    assert second["waiting"] == []


async def test_what_came_of_a_round_is_a_lesson_for_the_next() -> None:
    state = later(
        asked=[query("tides", "r1q1"), query("moon", "r1q2")],
        chosen=[hit("https://a.example/x", query="r1q1"), hit("https://b.example/y", query="r1q2")],
        pages=[page("page one"), page("empty", "https://b.example/y")],
    )
    model = FakeModel(plans=[plan("sun")])
    update = await planned(None, state, model=model, engines=FakeEngines())
    assert [(n.text, n.pages, n.claims) for n in update["lessons"]] == [("tides", 1, 1), ("moon", 1, 0)]
    assert list(model.asked[0].lessons) == update["lessons"]


async def test_five_rounds_with_nothing_new_change_the_approach() -> None:
    rounds = [judgement(n, new_claims=0, claims=1) for n in range(1, 6)]
    model = FakeModel(plans=[plan("sun")])
    update = await planned(None, later(judgements=rounds), model=model, engines=FakeEngines())
    assert model.asked[0].approach == Reason(phrase="approach", values={"count": "5"})
    assert "step back" in update["strategy"]
    assert update["tool"].name == "first principles"


async def test_a_follow_up_asks_nothing_before_what_is_at_hand_was_looked_through() -> None:
    model, engines = FakeModel(plans=[plan("tides now")]), FakeEngines([])
    state: ResearchState = {"question": "What is it?", "known": known("What was it?")}
    update = await planned(None, state, model=model, engines=engines)
    assert engines.asked == []
    assert (update["queries"], update["questions"][0].text) == ([], "What is part 1?")
    assert (update["effort"].rounds, update["effort"].recall_rounds) == (3, 1)


async def test_a_follow_up_without_evidence_begins_like_any_run() -> None:
    engines = FakeEngines([[hit()]])
    state: ResearchState = {"question": "What is it?", "known": known(pages=[], claims=[])}
    update = await planned(plan("tides now"), state, engines=engines)
    assert [text for text, _ in engines.asked] == ["What is it?"]
    assert [q.text for q in update["queries"]][:1] == ["tides now"]


async def test_a_follow_up_searches_only_for_what_has_no_good_answer() -> None:
    missing = gap("high").model_copy(update={"question": "Q2", "suggested_query": "part two"})
    state = later(judgements=[judgement(gaps=[gap("low"), missing])], known=known(is_recalled=True))
    offered = plan("one more", "part two").model_copy(
        update={
            "queries": [query("one more", "", "Q1", 2), query("part two", "", "Q2", 2)],
            "is_settled": True,
        }
    )
    assert [(q.text, q.question) for q in (await planned(offered, state))["queries"]] == [("part two", "Q2")]
    state.pop("known")
    assert len((await planned(offered, state))["queries"]) == 2


@pytest.mark.parametrize(
    ("thinking", "name"),
    [
        ("auto", "scientific method"),
        ("first-principles", "first principles"),
        ("occam", "Occam's razor"),
        ("falsification", "falsification"),
    ],
)
async def test_a_run_may_name_its_way_of_thinking(thinking: str, name: str) -> None:
    model = FakeModel(plans=[plan("tides")])
    update = await planned(None, model=model, thinking=thinking)
    assert update["tool"].name == name
    assert model.asked[0].tool.name == name


async def test_a_branch_plans_with_what_others_learned() -> None:
    model = FakeModel(plans=[plan("tides")])
    learned = claim("The plant makes 240 megawatts.", "other")
    await planned(None, {"question": "What is it?", "learned": [learned]}, model=model)
    assert model.asked[0].findings == [learned]
