"""A run never costs more than was said: held against what the model itself charged."""

from pathlib import Path
from typing import Any

import pytest
from standins.cashier import Cashier
from standins.library import written
from standins.model import Model, ModelRequest
from standins.prose import page
from standins.replies import Reply
from standins.scripted import scripted, value

from fathom import DeepResearcher, ResearchRequest, ResearchResult
from fathom.budget.budget import WRITING
from fathom.evidence.standing import stored_fate
from fathom.report.verifying import verified
from fathom.settings import load_settings
from fathom.storage import open_storage
from fathom.store import pages

QUESTION = "How much does tidal power cost?"


def restless(request: ModelRequest) -> Reply:
    """A judge who always wants to know more about tidal power."""
    words = f"tidal power number {request.number}"
    missing = {"question": "Q1", "description": "More.", "priority": "high", "suggested_query": words}
    return Reply.give({**value(request), "gaps": [missing]})


RESTLESS = scripted(judge=restless)


async def researched(home: Path, cashier: Cashier, **words: Any) -> ResearchResult:
    """A question whose answer nobody is ever content with, over many documents."""
    (home / "prices.toml").write_text(cashier.prices)
    process = {
        name: words.pop(name) for name in ("small_model", "call_timeout_s", "call_retries") if name in words
    }
    count = words.pop("pages", 25)
    docs = written(home / "docs", {f"t{n}.md": f"# Tidal power {n}\n\n{page(n, 900)}" for n in range(count)})
    with Model(cashier) as model:
        settings = load_settings(
            home=home, base_url=model.base_url, model="stand-in", max_answer_tokens=600, **process
        )
        given = {"query": QUESTION, "docs": [docs], "max_rounds": 5, "max_sources": 9, "threshold": 1.0}
        result = await DeepResearcher(settings).research(ResearchRequest(**{**given, **words}))
    kept = pages(open_storage(settings.database))
    texts = {page.sha: await kept.get(page.sha) for page in result.sources}
    found = verified(result, lambda quote: stored_fate(quote, texts[quote.page]), result.report)
    assert found.is_sound, [found.faults, [one for one in found.sentences if one.standing != "supported"]]
    return result


async def test_without_a_cap_the_question_costs_a_dollar(tmp_path: Path) -> None:
    cashier = Cashier(9.0, 27.0, RESTLESS)
    result = await researched(tmp_path, cashier, budget_usd=50.0, max_sources=30, pages=80)
    assert cashier.billed_usd >= 1.0
    assert result.metadata.forecast
    assert 0.5 < result.metadata.forecast.expected_usd / cashier.billed_usd < 2.0
    assert result.metadata.cost_usd == pytest.approx(cashier.billed_usd, abs=1e-6)


@pytest.mark.parametrize("strategy", ["loop", "rollouts"])
async def test_with_a_cap_of_five_cents_it_ends_under_it_with_a_checked_report(
    tmp_path: Path, strategy: str
) -> None:
    cashier = Cashier(7.0, 21.0, RESTLESS)
    branches = {"strategy": strategy, "branches": 8} if strategy == "rollouts" else {}
    result = await researched(tmp_path, cashier, budget_usd=0.05, **branches)
    assert 0 < cashier.billed_usd <= 0.05
    assert result.metadata.cost_usd == pytest.approx(cashier.billed_usd, abs=1e-6)
    assert result.metadata.forecast
    assert result.metadata.forecast.expected_usd <= result.metadata.forecast.worst_usd == 0.05
    assert (result.status, result.metadata.stop) == ("partial", "budget used up")
    assert "the budget ran out" in result.report
    assert "of 0.0425 USD spent on looking, of 0.05 in all" in result.metadata.because
    assert any(section.sentences for section in result.sections)


async def test_what_is_kept_for_writing_pays_the_writer(tmp_path: Path) -> None:
    cashier = Cashier(7.0, 21.0, RESTLESS)
    result = await researched(tmp_path, cashier, budget_usd=0.4, reserve=0.5)
    by = result.metadata.cost_by
    assert cashier.billed_usd <= 0.4
    assert result.metadata.stop == "budget used up"
    assert sum(usd for role, usd in by.role.items() if role not in WRITING) <= 0.2
    assert by.role["write"] > 0
    assert by.role["check"] > 0


async def test_when_the_large_model_is_too_dear_the_small_one_writes(tmp_path: Path) -> None:
    cashier = Cashier(60.0, 180.0, RESTLESS, small=(0.5, 1.5))
    result = await researched(
        tmp_path, cashier, budget_usd=0.15, small_model="small", max_sources=4, max_rounds=1
    )
    by = result.metadata.cost_by
    assert cashier.billed_usd <= 0.15
    assert by.role["write"] > 0
    assert by.role["write"] + by.role.get("outline", 0.0) <= by.model["small"]
    assert "writing, done without the model" not in result.report


async def test_a_server_that_fails_and_hangs_is_never_paid_more(tmp_path: Path) -> None:
    def failing(request: ModelRequest) -> Reply:
        """Every way to fail in turn; of those who hang up, the work is done and charged all the same."""
        ways = {3: Reply.broken(503), 5: Reply.too_fast(0.01), 8: RESTLESS(request).after(3.0)}
        return ways.get(request.number % 10) or RESTLESS(request)

    cashier = Cashier(3.0, 9.0, failing)
    result = await researched(tmp_path, cashier, budget_usd=0.1, call_timeout_s=0.8, call_retries=2)
    assert 0 < cashier.billed_usd <= 0.1
    assert cashier.billed_usd <= result.metadata.cost_usd + 1e-6  # what nobody answered for is in it too
    assert result.status == "partial"


async def test_a_server_that_says_every_call_took_a_token_does_not_widen_the_cap(tmp_path: Path) -> None:
    def lying(request: ModelRequest) -> Reply:
        return RESTLESS(request).counting(1, 1)

    cashier = Cashier(7.0, 21.0, lying)
    result = await researched(tmp_path, cashier, budget_usd=0.05)
    assert result.metadata.cost_usd <= 0.05
    assert cashier.billed_usd <= 0.1  # half of the usual count is what no server can be below
    assert result.metadata.stop == "budget used up"
