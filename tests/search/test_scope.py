"""What is outside the limits does not come in, whatever an engine makes of them."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fathom.search import Scope, add_site_operators, has_hangul, language_code, library_code, query_words
from fathom.state import Hit

HOSTS = st.integers(0, 60).map(lambda count: tuple(f"host{n}.example" for n in range(count)))


@pytest.mark.parametrize(
    ("scope", "said"),
    [
        (Scope(), "tides"),
        (Scope(("a.example",)), "tides site:a.example"),
        (Scope(("*.a.example", " WWW.B.example")), "tides (site:a.example OR site:b.example)"),
        (Scope((), ("a.example", "b.example")), "tides -site:a.example -site:b.example"),
    ],
)
def test_hosts_are_said_with_operators(scope: Scope, said: str) -> None:
    assert add_site_operators(" tides\n", scope) == said


def test_a_host_cannot_bring_words_of_its_own() -> None:
    assert add_site_operators("tides", Scope(("a.example OR secrets",))) == "tides site:a.exampleorsecrets"


def test_hosts_to_look_in_are_all_said_or_none() -> None:
    many = Scope(tuple(f"host{n}.example" for n in range(40)), ("bad.example",))
    assert add_site_operators("tides", many, max_chars=400) == "tides -site:bad.example"


@given(st.text("ab 조\n", max_size=600), HOSTS, HOSTS)
def test_the_limits_are_kept_and_the_words_have_half_the_room(
    text: str, wanted: tuple[str, ...], unwanted: tuple[str, ...]
) -> None:
    said = add_site_operators(text, Scope(wanted, unwanted), max_chars=400, max_words=50)
    assert len(said) <= 400
    assert len(said.split()) <= 50
    own = " ".join(text.split()[:25])[:200].rstrip()
    assert said.startswith(own)


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


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("What is the cost of tidal power?", ["cost", "tidal", "power"]),
        ('title:"tides" AND (NOT wind*) OR ~waves', ["title", "tides", "wind", "waves"]),
        ("GPT-4 vs. o'brien 3.5 tides tides", ["GPT-4", "vs", "o'brien", "3.5", "tides"]),
        ("WHO guidelines on who may sail", ["WHO", "guidelines", "may", "sail"]),
        ("조력 발전의 비용은 얼마나 되나?", ["조력", "발전의", "비용은", "되나"]),
        ("to be or not to be", ["be"]),
        ("?! — …", []),
        ("", []),
    ],
)
def test_a_query_is_its_telling_words_without_syntax(text: str, words: list[str]) -> None:
    assert query_words(text) == words


def test_a_long_query_is_cut() -> None:
    assert len(query_words(" ".join(f"word{n}" for n in range(99)))) == 12


def test_hangul_is_korean() -> None:
    assert has_hangul("GPT의 비용")
    assert not has_hangul("潮力 tidal")


@pytest.mark.parametrize(
    ("language", "code", "library"),
    [
        ("ko", "ko", "kor"),
        ("de-AT", "de", "ger"),
        ("EN_us", "en", "eng"),
        ("xx", "xx", None),
        ("Korean", None, None),
        ("../x", None, None),
        (None, None, None),
    ],
)
def test_languages_have_codes(language: str | None, code: str | None, library: str | None) -> None:
    assert (language_code(language), library_code(language)) == (code, library)
