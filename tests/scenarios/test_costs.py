"""A run never costs more than was said: held against what the model itself charged."""

from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from fakes.records import claim, gap, hit, query, question
from fakes.run_parts import Library, make_dependencies
from standins.charging_model import Cashier
from standins.documents import TIDES, written
from standins.model import Model, ModelRequest
from standins.prose import page
from standins.replies import Reply
from standins.server import asked_again
from standins.working_model import form_of, never_satisfied, researcher, scripted, value

from fathom import DeepResearcher, ResearchRequest, ResearchResult, Settings
from fathom.budget import WRITING_ROLES
from fathom.cli.text import describe_savings
from fathom.events import Spent
from fathom.evidence.claims import check_stored_quote
from fathom.graph import build_graph
from fathom.llm.factory import make_research_model
from fathom.llm.roles.planner import build_prompt
from fathom.report.verify import verify_report
from fathom.settings import load_settings
from fathom.state import RunConfig
from fathom.state.model_io import PlanInput
from fathom.storage import open_storage

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
    kept = open_storage(settings.database).pages
    texts = {page.sha: await kept.get(page.sha) for page in result.sources}
    found = verify_report(result, lambda quote: check_stored_quote(quote, texts[quote.page]), result.report)
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
    assert sum(usd for role, usd in by.role.items() if role not in WRITING_ROLES) <= 0.2
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


# What is measured is in docs/log.md; a prompt that begins with what changes falls below these.
LEAST = {
    "plan": 0.65, "read": 0.45, "verify": 0.25, "judge": 0.65,
}  # fmt: skip


async def asked(tmp_path: Path) -> dict[str, list[str]]:
    """Everything a model was asked in a run of three rounds, by what was wanted, in order."""
    books = {f"https://shelf{n}.example/book": page(n, 1200) for n in range(12)}
    run_config = RunConfig(rounds=3, sources=3, threshold=1.0, model="stand-in")
    with Model(scripted(judge=never_satisfied)) as model:
        settings = load_settings(home=tmp_path, base_url=model.base_url)
        graph = build_graph(
            make_dependencies(tmp_path, Library(books), lambda own: make_research_model(settings, own))
        )
        await graph.ainvoke({"question": QUESTION}, context=run_config)
        found: dict[str, list[str]] = defaultdict(list)
        for request in model.requests:
            found[form_of(request)].append(said(request))
    return found


def said(request: ModelRequest) -> str:
    return "\n".join(str(message["content"]) for message in request.messages)


def plans() -> list[str]:
    """The planner's prompts of three rounds in which something is asked, found and missing each time."""
    briefs = [
        PlanInput(
            QUESTION, number, 5, [question(1), question(2)],
            [query(f"tidal power {n}") for n in range(5 * (number - 1))], [gap()] * (number > 1),
            [claim(f"Finding {n} is that silt gathers.", name=f"c{n}") for n in range(6 * (number - 1))],
            [hit(f"https://a.example/{n}") for n in range(5)], outlines=["Costs; Silt; Fish"] * 3,
        )
        for number in (1, 2, 3)
    ]  # fmt: skip
    filled = [build_prompt(brief, "English").fill() for brief in briefs]
    return [f"{prompt.system}\n{prompt.user}" for prompt in filled]


def alike(one: str, other: str) -> int:
    """How many characters two texts begin with in common."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (mine, yours) in pairs if mine != yours), min(len(one), len(other)))


def share(prompts: list[str]) -> float:
    """The part of the later prompts that is the beginning of one that was sent before."""
    same = [max(alike(p, before) for before in prompts[:n]) for n, p in enumerate(prompts) if n]
    return sum(same) / sum(map(len, prompts[1:]))


async def test_prompts_begin_with_what_stays_the_same(tmp_path: Path) -> None:
    found = {**await asked(tmp_path), "plan": plans()}
    shares = {role: round(share(prompts), 2) for role, prompts in found.items() if len(prompts) > 1}
    print(shares)
    assert {role: shares[role] for role, least in LEAST.items() if shares[role] < least} == {}
    # Author, checker and refuter are asked once each: none of their prompts is sent a second time.
    assert {len({said[:200] for said in found[role]}) - len(found[role]) for role in ("write", "check")} == {
        0
    }


PRICES = "[models]\nstand-in = { input = 2.0, output = 8.0 }\n"


async def ran(settings: Settings, docs: str, **wishes: object) -> tuple[ResearchResult, Spent]:
    request = ResearchRequest.model_validate(
        {"query": QUESTION, "docs": [docs], "model": "stand-in", **wishes}
    )
    last = None
    async for event in DeepResearcher(settings).stream(request):
        last = event
    assert last is not None
    return await DeepResearcher(settings).result(last.run_id), last.spent


async def test_the_same_question_again_costs_nothing_and_says_what_it_saved(tmp_path: Path) -> None:
    docs = written(tmp_path / "docs", TIDES)
    (tmp_path / "prices.toml").write_text(PRICES, "utf-8")
    with Model(researcher) as model:
        settings = load_settings(home=tmp_path, base_url=model.base_url)
        first, paid = await ran(settings, docs)
        sent = len(model.calls)
        again, spent = await ran(settings, docs)
        assert len(model.calls) == sent
    assert (first.metadata.saved_calls, first.metadata.saved_usd, paid.saved_calls) == (0, 0.0, 0)
    assert first.metadata.cost_usd > 0
    assert again.metadata.cost_usd == again.metadata.model_calls == again.metadata.tokens_in == 0
    assert again.metadata.saved_usd == first.metadata.cost_usd
    assert again.metadata.saved_calls == first.metadata.model_calls == sent
    assert again.metadata.saved_tokens == first.metadata.tokens_in + first.metadata.tokens_out
    assert spent.saved_calls == sent
    assert f"saved by {sent} calls answered before" in describe_savings(spent)
    assert describe_savings(paid) == ""
    assert again.sections == first.sections


async def test_who_wants_nothing_reused_pays_again_but_never_twice_in_one_run(tmp_path: Path) -> None:
    docs = written(tmp_path / "docs", TIDES)
    with Model(researcher) as model:
        settings = load_settings(home=tmp_path, base_url=model.base_url)
        await ran(settings, docs)
        sent = len(model.calls)
        again, _ = await ran(settings, docs, reuse=False)
        assert len(model.calls) == 2 * sent
        await DeepResearcher(settings).resume(again.run_id)
        assert len(model.calls) == 2 * sent
        assert len(asked_again(model.calls)) == sent
    assert again.metadata.saved_calls == 0
