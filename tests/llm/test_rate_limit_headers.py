"""What servers say about their limits, in all the ways they say it."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from fathom.llm.rate_limiter import retry_wait_s, seconds_until_served


@pytest.mark.parametrize(
    ("headers", "wait_s"),
    [
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": "2", "retry-after-ms": "1830"}, 1.83),
        ({"retry-after": "soon"}, None),
        ({}, None),
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "120ms"}, 0.12),
        ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "1m3.2s"}, 63.2),
        ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "7"}, 7.0),
        ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "next week"}, None),
        ({"x-ratelimit-remaining-requests": "9", "x-ratelimit-reset-requests": "1h"}, None),
        ({"x-ratelimit-remaining-requests": "nan", "x-ratelimit-reset-requests": "1h"}, None),
    ],
)
def test_a_refusal_says_how_long_to_wait(headers: dict[str, str], wait_s: float | None) -> None:
    found = retry_wait_s(headers)
    assert found == (None if wait_s is None else pytest.approx(wait_s))


def test_a_date_is_a_wait_too() -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    assert retry_wait_s({"retry-after": later}) == pytest.approx(30, abs=2)


def test_a_limit_that_fills_up_evenly_is_waited_for_only_as_far_as_needed() -> None:
    headers = {
        "x-ratelimit-limit-tokens": "30000",
        "x-ratelimit-remaining-tokens": "3000",
        "x-ratelimit-reset-tokens": "54s",
    }
    assert seconds_until_served(headers, 2000) == 0.0
    assert seconds_until_served(headers, 3500) == pytest.approx(1.0)
    assert seconds_until_served(headers, 10**9) == pytest.approx(54.0)
    assert seconds_until_served({}, 10**9) == 0.0
