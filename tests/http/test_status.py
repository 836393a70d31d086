"""What a status means, and how long to wait."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from fathom.errors import ProviderError, Refused, Unavailable, Unreadable
from fathom.http.status import error_for_status, retry_after_s


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (408, Unavailable),
        (429, Unavailable),
        (500, Unavailable),
        (529, Unavailable),
        (401, Refused),
        (402, Refused),
        (403, Refused),
        (432, Refused),
        (204, Unreadable),
        (302, Unreadable),
        (400, Unreadable),
        (404, Unreadable),
    ],
)
def test_a_status_says_who_can_act(status: int, kind: type[ProviderError]) -> None:
    assert type(error_for_status("x", status)) is kind


@pytest.mark.parametrize(
    ("header", "wait_s"),
    [("2", 2), ("1.5", 1.5), ("-3", 0), ("soon", None), (None, None), ("Tue, 03 Feb 2015 09:00:00 GMT", 0)],
)
def test_the_wait_is_in_seconds(header: str | None, wait_s: float | None) -> None:
    assert retry_after_s(header) == wait_s


@pytest.mark.parametrize("usegmt", [True, False])
def test_the_wait_may_be_given_as_a_date(usegmt: bool) -> None:
    until = datetime.now(UTC) + timedelta(seconds=60)
    wait_s = retry_after_s(format_datetime(until, usegmt=usegmt))
    assert wait_s is not None
    assert 50 < wait_s <= 60
