"""What services list, made into hits."""

import pytest
from search.failures import QUERY

from fathom.search.rows import Row, hits, plain


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
    assert plain(written) == words


def test_only_the_web_is_listed_and_ranks_have_no_holes() -> None:
    rows = [
        Row("https://a.example"),
        Row("file:///etc/passwd"),
        Row(None),
        Row("HTTP://b.example", pdf="ftp://x"),
    ]
    found = hits("e", QUERY, rows, limit=5)
    assert [(hit.address, hit.rank, hit.pdf) for hit in found] == [
        ("https://a.example", 1, ""),
        ("HTTP://b.example", 2, ""),
    ]


@pytest.mark.parametrize(("limit", "count"), [(2, 2), (0, 0), (-1, 0)])
def test_the_limit_is_kept_and_snippets_end(limit: int, count: int) -> None:
    found = hits("e", QUERY, [Row("https://a.example", snippet="x" * 2000)] * 9, limit=limit)
    assert len(found) == count
    assert all(len(hit.snippet) == 1000 for hit in found)
