"""One thought for rubric and gaps; everything else is counted."""

from typing import Any

import pytest
from fakes.records import RUBRIC, claim, clock, cost, gap, judgement, page, query, question
from fakes.services import NO_SIGNALS, FakeBudget, FakeModel, FakePages, FakeSignals
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command

from fathom.errors import Unavailable
from fathom.nodes.judge import judge
from fathom.nodes.ports import TimeBudgetPort
from fathom.state import Direction, Failure, Gain, Hypothesis, Rejected, ResearchState, Ruling, RunConfig
from fathom.state.model_io import Assessment, HypothesisEvidence
from fathom.storage.checkpoints import CompressedSerializer

PAGES = [page("one", "https://one.example"), page("two", "https://two.example", published="2025-06-01")]
CLAIMS = [claim(name="a", of="one"), claim(name="b", of="two", question="Q2", relevance=0.2)]
WORDS = "silt storms divers weeds whales ropes gulls".split()  # noqa: SIM905
STATE: ResearchState = {
    "question": "What is it?",
    "questions": [question(1), question(2)],
    "queries": [query()],
    "pages": PAGES,
    "claims": CLAIMS,
}


async def judged(
    state: ResearchState,
    model: FakeModel | None = None,
    budget: FakeBudget | None = None,
    watch: TimeBudgetPort | None = None,
    signals: FakeSignals = NO_SIGNALS,
    **run_config: Any,
) -> ResearchState:
    return await judge(
        state,
        model=model or FakeModel(assessments=[Assessment(RUBRIC, [gap()])]),
        pages=FakePages(),
        run_config=RunConfig(**run_config),
        clock=clock,
        signals=signals,
        budget=budget or FakeBudget(),
        time_budget=watch,
    )


async def test_the_scores_are_computed_and_weighed() -> None:
    (found,) = (await judged(STATE))["judgements"]
    assert (found.coverage, found.diversity, found.quality, found.freshness) == (0.75, 0.5, 0.8, 0.75)
    assert found.overall == pytest.approx(0.35 * 0.75 + 0.20 * 0.5 + 0.30 * 0.8 + 0.15 * 0.75)
    assert (found.round, found.claims, found.new_claims, found.stop) == (1, 2, 2, None)
    assert found.gaps == [gap()]


async def test_a_round_is_counted_from_the_one_before() -> None:
    (found,) = (await judged({**STATE, "judgements": [judgement(1, claims=1)]}))["judgements"]
    assert (found.round, found.new_claims) == (2, 1)


@pytest.mark.parametrize(
    ("words", "run_config", "rule"),
    [
        ({}, {"threshold": 0.5, "missing": "medium"}, "sufficient"),
        ({}, {"rounds": 1}, "rounds used up"),
        ({}, {"budget_usd": 0.5, "budget": FakeBudget(0.45)}, "budget used up"),
        ({}, {"budget_usd": 0.5, "budget": FakeBudget(0.01, is_out=True)}, "budget used up"),
        ({"is_finishing": True}, {}, "a person's word"),
        ({"queries": []}, {}, "nothing left to ask"),
        (
            {"judgements": [judgement(1, claims=2, gain=Gain(known=1, new=1))]},
            {"missing": "medium"},
            "saturated",
        ),
    ],
)
async def test_a_run_stops_for_a_reason_it_can_name(
    words: Any, run_config: dict[str, Any], rule: str
) -> None:
    missing = gap(run_config.pop("missing", "high"))
    model = FakeModel(assessments=[Assessment(RUBRIC, [missing])])
    update = await judged({**STATE, **words}, model, **run_config)
    assert update["judgements"][0].stop == rule
    assert update["judgements"][0].because
    assert "report" not in update


async def test_what_the_judge_cost_is_told() -> None:
    model = FakeModel(assessments=[Assessment(RUBRIC, [gap()])], costs=[cost("judge", usd=0.2)])
    update = await judged({**STATE, "costs": [cost("x", usd=0.4)]}, model)
    assert update["judgements"][0].spent_usd == pytest.approx(0.6)
    assert [c.call for c in update["costs"]] == ["judge"]


async def test_with_nothing_known_no_model_is_paid_to_say_so() -> None:
    model = FakeModel()
    update = await judged({**STATE, "claims": []}, model)
    assert model.asked == []
    (found,) = update["judgements"]
    assert (found.overall, found.quality, found.stop) == (0.0, 0.0, None)
    assert {g.priority for g in found.gaps} == {"high"}
    assert "report" not in update


async def test_a_round_that_brought_nothing_new_is_not_judged_by_a_model_again() -> None:
    lowered = gap("medium").model_copy(update={"lowered_from": "high", "tried": 2})
    before = judgement(1, claims=2, pages=2, gaps=[lowered], confidence=0.4)
    silent = FakeModel()
    (found,) = (await judged({**STATE, "judgements": [before]}, silent))["judgements"]
    assert not silent.asked
    assert (found.round, found.new_claims, found.confidence) == (2, 0, 0.4)
    assert [(one.priority, one.tried) for one in found.gaps] == [("medium", 3)]  # still lowered by its tries
    read = FakeModel(assessments=[Assessment(RUBRIC, [])])
    await judged({**STATE, "judgements": [before.model_copy(update={"pages": 1})]}, read)
    assert read.asked  # a page was read, though nothing was found in it


async def test_the_end_with_nothing_is_an_honest_report() -> None:
    state: ResearchState = {
        **STATE,
        "claims": [],
        "asked": [query("tides")],
        "failures": [Failure(where="search", what="tides", why="timeout")],
        "rejected": [Rejected(page="a", count=4, why="not there")],
    }
    report = (await judged(state, FakeModel(), rounds=1, language="Korean"))["report"]
    assert report.status == "failed"
    for told in ("tides", "timeout", "진술 4개", "보고할 내용이 없습니다"):
        assert told in report.markdown


async def test_a_judge_that_fails_stops_the_run_where_it_stands() -> None:
    with pytest.raises(Unavailable):
        await judged(STATE, FakeModel(assessments=[Unavailable("gone")]))


@pytest.mark.parametrize("most", [1, 2, 5])
async def test_a_run_never_has_a_round_more_than_allowed(most: int) -> None:
    judgements: list[Any] = []
    while not judgements or judgements[-1].stop is None:
        known = [claim(f"Plant {n} is old.", name=f"c{n}") for n in range(2 ** (len(judgements) + 1))]
        missing = gap(description=WORDS[len(judgements)]).model_copy(update={"suggested_query": ""})
        model = FakeModel(assessments=[Assessment(RUBRIC, [missing])])
        update = await judged({**STATE, "claims": known, "judgements": judgements}, model, rounds=most)
        judgements += update["judgements"]
        assert len(judgements) <= most
    assert (len(judgements), judgements[-1].stop) == (most, "rounds used up")


async def test_a_question_that_needs_a_number_is_not_enough_without_one() -> None:
    state: ResearchState = {
        **STATE,
        "question": "How many turbines are there?",
        "claims": [claim("The turbines are old.")],
        "asked": [query()],
    }
    judgements: list[Any] = []
    while not judgements or judgements[-1].stop is None:
        model = FakeModel(assessments=[Assessment(RUBRIC, [])])
        # Each round finds something new, but never a number.
        number = len(judgements) + 1
        known = [claim(f"Turbines fear {word}.", name=word) for word in WORDS][: 2 * number]
        now: ResearchState = {
            **state,
            "claims": known,
            "judgements": judgements,
            "asked": [query(number=number)],
        }
        judgements += (await judged(now, model))["judgements"]
        assert model.asked[0].checks == judgements[-1].checks
    assert [j.held for j in judgements] == ["only minor gaps", "only minor gaps", None]
    assert [j.gaps[0].priority for j in judgements] == ["high", "high", "low"]
    assert judgements[-1].stop == "only minor gaps"


async def test_an_answer_the_judge_is_sure_of_ends_the_run() -> None:
    sure = {**STATE, "claims": [claim(name="a", of="one"), claim(name="b", of="two", question="Q2")]}
    for confidence, rule in ((0.7, "answered"), (0.69, None)):
        model = FakeModel(assessments=[Assessment(RUBRIC, [gap("medium")], confidence=confidence)])
        (found,) = (await judged(sure, model, threshold=1.0))["judgements"]  # type: ignore[arg-type]
        assert (found.stop, found.confidence) == (rule, confidence)
    model = FakeModel(assessments=[Assessment(RUBRIC, [gap()], confidence=9.0)])
    (found,) = (await judged(STATE, model, threshold=1.0))["judgements"]
    assert (found.stop, found.confidence) == (None, 1.0)  # a part has only weak evidence, whatever it says


async def test_hypotheses_are_weighed_by_what_the_judge_read() -> None:
    model = FakeModel(
        assessments=[Assessment(RUBRIC, [gap()], bearings=[HypothesisEvidence("H1", ["a", "zz"], ["b"])])]
    )
    state: ResearchState = {**STATE, "hypotheses": [Hypothesis(id="H1", statement="It is old.")]}
    update = await judged(state, model)
    (weighed,) = update["hypotheses"]
    assert (weighed.supporting, weighed.contradicting, weighed.confidence) == (["a"], ["b"], 0.45)
    assert update["judgements"][0].hypotheses == [weighed]
    assert model.asked[0].hypotheses == state["hypotheses"]


async def test_a_judgement_says_what_the_round_brought_and_what_all_has_cost() -> None:
    state: ResearchState = {
        **STATE,
        "asked": [query(), query("more", "r1q2")],
        "costs": [cost("x", usd=0.5)],
        "claims": [claim(f"It has {word}.", name=word, relevance=0.5) for word in WORDS],
    }
    (found,) = (await judged(state))["judgements"]
    assert (found.gain.new, found.gain.per_query, found.gain.per_usd) == (7, 3.5, 14.0)
    assert (found.spent_usd, found.found) == (0.5, WORDS[:5])


async def test_without_end_only_limits_and_people_stop_a_run() -> None:
    for words, run_config, rule in (
        ({}, {"threshold": 0.0}, None),
        ({"queries": []}, {}, "nothing left to ask"),
        ({}, {"budget": FakeBudget(10.0)}, "budget used up"),
        ({"judgements": [judgement(n) for n in range(1, 100)]}, {}, "rounds used up"),
        ({"is_finishing": True}, {}, "a person's word"),
    ):
        (found,) = (await judged({**STATE, **words}, endless=True, **run_config))["judgements"]  # type: ignore[typeddict-item]
        assert found.stop == rule


FERRY = [
    claim("The ferry of Merrow wakes the bay with its engine.", name="a", of="one"),
    claim("The ferry of Merrow does not disturb anybody in the bay.", name="b", of="two"),
]


async def test_what_rules_cannot_decide_is_ruled_on_in_the_same_thought() -> None:
    said = Ruling(claims=["a", "b"], relation="contradicts", kind="other", why="loud", by="model")
    model = FakeModel(assessments=[Assessment(RUBRIC, [gap()], [said])])
    update = await judged({**STATE, "claims": FERRY}, model)
    assert update["rulings"] == [said]
    assert [side.claims for side in update["contradictions"][0].sides] == [["a"], ["b"]]
    assert {finding.tag for finding in update["findings"]} == {"CONTRADICTED"}
    again = FakeModel(assessments=[Assessment(RUBRIC, [gap()])])
    later = await judged({**STATE, "claims": FERRY, "rulings": [said]}, again)
    assert later["contradictions"] == update["contradictions"]
    assert later["rulings"] == []


async def test_what_rules_decide_is_told_to_the_model() -> None:
    known = [
        claim("The lagoon of Swale makes 320 megawatts.", name="a", of="one"),
        claim("The lagoon of Swale makes 280 MW.", name="b", of="two"),
    ]
    model = FakeModel(assessments=[Assessment(RUBRIC, [gap()])])
    update = await judged({**STATE, "claims": known}, model)
    assert model.asked[0].contradictions == update["contradictions"]
    assert [side.value for side in update["contradictions"][0].sides] == ["320 megawatts", "280 MW"]


async def test_a_persons_stop_is_carried_out_by_the_judge_of_the_whole_run() -> None:
    signals = FakeSignals(is_stop=True)
    (found,) = (await judged(STATE, signals=signals))["judgements"]
    assert (found.stop, signals.places) == ("a person's word", ["judge 1"])


async def test_the_judge_of_a_branch_stops_and_leaves_the_order_to_the_others() -> None:
    signals = FakeSignals(is_stop=True)
    branch = Direction(id="b1", text="part", angle="", rounds=2, queries=1, sources=1)
    (found,) = (await judged({**STATE, "direction": branch}, signals=signals))["judgements"]
    assert (found.stop, signals.places) == ("a person's word", [""])


async def test_what_a_person_added_holds_back_contentment_but_no_limit() -> None:
    wish = FakeSignals(late=["eels"])
    (found,) = (await judged(STATE, signals=wish, threshold=0.0, rounds=3))["judgements"]
    assert (found.stop, found.held) == (None, "sufficient")
    update = await judged(STATE, signals=wish, threshold=0.0, rounds=1)
    assert update["judgements"][0].stop == "rounds used up"
    assert [(failure.where, failure.what) for failure in update["failures"]] == [("order", "eels")]


async def test_without_a_query_of_the_planners_the_persons_is_still_asked() -> None:
    state: ResearchState = {**STATE, "queries": []}
    assert (await judged(state, rounds=3))["judgements"][0].stop == "nothing left to ask"
    update = await judged(state, signals=FakeSignals(late=["eels"]), rounds=3)
    assert update["judgements"][0].stop is None


@pytest.mark.parametrize(("answer", "stop"), [("approve", None), ("finish", "a person's word")])
async def test_between_branches_the_judge_is_where_a_pause_is(answer: str, stop: str | None) -> None:
    async def node(state: ResearchState) -> ResearchState:
        signals = FakeSignals(is_pause=True)
        return await judged(state, signals=signals, strategy="tree", levels=3, threshold=1.0)

    b = StateGraph(ResearchState)
    b.add_node("judge", node)
    b.add_edge(START, "judge")
    machine = b.compile(InMemorySaver(serde=CompressedSerializer()))
    at: RunnableConfig = {"configurable": {"thread_id": "t"}}
    shown = await machine.ainvoke(STATE, at)
    assert shown["__interrupt__"][0].value["answers"] == ["approve", "finish"]
    after = await machine.ainvoke(Command(resume={"action": answer}), at)
    assert after["judgements"][0].stop == stop
