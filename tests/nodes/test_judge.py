"""One thought for rubric and gaps; everything else is counted."""

from typing import Any

import pytest
from fakes import RUBRIC, FakeMind, charge, claim, clock, gap, judgement, page, query, question

from fathom.errors import Unavailable
from fathom.minds.port import Assessment
from fathom.nodes.judge import judge
from fathom.state import Dropped, Knobs, Loss, ResearchState

PAGES = [page("one", "https://one.example"), page("two", "https://two.example", published="2025-06-01")]
CLAIMS = [claim(name="a", of="one"), claim(name="b", of="two", question="Q2", relevance=0.2)]
STATE: ResearchState = {
    "question": "What is it?",
    "questions": [question(1), question(2)],
    "queries": [query()],
    "pages": PAGES,
    "claims": CLAIMS,
}


async def judged(state: ResearchState, mind: FakeMind | None = None, **knobs: Any) -> ResearchState:
    mind = mind or FakeMind(assessments=[Assessment(RUBRIC, [gap()])])
    return await judge(state, mind=mind, knobs=Knobs(**knobs), clock=clock)


async def test_the_scores_are_computed_and_weighed() -> None:
    (found,) = (await judged(STATE))["judgements"]
    assert (found.coverage, found.diversity, found.quality, found.freshness) == (0.75, 0.5, 0.75, 0.75)
    assert found.overall == pytest.approx(0.35 * 0.75 + 0.20 * 0.5 + 0.30 * 0.75 + 0.15 * 0.75)
    assert (found.round, found.claims, found.new_claims, found.stop) == (1, 2, 2, None)
    assert found.gaps == [gap()]


async def test_a_round_is_counted_from_the_one_before() -> None:
    (found,) = (await judged({**STATE, "judgements": [judgement(1, claims=1)]}))["judgements"]
    assert (found.round, found.new_claims) == (2, 1)


@pytest.mark.parametrize(
    ("words", "knobs", "rule"),
    [
        ({}, {"threshold": 0.5}, "sufficient"),
        ({}, {"rounds": 1}, "rounds used up"),
        ({"charges": [charge("x", usd=0.6)]}, {"budget_usd": 0.5}, "budget used up"),
        ({"is_finishing": True}, {}, "a person's word"),
        ({"queries": []}, {}, "nothing left to ask"),
        ({"judgements": [judgement(1, claims=2)]}, {}, "saturated"),
    ],
)
async def test_a_run_stops_for_a_reason_it_can_name(words: Any, knobs: dict[str, Any], rule: str) -> None:
    update = await judged({**STATE, **words}, **knobs)
    assert update["judgements"][0].stop == rule
    assert update["judgements"][0].because
    assert "report" not in update


async def test_the_judges_own_price_counts() -> None:
    mind = FakeMind(assessments=[Assessment(RUBRIC, [gap()])], charges=[charge("judge", usd=0.2)])
    update = await judged({**STATE, "charges": [charge("x", usd=0.4)]}, mind, budget_usd=0.5)
    assert update["judgements"][0].stop == "budget used up"
    assert [c.call for c in update["charges"]] == ["judge"]


async def test_with_nothing_known_no_mind_is_paid_to_say_so() -> None:
    mind = FakeMind()
    update = await judged({**STATE, "claims": []}, mind)
    assert mind.asked == []
    (found,) = update["judgements"]
    assert (found.overall, found.quality, found.stop) == (0.0, 0.0, None)
    assert {g.priority for g in found.gaps} == {"high"}
    assert "report" not in update


async def test_the_end_with_nothing_is_an_honest_report() -> None:
    state: ResearchState = {
        **STATE,
        "claims": [],
        "asked": [query("tides")],
        "losses": [Loss(where="search", what="tides", why="timeout")],
        "dropped": [Dropped(page="a", count=4, why="not there")],
    }
    report = (await judged(state, FakeMind(), rounds=1, language="Korean"))["report"]
    assert report.status == "failed"
    for told in ("tides", "timeout", "주장 4개", "찾은 것이 없음"):
        assert told in report.markdown


async def test_a_judge_that_fails_stops_the_run_where_it_stands() -> None:
    with pytest.raises(Unavailable):
        await judged(STATE, FakeMind(assessments=[Unavailable("gone")]))


@pytest.mark.parametrize("most", [1, 2, 5])
async def test_a_run_never_has_a_round_more_than_allowed(most: int) -> None:
    judgements: list[Any] = []
    while not judgements or judgements[-1].stop is None:
        known = [claim(name=f"c{n}") for n in range(2 ** (len(judgements) + 1))]
        update = await judged({**STATE, "claims": known, "judgements": judgements}, rounds=most)
        judgements += update["judgements"]
        assert len(judgements) <= most
    assert (len(judgements), judgements[-1].stop) == (most, "rounds used up")
