"""What is outside the limits does not come in, whatever an engine makes of them."""

from datetime import date

import pytest

from fathom.search.scope import Scope
from fathom.state import Hit


def hit(address: str = "https://www.a.example/x", published: str | None = None) -> Hit:
    return Hit(query="q", address=address, title="", snippet="", engine="e", rank=1, published=published)


@pytest.mark.parametrize("domain", ["a.example", "www.a.example", "*.A.example", " a.example "])
def test_a_domain_includes_its_hosts_and_no_others(domain: str) -> None:
    scope = Scope(include_domains=(domain,))
    assert scope.admits(hit())
    assert scope.admits(hit("https://deep.a.example/"))
    assert not scope.admits(hit("https://nota.example/"))
    assert not scope.admits(hit("https://a.example.evil.example/"))
    assert not scope.admits(hit("http://[broken"))


def test_an_excluded_domain_is_out_even_when_included() -> None:
    scope = Scope(include_domains=("a.example",), exclude_domains=("bad.a.example",))
    assert scope.admits(hit())
    assert not scope.admits(hit("https://bad.a.example/"))


def test_what_is_not_on_the_web_is_in_no_domain() -> None:
    scope = Scope(include_domains=("a.example",))
    assert scope.admits(hit("file:///notes/tides.md"))
    assert scope.admits(hit("mcp://library/doc-7"))


def test_days_count_and_undated_pages_are_not_held_to_them() -> None:
    scope = Scope(since=date(2024, 1, 1), until=date(2024, 12, 31))
    assert scope.admits(hit(published="2024-06-01T10:00:00Z"))
    assert not scope.admits(hit(published="2023-12-31"))
    assert not scope.admits(hit(published="2025-01-01"))
    assert scope.admits(hit(published=None))
    assert scope.admits(hit(published="last week"))
