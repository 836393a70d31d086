"""When two addresses mean the same page."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fathom.http.urls import canonical_address


@pytest.mark.parametrize(
    ("address", "key"),
    [
        ("HTTP://WWW.Example.org:80/A/", "https://example.org/A"),
        ("https://example.org", "https://example.org"),
        ("https://m.example.org:443/?b=2&a=1#top", "https://example.org?a=1&b=2"),
        ("https://example.org:8080/x", "https://example.org:8080/x"),
        ("https://example.org/x?utm_source=openai&id=7&gclid=1&FBCLID=2", "https://example.org/x?id=7"),
        ("https://example.org/x?", "https://example.org/x"),
        ("https://en.m.wikipedia.org/wiki/Tide", "https://en.wikipedia.org/wiki/Tide"),
        ("https://ko.wikipedia.org/wiki/조석", "https://ko.wikipedia.org/wiki/%EC%A1%B0%EC%84%9D"),
        (
            "https://ko.wikipedia.org/wiki/%ec%a1%b0%ec%84%9d",
            "https://ko.wikipedia.org/wiki/%EC%A1%B0%EC%84%9D",
        ),
        ("https://한국.example/%7Eme/a%2Fb", "https://xn--3e0b707e.example/~me/a%2Fb"),
        ("https://example.org/100%", "https://example.org/100%25"),
        ("http://[::1]:8000/a", "https://[::1]:8000/a"),
        ("https://www.com/", "https://www.com"),
        ("http://arxiv.org/abs/2101.00001v2", "https://arxiv.org/abs/2101.00001"),
        ("https://arxiv.org/pdf/2101.00001v1.pdf", "https://arxiv.org/abs/2101.00001"),
        ("https://export.arxiv.org/pdf/quant-ph/0201082", "https://arxiv.org/abs/quant-ph/0201082"),
        ("https://arxiv.org/list/cs.AI/recent", "https://arxiv.org/list/cs.AI/recent"),
    ],
)
def test_an_address_has_one_spelling(address: str, key: str) -> None:
    assert canonical_address(address) == key


@pytest.mark.parametrize(
    "address",
    [
        "file:///docs/Tides%20(1).pdf#page=2",
        "doi:10.1234/x",
        "",
        "notes.md",
        "http://[broken",
        "https://a:b/",
    ],
)
def test_what_is_not_a_web_address_stays_as_it_is(address: str) -> None:
    assert canonical_address(address) == address


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://example.org/a", "https://example.org/A"),
        ("https://example.org/x?id=1", "https://example.org/x?id=2"),
        ("https://example.org/a%2Fb", "https://example.org/a/b"),
        ("https://arxiv.org/abs/2101.00001", "https://arxiv.org/abs/2101.00002"),
        ("https://example.org:8080/", "https://example.org/"),
    ],
)
def test_different_pages_stay_different(one: str, other: str) -> None:
    assert canonical_address(one) != canonical_address(other)


WEB = st.builds(
    "{}://{}{}{}".format,
    st.sampled_from(["http", "https", "HTTP"]),
    st.sampled_from(["www.", "m.", "WWW.m.", ""]).flatmap(
        lambda prefix: st.sampled_from(
            ["a.example", "한국.kr", "arxiv.org", "a.b.co:443", "x:80", "[::1]:7"]
        ).map(lambda host: prefix + host)
    ),
    st.text(max_size=20).map(lambda path: "/" + path),
    st.text(alphabet="ab=&%2F+?;#é", max_size=12).map(lambda query: "?" + query),
)


@given(WEB | st.text())
@example("https://a.example/%%341")
@example("http://a.example:443/")
def test_the_canonical_address_is_canonical(address: str) -> None:
    assert canonical_address(canonical_address(address)) == canonical_address(address)


@given(WEB, st.sampled_from(["utm_source=x", "fbclid=1", "_ga=2"]))
def test_trackers_never_matter(address: str, tracker: str) -> None:
    plain = address.partition("#")[0]
    joint = "&" if "?" in plain else "?"
    assert canonical_address(f"{plain}{joint}{tracker}") == canonical_address(plain)
