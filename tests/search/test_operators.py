"""A query in the words of web search."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fathom.search.operators import spelled
from fathom.search.scope import Scope

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
    assert spelled(" tides\n", scope) == said


def test_a_host_cannot_bring_words_of_its_own() -> None:
    assert spelled("tides", Scope(("a.example OR secrets",))) == "tides site:a.exampleorsecrets"


def test_hosts_to_look_in_are_all_said_or_none() -> None:
    many = Scope(tuple(f"host{n}.example" for n in range(40)), ("bad.example",))
    assert spelled("tides", many, max_chars=400) == "tides -site:bad.example"


@given(st.text("ab 조\n", max_size=600), HOSTS, HOSTS)
def test_the_limits_are_kept_and_the_words_have_half_the_room(
    text: str, wanted: tuple[str, ...], unwanted: tuple[str, ...]
) -> None:
    said = spelled(text, Scope(wanted, unwanted), max_chars=400, max_words=50)
    assert len(said) <= 400
    assert len(said.split()) <= 50
    own = " ".join(text.split()[:25])[:200].rstrip()
    assert said.startswith(own)
