"""Prices: from a table without a network, or from a person's own file; no price is not a price of nothing."""

from pathlib import Path
from typing import Any

import pytest
from standins.documents import TIDES, written
from standins.model import Model
from standins.working_model import researcher

from fathom import DeepResearcher, ResearchRequest
from fathom.budget.prices import ModelPrice, Prices, find_unpriced_models, load_prices
from fathom.errors import BadInput
from fathom.runs.executor import open_runs
from fathom.settings import load_settings
from fathom.state import RunConfig

FOREIGN = "https://models.example/v1"

QUESTION = "How much does tidal power cost?"


async def begun(home: Path, request: dict[str, Any], is_capped: bool = False, **words: Any) -> str:
    docs = written(home / "docs", TIDES)
    async with open_runs(load_settings(**{"home": home, "base_url": FOREIGN, **words})) as runs:
        asked = ResearchRequest(query=QUESTION, docs=[docs], **{"model": "made-up-1", **request})
        return (await runs.prepare_run(asked, is_capped=is_capped))[0]


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
    assert find_unpriced_models(own, RunConfig()) == ["made-up-1", "made-up-2"]
    assert find_unpriced_models(own, RunConfig(model="gpt-4.1")) == []


OPENAI = "https://api.openai.com/v1"

OWN = "http://localhost:11434/v1"

GIVEN = """
[models.mine]
input = 2.0
output = 8.0
cached = 0.5

[models."org/other:free"]
input = 0
output = 0

[engines]
serper = 0.0003
"""


def test_a_known_model_has_its_price_and_cached_input_is_cheaper() -> None:
    prices = Prices()
    assert prices.usd("gpt-4.1", OPENAI, 1_000_000, 0) == pytest.approx(2.0)
    assert prices.usd("gpt-4.1", OPENAI, 0, 1_000_000) == pytest.approx(8.0)
    assert prices.usd("gpt-4.1", OPENAI, 1_000_000, 0, 1_000_000) == pytest.approx(0.5)
    # More cached than sent is nonsense, and gives nobody money back.
    assert prices.usd("gpt-4.1", OPENAI, 100, 0, 1_000_000) == pytest.approx(0.00005)


def test_the_same_model_costs_what_its_server_takes() -> None:
    assert Prices().usd("llama-3.3-70b-versatile", "https://api.groq.com/openai/v1", 1_000_000, 0)


@pytest.mark.parametrize(
    "server", [OWN, "http://127.0.0.1:1/v1", "http://192.168.1.7/v1", "http://box.local/v1"]
)
def test_a_server_of_ones_own_costs_nothing(server: str) -> None:
    assert Prices().usd("llama3.1", server, 10, 10) == 0.0


def test_a_model_nobody_knows_has_no_price() -> None:
    assert Prices().usd("made-up-1", "https://models.example/v1", 10, 10) is None
    assert not Prices().is_known("made-up-1", "https://models.example/v1")


def test_a_price_that_a_person_gave_beats_every_other(tmp_path: Path) -> None:
    (tmp_path / "prices.toml").write_text(GIVEN)
    prices = load_prices(None, tmp_path)
    assert prices.usd("mine", OWN, 1_000_000, 1_000_000, 500_000) == pytest.approx(1.0 + 0.25 + 8.0)
    assert prices.usd("org/other:free", "https://models.example", 9, 9) == 0.0
    assert prices.engines == {"serper": 0.0003}
    named = tmp_path / "else.toml"
    named.write_text("[models.mine]\ninput = 1\noutput = 1\n")
    assert load_prices(named, tmp_path).models == {"mine": ModelPrice(input=1, output=1)}


def test_without_a_price_for_what_is_cached_it_costs_what_input_costs() -> None:
    assert ModelPrice(input=2, output=0).usd(1_000_000, 0, 400_000) == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("[models.mine]\ninput = -1\noutput = 2", "models.mine.input"),
        ("[models.mine]\ninput = 1", "models.mine.output"),
        ("[models.mine]\ninput = 1\noutput = nan", "models.mine.output"),
        ("[model.mine]\ninput = 1\noutput = 1", "model: Extra"),
        ("[engines]\nserper = 'cheap'", "engines.serper"),
        ("[[", "no TOML"),
    ],
)
def test_prices_that_make_no_sense_are_refused_in_one_sentence(
    tmp_path: Path, words: str, complaint: str
) -> None:
    (tmp_path / "prices.toml").write_text(words)
    with pytest.raises(BadInput, match=complaint) as refused:
        load_prices(None, tmp_path)
    assert "\n" not in str(refused.value)


def test_a_file_that_was_named_must_be_there(tmp_path: Path) -> None:
    assert load_prices(None, tmp_path) == Prices()
    with pytest.raises(BadInput, match="no file of prices"):
        load_prices(tmp_path / "none.toml", tmp_path)
