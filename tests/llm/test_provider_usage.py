"""Usage as each provider reports it, through LangChain, and what is billed for it."""

from typing import Any

import pytest
from langchain_core.messages import AIMessage

from fathom.budget.prices import Prices
from fathom.llm.call_cost import TokenUsage


def usage(tier: str = "", **said: Any) -> TokenUsage:
    about = {"service_tier": tier} if tier else {}
    return TokenUsage.from_message(
        AIMessage("", usage_metadata=said, response_metadata=about),
        TokenUsage(1, 1),
    )


@pytest.mark.parametrize(
    ("said", "billed"),
    [
        # OpenAI: reasoning is part of the output, cached of the input.
        (
            {"input_tokens": 100, "output_tokens": 50, "total_tokens": 150}
            | {"input_token_details": {"cache_read": 40}, "output_token_details": {"reasoning": 30}},
            (100, 50, 40, 0),
        ),
        # Anthropic: what is written into the cache is part of the input.
        (
            {"input_tokens": 100, "output_tokens": 50, "total_tokens": 150}
            | {"input_token_details": {"cache_read": 40, "cache_creation": 30}},
            (100, 50, 40, 30),
        ),
        # Servers that count reasoning only in the total.
        (
            {"input_tokens": 100, "output_tokens": 5, "total_tokens": 405}
            | {"output_token_details": {"reasoning": 300}},
            (100, 305, 0, 0),
        ),
        # OpenAI's tiers stand before the names.
        (
            {"input_tokens": 100, "output_tokens": 50, "total_tokens": 150}
            | {"input_token_details": {"flex_cache_read": 40}, "output_token_details": {"flex_reasoning": 9}},
            (100, 50, 40, 0),
        ),
    ],
)
def test_tokens_are_billed_as_the_provider_counts_them(said: dict[str, Any], billed: tuple[int, ...]) -> None:
    assert usage(**said).billed == billed


def test_writing_into_the_cache_costs_more_and_reading_from_it_less() -> None:
    prices, name, server = Prices(), "claude-sonnet-4-5", "https://api.anthropic.com"
    plain, read, written = (
        prices.usd(name, server, 1_000_000, 0, *tokens) for tokens in ((0, 0), (1_000_000, 0), (0, 1_000_000))
    )
    assert plain and read and written
    assert read < plain < written


@pytest.mark.parametrize(("tier", "factor"), [("", 1.0), ("default", 1.0), ("flex", 0.5), ("priority", 2.0)])
def test_a_tier_has_its_price(tier: str, factor: float) -> None:
    assert usage(tier, input_tokens=10, output_tokens=1, total_tokens=11).price_factor == factor
