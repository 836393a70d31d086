"""What another run was answered is not paid for again, and the saving is told; unless nobody wants that."""

from pathlib import Path

from standins.library import TIDES, written
from standins.model import Model, asked_again
from standins.researcher import researcher

from fathom import DeepResearcher, ResearchRequest, ResearchResult, Settings
from fathom.cli.amounts import saved
from fathom.events import Spent
from fathom.settings import load_settings

QUESTION = "How much does tidal power cost?"
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
    assert f"saved by {sent} calls answered before" in saved(spent)
    assert saved(paid) == ""
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
