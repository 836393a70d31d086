"""How far a run goes: rounds, money, and a planner with nothing left to ask."""

from pathlib import Path
from typing import Any, cast

import pytest
from kits import Clerk, Library, kits_of
from standins.prose import page

from fathom.graph import build_graph
from fathom.llm.port import ResearchModel
from fathom.report.statistics import statistics
from fathom.state import RunConfig, RunState

QUESTION = "How much does tidal power cost?"


async def last_state(
    home: Path,
    mind: ResearchModel,
    run_config: RunConfig,
    library: Library | None = None,
    question: str = QUESTION,
) -> dict[str, Any]:
    """The state at the end of a run over a shelf of short pages."""
    books = {f"https://shelf{n}.example/book": page(n, 1200) for n in range(60)}
    graph = build_graph(kits_of(home, library or Library(books), mind))
    state: dict[str, Any] = await graph.ainvoke({"question": question}, context=run_config)
    return state


@pytest.mark.parametrize("rounds", [1, 2, 7])
async def test_a_judge_who_is_never_satisfied_gets_exactly_the_rounds_allowed(
    tmp_path: Path, rounds: int
) -> None:
    run_config = RunConfig(rounds=rounds, sources=3, threshold=1.0)
    state = await last_state(tmp_path, Clerk(quotes=2, missing="high"), run_config)
    assert [judgement.round for judgement in state["judgements"]] == list(range(1, rounds + 1))
    assert state["judgements"][-1].stop == "rounds used up"
    assert len(state["pages"]) == 3 * rounds
    assert {query.round for query in state["asked"]} == set(range(1, rounds + 1))
    assert state["report"].status == "extracts"


@pytest.mark.parametrize(
    ("depth", "fact", "survey"), [("quick", 3, 3), ("standard", 3, 5), ("comprehensive", 5, 10)]
)
async def test_depth_and_effort_set_the_rounds(tmp_path: Path, depth: Any, fact: int, survey: int) -> None:
    clerk, run_config = Clerk(quotes=2, missing="high"), RunConfig(depth=depth, sources=3, threshold=1.0)
    state = await last_state(tmp_path, clerk, run_config)
    assert len(state["judgements"]) == fact
    state = await last_state(tmp_path, clerk, run_config, question="What are the costs of tidal power?")
    assert len(state["judgements"]) == survey


async def test_a_judge_who_is_always_satisfied_needs_one_round(tmp_path: Path) -> None:
    state = await last_state(tmp_path, Clerk(quotes=2, missing=None), RunConfig(rounds=9, sources=3))
    assert [judgement.stop for judgement in state["judgements"]] == ["only minor gaps"]


async def test_a_low_threshold_is_reached_at_once(tmp_path: Path) -> None:
    state = await last_state(
        tmp_path, Clerk(quotes=2, missing="medium"), RunConfig(rounds=9, sources=3, threshold=0.1)
    )
    assert [judgement.stop for judgement in state["judgements"]] == ["sufficient"]


async def test_a_planner_who_repeats_itself_has_nothing_left_to_ask(tmp_path: Path) -> None:
    run_config = RunConfig(rounds=9, sources=3, threshold=1.0)
    state = await last_state(tmp_path, Clerk(quotes=2, is_repeating=True), run_config)
    assert [judgement.stop for judgement in state["judgements"]] == [None, "nothing left to ask"]
    assert len({query.text for query in state["asked"]}) == len(state["asked"])
    assert state["report"].sections


async def test_no_round_starts_once_the_budget_is_spent(tmp_path: Path) -> None:
    run_config = RunConfig(rounds=9, sources=3, threshold=1.0, budget_usd=0.09)
    state = await last_state(tmp_path, Clerk(quotes=2, usd_a_call=0.01), run_config)
    # A round is a plan, three readings and a judgement: five cents. What the second one cannot pay it quotes.
    assert [judgement.stop for judgement in state["judgements"]] == [None, "budget used up"]
    assert sum(cost.usd for cost in state["costs"]) == pytest.approx(0.07)
    assert state["report"].status == "partial"
    assert "the budget ran out" in state["report"].markdown
    assert "0.0700 of 0.0765 USD spent on looking, of 0.09 in all" in statistics(cast(RunState, state))


async def test_a_run_that_costs_nothing_has_no_use_for_a_budget(tmp_path: Path) -> None:
    run_config = RunConfig(rounds=2, sources=3, threshold=1.0, budget_usd=0.0)
    state = await last_state(tmp_path, Clerk(quotes=2), run_config)
    assert state["judgements"][-1].stop == "rounds used up"


async def test_no_more_pages_are_read_than_allowed_and_none_twice(tmp_path: Path) -> None:
    books = {f"https://shelf{n}.example/book": page(n, 1200) for n in range(60)}
    library = Library(books)
    await last_state(tmp_path, Clerk(quotes=2), RunConfig(rounds=3, sources=4, threshold=1.0), library)
    assert len(library.read) == len(set(library.read)) == 12


async def test_one_lost_search_does_not_cost_the_round(tmp_path: Path) -> None:
    books = {f"https://shelf{n}.example/book": page(n, 1200) for n in range(60)}
    library = Library(books, lost_queries=["shelf 2"])
    clerk = Clerk(quotes=2, queries=2)
    state = await last_state(tmp_path, clerk, RunConfig(rounds=1, sources=4, threshold=1.0), library)
    assert len(state["pages"]) == 4
    assert [failure.why for failure in state["failures"]] == ["the catalogue is closed"]
    assert state["report"].status == "partial"
    assert "the catalogue is closed" in state["report"].markdown


async def test_every_search_lost_is_an_honest_report_without_prose(tmp_path: Path) -> None:
    books = {"https://shelf.example/book": page(0, 1200)}
    library = Library(books, lost_queries=[QUESTION])
    state = await last_state(tmp_path, Clerk(quotes=2), RunConfig(rounds=2, threshold=1.0), library)
    report = state["report"]
    assert (report.status, report.sections, report.citations) == ("failed", [], [])
    assert "the catalogue is closed" in report.markdown
    assert "Nothing is reported" in report.markdown
    assert not state.get("pages")
