"""Which engines are asked."""

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from fathom.errors import BadInput
from fathom.search.arxiv import Arxiv
from fathom.search.choice import KNOWN, choose
from fathom.search.local import LocalEngine
from fathom.search.port import Capability
from fathom.search.tavily import Tavily
from fathom.state import Hit, Knobs, Query


@dataclass(frozen=True)
class Fake:
    name: str
    capabilities: frozenset[Capability] = frozenset()

    async def __call__(self, query: Query, *, limit: int) -> Sequence[Hit]:
        raise AssertionError("choosing asks nobody")


def chosen(knobs: Knobs, *available: str) -> list[str]:
    return [engine.name for engine in choose(knobs, {name: Fake(name) for name in available})]


@pytest.mark.parametrize(
    ("knobs", "names"),
    [
        (Knobs(), ["tavily"]),
        (Knobs(news=True), ["tavily"]),
        (Knobs(academic=True), ["arxiv", "tavily"]),
        (Knobs(docs=["papers"]), ["local"]),
        (Knobs(docs=["papers"], academic=True), ["local"]),
        (Knobs(docs=["papers"], engines=["tavily", "local"]), ["local", "tavily"]),
        (Knobs(engines=["arxiv"]), ["arxiv"]),
        (Knobs(engines=["arxiv", "tavily"], news=True), ["arxiv", "tavily"]),
        (Knobs(engines=[" Tavily ", "tavily"]), ["tavily"]),
    ],
)
def test_named_engines_win_then_documents_then_papers_then_the_web(knobs: Knobs, names: list[str]) -> None:
    assert chosen(knobs, "arxiv", "tavily", "local") == names


def test_without_a_key_for_the_web_there_is_still_arxiv() -> None:
    assert chosen(Knobs(), "arxiv") == ["arxiv"]
    assert chosen(Knobs(academic=True), "arxiv") == ["arxiv"]


@pytest.mark.parametrize(
    ("knobs", "said"),
    [
        (
            Knobs(engines=["tavliy"]),
            "no engine 'tavliy'; known are local, tavily, arxiv. Did you mean tavily?",
        ),
        (Knobs(engines=["zzz"]), r"no engine 'zzz'; known are local, tavily, arxiv\.$"),
        (Knobs(engines=["tavily"]), "tavily needs TAVILY_API_KEY"),
        (Knobs(engines=["local"]), r"local needs folders or files to search \(docs\)"),
        (Knobs(docs=["papers"]), "local needs folders or files"),
    ],
)
def test_what_is_not_there_is_said_with_what_to_do(knobs: Knobs, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        chosen(knobs, "arxiv")


def test_with_nothing_at_all_the_run_does_not_start() -> None:
    with pytest.raises(BadInput, match="arxiv needs"):
        chosen(Knobs())


def test_the_table_says_what_the_engines_say() -> None:
    for engine in (Tavily, Arxiv, LocalEngine):
        assert KNOWN[engine.name].capabilities == engine.capabilities
