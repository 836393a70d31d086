"""Prices: from a table without a network, or from a person's own file; no price is not a price of nothing."""

from pathlib import Path

import pytest

from fathom.budget.prices import ModelPrice, Prices, load_prices
from fathom.errors import BadInput

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
