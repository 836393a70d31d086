"""The dates services write."""

import re
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fathom.search.dates import from_parts, iso_date

TODAY = date(2026, 2, 3)


@pytest.mark.parametrize(
    ("written", "iso"),
    [
        ("2026-02-03", "2026-02-03"),
        ("2026-02-03T09:00:00", "2026-02-03"),
        ("2026-02-03T00:00:00.000Z", "2026-02-03"),
        ("2026/2/3", "2026-02-03"),
        ("2026-02", "2026-02"),
        ("2026", "2026"),
        ("2026. 2. 3.", "2026-02-03"),
        ("2026년 2월 3일", "2026-02-03"),
        ("Tue, 03 Feb 2026 09:00:00 GMT", "2026-02-03"),
        ("Feb 3, 2026", "2026-02-03"),
        ("February 3, 2026", "2026-02-03"),
        ("3 Feb 2026", "2026-02-03"),
        ("Feb 2026", "2026-02"),
        ("2021 May 4", "2021-05-04"),
        ("2021 May-Jun", "2021-05"),
        ("2021 Winter", "2021"),
        ("2021-02-31", "2021-02"),
        ("soon", None),
        ("", None),
        (None, None),
    ],
)
def test_a_date_is_written_in_one_way_as_far_as_it_is_known(written: str | None, iso: str | None) -> None:
    assert iso_date(written, today=TODAY) == iso


@pytest.mark.parametrize(
    ("written", "iso"),
    [
        ("48 minutes ago", "2026-02-03"),
        ("2 hrs ago", "2026-02-03"),
        ("3시간 전", "2026-02-03"),
        ("yesterday", "2026-02-02"),
        ("어제", "2026-02-02"),
        ("a day ago", "2026-02-02"),
        ("5일 전", "2026-01-29"),
        ("2 weeks ago", "2026-01-20"),
        ("3 months ago", "2025-11"),
        ("2개월 전", "2025-12"),
        ("4 years ago", "2022"),
        ("99999999999 weeks ago", None),
    ],
)
def test_an_age_is_a_date_as_exact_as_the_age(written: str, iso: str | None) -> None:
    assert iso_date(written, today=TODAY) == iso
    assert iso_date(written) is None


@pytest.mark.parametrize(
    ("parts", "iso"),
    [([2021, 5, 4], "2021-05-04"), ([2021, 5], "2021-05"), ([2021], "2021"), ([None], None), ([], None)],
)
def test_a_date_may_come_in_parts(parts: list[int | None], iso: str | None) -> None:
    assert from_parts(parts) == iso


@given(st.dates(min_value=date(1000, 1, 1)))
def test_what_is_iso_stays_as_it_is(day: date) -> None:
    assert iso_date(day.isoformat()) == day.isoformat()


@given(st.text(max_size=40) | st.from_regex(r"\d{1,30} (days|years|months) ago", fullmatch=True))
def test_nothing_that_is_written_breaks_it(words: str) -> None:
    found = iso_date(words, today=TODAY)
    assert found is None or re.fullmatch(r"\d{4}(-\d{2}){0,2}", found)
