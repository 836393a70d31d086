"""Whole rounds with minds of every temper: when a run goes on, when it stops, and what it says of that."""

from pathlib import Path
from typing import Any

import pytest
from kits import Clerk, Library, kits_of
from standins.prose import page

from fathom.graph import build_graph
from fathom.llm.port import ResearchModel
from fathom.state import RunConfig

pytestmark = pytest.mark.whole

QUESTION = "Which turbines are used in the estuary?"
COUNTED = "How many turbines has the estuary?"
SHELF = {f"https://shelf{n}.example/book": page(n, 600) for n in range(24)}


async def ended(
    home: Path, mind: ResearchModel, run_config: RunConfig, books: dict[str, str], question: str = QUESTION
) -> dict[str, Any]:
    graph = build_graph(kits_of(home, Library(books), mind))
    state: dict[str, Any] = await graph.ainvoke({"question": question}, context=run_config)
    return state


def stops(state: dict[str, Any]) -> list[str | None]:
    return [judgement.stop for judgement in state["judgements"]]


async def test_a_question_with_nothing_to_find_ends_with_an_honest_empty_report(tmp_path: Path) -> None:
    books = {f"https://dairy{n}.example": f"# Cheese\n\nBrine number {n} is salty." for n in range(9)}
    state = await ended(
        tmp_path, Clerk(), RunConfig(rounds=2, sources=3), books, "Who invented the zeppelin?"
    )
    assert state["report"].status == "failed"
    assert state["report"].sections == []
    last = state["judgements"][-1]
    assert (last.claims, last.gain.new, last.gain.per_query) == (0, 0, 0.0)
    assert last.stop in {"rounds used up", "nothing left to ask"}


async def test_a_source_that_repeats_itself_brings_nothing_and_stops_the_run(tmp_path: Path) -> None:
    text = "# Turbines\n\nOpening words. The estuary uses bulb turbines of steel. The sea is cold."
    books = {f"https://copy{n}.example": f"{text}\n\nPrinted by copy shop number {n}." for n in range(24)}
    state = await ended(tmp_path, Clerk(quotes=2), RunConfig(rounds=8, sources=3, threshold=1.0), books)
    assert stops(state) == [None, "saturated"]
    assert state["judgements"][-1].because == "0 new findings on 2 known"
    assert state["judgements"][-1].gain.new == 0


async def test_a_judge_who_is_never_satisfied_is_stopped_by_the_rules(tmp_path: Path) -> None:
    state = await ended(tmp_path, Clerk(quotes=2), RunConfig(rounds=3, sources=2, threshold=1.0), SHELF)
    assert stops(state) == [None, None, "rounds used up"]
    gains = [judgement.gain for judgement in state["judgements"]]
    assert all(gain.new > 0 and gain.queries > 0 for gain in gains)
    assert gains[-1].known == sum(gain.new for gain in gains)


async def test_a_judge_who_is_always_satisfied_stops_after_one_round(tmp_path: Path) -> None:
    state = await ended(tmp_path, Clerk(quotes=2, missing=None), RunConfig(rounds=8, sources=2), SHELF)
    assert stops(state) == ["only minor gaps"]
    assert all(check.is_passed for check in state["judgements"][0].checks)


async def test_unless_the_question_needs_what_is_not_there(tmp_path: Path) -> None:
    words = ("gulls", "divers", "storms", "whales", "ropes", "weeds", "barnacles", "silt", "kelp")
    books = {
        f"https://w{n}.example": f"# T\n\nOpening words. The turbines fear {word}."
        for n, word in enumerate(words)
    }
    mind = Clerk(quotes=1, missing=None)
    state = await ended(tmp_path, mind, RunConfig(rounds=8, sources=3), books, COUNTED)
    assert [j.held for j in state["judgements"]] == ["only minor gaps", "only minor gaps", None]
    assert stops(state) == [None, None, "only minor gaps"]
    assert {c.why for j in state["judgements"] for c in j.checks} == {"no relevant claim has a number"}
    counted = {**books, "https://w0.example": "# T\n\nOpening words. The estuary has 24 turbines."}
    state = await ended(tmp_path, mind, RunConfig(rounds=8, sources=3), counted, COUNTED)
    assert stops(state) == ["only minor gaps"]


async def test_sources_that_contradict_each_other_are_both_told(tmp_path: Path) -> None:
    books = {
        "https://one.example": "# T\n\nOpening words. The estuary has 24 turbines.",
        "https://two.example": "# T\n\nOpening words. The estuary has 36 turbines.",
    }
    state = await ended(tmp_path, Clerk(quotes=1), RunConfig(rounds=1, sources=2), books, COUNTED)
    assert "24 turbines" in state["report"].markdown
    assert "36 turbines" in state["report"].markdown
    assert state["judgements"][-1].gain.known == 2


@pytest.mark.parametrize(
    "run_config",
    [
        {"threshold": 0.0},
        {"threshold": 1.0},
        {"budget_usd": 0.0},
        {"sources": 1},
        {"queries": 1},
        {"rounds": 1, "sources": 1, "queries": 1, "threshold": 1.0, "budget_usd": 0.0},
        {"endless": True, "rounds": 1},
        {"endless": True, "rounds": 2, "budget_usd": 0.0},
    ],
)
async def test_no_odd_knob_costs_the_report(tmp_path: Path, run_config: dict[str, Any]) -> None:
    state = await ended(
        tmp_path, Clerk(quotes=1), RunConfig(**{"rounds": 2, "sources": 2, **run_config}), SHELF
    )
    assert state["report"].status != "failed"
    assert state["report"].sections
    assert state["judgements"][-1].stop
    assert len(state["judgements"]) <= RunConfig(**{"rounds": 2, **run_config}).max_rounds
