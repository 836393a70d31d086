"""What looking brought, a query and a dollar, and smoothed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fathom.evidence.gain import measured
from fathom.state import Gain


def test_the_first_round_is_as_it_is() -> None:
    found = measured(known=6, queries=3, usd=0.5)
    assert (found.new, found.per_query, found.per_usd) == (6, 2.0, 12.0)
    assert (found.smoothed_per_query, found.smoothed_per_usd) == (2.0, 12.0)


def test_later_rounds_are_smoothed() -> None:
    second = measured(known=7, queries=4, usd=0.5, before=measured(known=6, queries=3, usd=0.5))
    assert (second.new, second.per_query, second.per_usd) == (1, 0.25, 2.0)
    assert second.smoothed_per_query == pytest.approx(0.5 * 0.25 + 0.5 * 2.0)
    assert second.smoothed_per_usd == pytest.approx(7.0)


def test_a_round_that_asked_nothing_says_nothing_of_queries() -> None:
    recalled = measured(known=6, queries=0, usd=0.0)
    assert measured(known=7, queries=1, usd=0.0, before=recalled).smoothed_per_query == 1.0


def test_what_costs_nothing_has_no_gain_a_dollar() -> None:
    free = measured(known=6, queries=3, usd=0.0)
    assert (free.per_usd, free.smoothed_per_usd) == (None, None)
    assert measured(known=8, queries=1, usd=0.1, before=free).smoothed_per_usd == pytest.approx(20)
    paid = measured(known=8, queries=1, usd=0.1)
    assert measured(known=9, queries=1, usd=0.0, before=paid).smoothed_per_usd == pytest.approx(80)


def test_findings_that_merged_are_no_loss_and_a_round_without_queries_no_error() -> None:
    before = measured(known=6, queries=3, usd=0.0)
    assert measured(known=4, queries=2, usd=0.0, before=before).new == 0
    assert measured(known=7, queries=0, usd=0.0, before=before).per_query == 0.0


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 9), st.floats(0, 5)), max_size=12))
def test_a_gain_is_never_negative(rounds: list[tuple[int, int, float]]) -> None:
    gain: Gain | None = None
    for known, queries, usd in rounds:
        gain = measured(known, queries, usd, gain)
        assert gain.new >= 0
        assert gain.smoothed_per_query >= 0
        assert gain.smoothed_per_usd is None or gain.smoothed_per_usd >= 0
