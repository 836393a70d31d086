"""A cap that somebody named is kept or refused; the usual one stops nobody, and is told about."""

from pathlib import Path
from typing import Any

import pytest
from standins.library import TIDES, written
from standins.model import Model
from standins.researcher import researcher

from fathom import DeepResearcher, ResearchRequest
from fathom.budget.capping import unpriced
from fathom.errors import BadInput
from fathom.runs import open_runs
from fathom.settings import load_settings
from fathom.state import RunConfig

FOREIGN = "https://models.example/v1"
QUESTION = "How much does tidal power cost?"


async def begun(home: Path, request: dict[str, Any], is_capped: bool = False, **words: Any) -> str:
    docs = written(home / "docs", TIDES)
    async with open_runs(load_settings(**{"home": home, "base_url": FOREIGN, **words})) as runs:
        asked = ResearchRequest(query=QUESTION, docs=[docs], **{"model": "made-up-1", **request})
        return (await runs.begin(asked, is_capped=is_capped))[0]


@pytest.mark.parametrize(
    ("request_words", "settings_words", "is_capped"),
    [
        ({"budget_usd": 0.5}, {}, False),
        ({"budget_usd": 0.5}, {"base_url": None, "openai_api_key": "x"}, False),  # OpenAI, an unknown name
        ({"budget_usd": 0.5, "model": None}, {"models": {"write": "made-up-1"}, "model": "gpt-4.1"}, False),
        ({}, {"run": RunConfig(budget_usd=0.5)}, False),  # as fathom.toml and the environment say it
        ({"endless": True, "budget_usd": 0.5}, {}, False),
        ({}, {}, True),  # a batch with one cap for all
    ],
)
async def test_a_cap_that_was_named_and_cannot_be_kept_is_refused_with_the_way_out(
    tmp_path: Path, request_words: dict[str, Any], settings_words: dict[str, Any], is_capped: bool
) -> None:
    with pytest.raises(BadInput, match="no price is known for made-up-1 at https://") as refused:
        await begun(tmp_path, request_words, is_capped, **settings_words)
    assert str(tmp_path / "prices.toml") in str(refused.value)
    assert '[models."made-up-1"]' in str(refused.value)
    assert "leave --budget (budget_usd) out" in str(refused.value)
    prices = '[models."made-up-1"]\ninput = 0\noutput = 0\n'
    (tmp_path / "prices.toml").write_text(prices)
    assert await begun(tmp_path, request_words, is_capped, **settings_words)


@pytest.mark.parametrize(
    ("request_words", "settings_words"),
    [
        ({}, {}),  # the usual cap
        ({"endless": True}, {}),
        ({"budget_usd": 0.5, "model": "gpt-4.1"}, {}),  # a known name, wherever it is served
        ({"budget_usd": 0.5}, {"base_url": "http://127.0.0.1:11434/v1"}),
        ({"budget_usd": 0.5, "model": None}, {"base_url": None}),  # no model at all
        ({"model": None}, {"base_url": None, "run": RunConfig(budget_usd=0.5)}),
    ],
)
async def test_nobody_else_is_refused(
    tmp_path: Path, request_words: dict[str, Any], settings_words: dict[str, Any]
) -> None:
    assert await begun(tmp_path, request_words, **settings_words)


async def test_a_local_model_works_under_any_cap(tmp_path: Path) -> None:
    docs = written(tmp_path / "docs", TIDES)
    with Model(researcher) as model:
        own = load_settings(home=tmp_path, base_url=model.base_url, model="made-up-1")
        request = ResearchRequest(query=QUESTION, docs=[docs], max_rounds=1, budget_usd=0.0)
        result = await DeepResearcher(own).research(request)
    assert (result.status, result.metadata.cost_usd) == ("complete", 0.0)
    assert result.metadata.model_calls > 0


def test_the_models_without_a_price_are_named_once(tmp_path: Path) -> None:
    own = load_settings(home=tmp_path, base_url=FOREIGN, model="made-up-1", small_model="made-up-2")
    assert unpriced(own, RunConfig()) == ["made-up-1", "made-up-2"]
    assert unpriced(own, RunConfig(model="gpt-4.1")) == []
