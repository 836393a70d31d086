"""A forecast before a run: moved by what runs here took, never above the budget, and never exceeded."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from standins.charging_model import Cashier
from standins.documents import TIDES, written
from standins.model import Model

from fathom import DeepResearcher, ResearchRequest, Settings
from fathom.budget.time_budget import grace_s
from fathom.planning.forecast import (
    PastRun,
    RoleWork,
    load_past_runs,
    make_forecast,
    run_shape,
)
from fathom.settings import load_settings
from fathom.state import RunConfig
from fathom.storage import open_storage
from fathom.storage.records import PaidCall

QUESTION = "How much does tidal power cost?"
SURVEY = "What is the state of tidal power?"


def settings_in(home: Path, **words: Any) -> Settings:
    return load_settings(**{"home": home, "openai_api_key": "x", **words})


def test_it_grows_with_the_depth_and_with_the_price_of_the_model(tmp_path: Path) -> None:
    own = settings_in(tmp_path)
    quick, deep = (
        make_forecast(own, RunConfig(depth=depth), SURVEY, []) for depth in ("quick", "comprehensive")
    )
    assert 0 < quick.expected_usd < deep.expected_usd <= deep.worst_usd == 1.0
    assert quick.expected_s < deep.expected_s < deep.worst_s
    assert quick.calls < deep.calls
    dear = make_forecast(own, RunConfig(depth="quick", model="gpt-4.1"), SURVEY, [])
    assert dear.expected_usd > quick.expected_usd
    many = make_forecast(own, RunConfig(depth="quick", strategy="rollouts", branches=8), SURVEY, [])
    assert many.expected_usd > quick.expected_usd


@pytest.mark.parametrize("budget", [0.0, 0.01, 0.2])
def test_the_worst_case_is_the_budget(tmp_path: Path, budget: float) -> None:
    found = make_forecast(
        settings_in(tmp_path), RunConfig(depth="comprehensive", budget_usd=budget), SURVEY, []
    )
    assert found.expected_usd <= found.worst_usd == budget


@pytest.mark.parametrize("limit_s", [10.0, 120.0, 100_000.0])
def test_the_worst_time_is_never_beyond_the_limit_and_the_time_for_the_report(
    tmp_path: Path, limit_s: float
) -> None:
    own = settings_in(tmp_path)
    for run_config in (
        RunConfig(),
        RunConfig(depth="comprehensive"),
        RunConfig(strategy="rollouts", branches=8),
    ):
        free = make_forecast(own, run_config, SURVEY, [])
        bound = make_forecast(own, run_config.model_copy(update={"time_limit_s": limit_s}), SURVEY, [])
        assert bound.expected_s <= bound.worst_s == min(free.worst_s, limit_s + grace_s(limit_s))


def test_the_worst_time_of_a_quick_run_is_little_more_than_an_hour_and_follows_the_settings(
    tmp_path: Path,
) -> None:
    usual = make_forecast(settings_in(tmp_path), RunConfig(depth="quick"), SURVEY, [])
    assert usual.expected_s < 120 < usual.worst_s < 4000
    hasty = make_forecast(settings_in(tmp_path, call_timeout_s=20.0, outage_s=30.0), RunConfig(), SURVEY, [])
    assert hasty.worst_s < usual.worst_s
    narrow = make_forecast(settings_in(tmp_path, parallel_calls=2), RunConfig(), SURVEY, [])
    assert narrow.expected_s > usual.expected_s
    assert narrow.worst_s > usual.worst_s
    in_turn = RunConfig(strategy="rollouts", branches=4, orchestration="sequential")
    at_once = in_turn.model_copy(update={"orchestration": "concurrent"})
    both = [make_forecast(settings_in(tmp_path), run_config, SURVEY, []) for run_config in (in_turn, at_once)]
    assert both[0].worst_s > both[1].worst_s


def test_what_costs_nothing_is_said_to_cost_nothing(tmp_path: Path) -> None:
    docs = written(tmp_path / "docs", TIDES)
    for words in ({"openai_api_key": None}, {"base_url": "http://localhost:11434/v1"}):
        found = make_forecast(settings_in(tmp_path, **words), RunConfig(docs=[docs]), QUESTION, [])
        assert (found.expected_usd, found.worst_usd, found.unpriced) == (0.0, 0.0, [])
    assert (
        make_forecast(settings_in(tmp_path, openai_api_key=None), RunConfig(docs=[docs]), QUESTION, []).calls
        == 0
    )


def test_searches_that_cost_are_in_it(tmp_path: Path) -> None:
    own = settings_in(tmp_path, openai_api_key=None, serper_api_key="key")
    found = make_forecast(own, RunConfig(), QUESTION, [])
    assert 0 < found.expected_usd < found.worst_usd


def test_a_model_without_a_price_is_named(tmp_path: Path) -> None:
    own = settings_in(tmp_path, base_url="https://models.example/v1", model="made-up-1")
    assert make_forecast(own, RunConfig(), QUESTION, []).unpriced == ["made-up-1"]
    (tmp_path / "prices.toml").write_text("[models.made-up-1]\ninput = 1\noutput = 2\n")
    priced = make_forecast(own, RunConfig(), QUESTION, [])
    assert priced.unpriced == []
    assert priced.expected_usd > 0


def test_runs_like_it_move_the_expectation_towards_them(tmp_path: Path) -> None:
    own, run_config = settings_in(tmp_path), RunConfig()
    shape = run_shape(run_config, QUESTION)
    work = {
        ("read", "gpt-4.1-mini"): RoleWork(40, 400_000, 40_000),
        ("write", "gpt-4.1"): RoleWork(9, 90_000, 20_000),
    }
    long = PastRun(shape, 900.0, work)
    usual = make_forecast(own, run_config, QUESTION, [])
    found = [make_forecast(own, run_config, QUESTION, [long] * n) for n in (1, 3, 12)]
    seconds = [usual.expected_s, *(one.expected_s for one in found)]
    assert seconds == sorted(seconds)
    assert seconds[-1] == pytest.approx(900, rel=0.1)
    # Reading cost more tokens than is usual, so that more is expected, also of a run of another kind.
    assert usual.expected_usd < found[0].expected_usd < found[2].expected_usd
    other = make_forecast(own, run_config, QUESTION, [PastRun("another kind", 900.0, work)])
    assert other.expected_usd > usual.expected_usd
    assert other.expected_s == usual.expected_s
    assert "3 like it" in found[1].because


async def test_the_past_is_read_from_the_book(tmp_path: Path) -> None:
    now = [100.0]
    storage = open_storage(tmp_path / "fathom.sqlite")
    costs = replace(storage.costs, clock=lambda: now[0])
    await storage.runs.remember_shape("r1", "a kind")
    for run, role in (("t1/r1", "read"), ("t1/r1", "write"), ("t2/r2", "read")):
        await costs.add(run, PaidCall("call", role, "m"), 5, 100, 10)
        now[0] += 20.0
    now[0] += 3600.0  # a night in between does not count as work
    await costs.add("t1/r1", PaidCall("late", "check", "m"), 5, 50, 5)
    (one,) = await load_past_runs(storage)  # the other never came to write
    assert one == PastRun(
        "a kind",
        320.0,
        {
            ("read", "m"): RoleWork(1, 100, 10),
            ("write", "m"): RoleWork(1, 100, 10),
            ("check", "m"): RoleWork(1, 50, 5),
        },
    )


async def test_runs_stay_below_the_worst_case_and_teach_the_next_forecast(tmp_path: Path) -> None:
    docs = written(tmp_path / "docs", TIDES)
    cashier = Cashier(20.0, 60.0)
    (tmp_path / "prices.toml").write_text(cashier.prices)
    request = ResearchRequest(query=QUESTION, docs=[docs], model="stand-in", budget_usd=2.0, reuse=False)
    with Model(cashier) as model:
        own = load_settings(home=tmp_path, base_url=model.base_url)
        results = [await DeepResearcher(own).research(request) for _ in range(3)]
    forecasts = [result.metadata.forecast for result in results]
    for expected, result in zip(forecasts, results, strict=True):
        assert expected is not None
        assert result.metadata.cost_usd <= expected.worst_usd
        assert result.metadata.duration_s <= expected.worst_s
    took = results[0].metadata.cost_usd
    far = [abs(expected.expected_usd - took) for expected in forecasts if expected]
    assert far[0] > far[1] > far[2]
    calls = [abs(expected.calls - results[0].metadata.model_calls) for expected in forecasts if expected]
    assert calls[0] > calls[1] > calls[2]
