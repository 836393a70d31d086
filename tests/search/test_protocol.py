"""The dates services write."""

import re
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from search.failures import QUERY

from fathom.search import ResultRow, date_from_parts, iso_date, strip_markup, to_hits

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
    assert date_from_parts(parts) == iso


@given(st.dates(min_value=date(1000, 1, 1)))
def test_what_is_iso_stays_as_it_is(day: date) -> None:
    assert iso_date(day.isoformat()) == day.isoformat()


@given(st.text(max_size=40) | st.from_regex(r"\d{1,30} (days|years|months) ago", fullmatch=True))
def test_nothing_that_is_written_breaks_it(words: str) -> None:
    found = iso_date(words, today=TODAY)
    assert found is None or re.fullmatch(r"\d{4}(-\d{2}){0,2}", found)


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("Costs <strong>fell</strong>, &amp; fell", "Costs fell, & fell"),
        ("<p>One.</p><p>Two.</p>", "One. Two."),
        ("H<sub>2</sub>O", "H2O"),
        ("a < b and c > d", "a < b and c > d"),
        ("조력\n 발전&nbsp;비용", "조력 발전 비용"),
        ("&amp;lt;b&amp;gt;bold&amp;lt;/b&amp;gt;", "bold"),
        (None, ""),
    ],
)
def test_words_are_plain(written: str | None, words: str) -> None:
    assert strip_markup(written) == words


def test_only_the_web_is_listed_and_ranks_have_no_holes() -> None:
    rows = [
        ResultRow("https://a.example"),
        ResultRow("file:///etc/passwd"),
        ResultRow(None),
        ResultRow("HTTP://b.example", pdf="ftp://x"),
    ]
    found = to_hits("e", QUERY, rows, limit=5)
    assert [(hit.address, hit.rank, hit.pdf) for hit in found] == [
        ("https://a.example", 1, ""),
        ("HTTP://b.example", 2, ""),
    ]


@pytest.mark.parametrize(("limit", "count"), [(2, 2), (0, 0), (-1, 0)])
def test_the_limit_is_kept_and_snippets_end(limit: int, count: int) -> None:
    found = to_hits("e", QUERY, [ResultRow("https://a.example", snippet="x" * 2000)] * 9, limit=limit)
    assert len(found) == count
    assert all(len(hit.snippet) == 1000 for hit in found)
