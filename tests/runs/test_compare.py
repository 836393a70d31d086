"""Two runs side by side."""

from typing import Any

from fakes.records import page

from fathom.runs.compare import ComparedRun, Pair, compare_runs
from fathom.state import Finding, Fork, RunConfig, RunState


def finding(name: str, statement: str, *claims: str, tag: str = "LIKELY", sure: float = 0.6) -> Finding:
    words = {
        "id": name,
        "statement": statement,
        "question": "Q1",
        "claims": list(claims),
        "independent_sources": ["v"],
    }
    return Finding.model_validate({**words, "confidence": sure, "tag": tag})


def side(name: str, usd: float = 0.0, **words: Any) -> ComparedRun:
    state: RunState = {"question": "Why?", "run_config": RunConfig(), **words}  # type: ignore[typeddict-item]
    return ComparedRun(name, state, "complete", usd)


def test_a_run_is_like_itself() -> None:
    one = side("a", findings=[finding("f1", "It is so.", "c1")], pages=[page()])
    found = compare_runs(one, one)
    assert (found.added, found.gone, found.changed, found.same) == ([], [], [], 1)
    assert found.settings == {}
    assert found.sources == Pair([], [])
    assert (found.shared_sources, found.cost_usd.is_same) == (1, True)


def test_what_is_in_one_alone_and_what_is_held_otherwise() -> None:
    first = side(
        "a",
        findings=[
            finding("f1", "It is so.", "c1"),
            finding("f2", "It was.", "c2"),
            finding("f3", "Same words.", "c3"),
        ],
        pages=[page("one", "https://www.a.example/x?utm_source=y"), page("two", "https://b.example/")],
        usd=0.5,
    )
    second = side(
        "b",
        run_config=RunConfig(rounds=5),
        findings=[
            finding("f9", "It is truly so.", "c8", "c1", tag="HIGH", sure=0.8),
            finding("f8", "same  words.", "c7"),
            finding("f7", "It will be.", "c9"),
        ],
        pages=[page("one", "https://a.example/x"), page("three", "https://c.example/")],
    )
    found = compare_runs(first, second)
    assert [held.statement for held in found.added] == ["It will be."]
    assert [held.statement for held in found.gone] == ["It was."]
    assert [(pair.first.tag, pair.second.tag) for pair in found.changed] == [("LIKELY", "HIGH")]
    assert found.same == 1
    assert [source.address for source in found.sources.first] == ["https://b.example/"]
    assert [source.address for source in found.sources.second] == ["https://c.example/"]
    assert found.settings == {"rounds": Pair(None, 5)}
    assert (found.cost_usd.first, found.cost_usd.second) == (0.5, 0.0)


def test_a_fork_says_where_it_went() -> None:
    other = side("b", fork=Fork(run="a", round=1, direction="noise"))
    assert compare_runs(side("a"), other).directions == Pair("", "noise")


def test_a_run_that_has_only_begun_can_be_compared() -> None:
    found = compare_runs(
        ComparedRun("a", {}, "stopped"), side("b", findings=[finding("f1", "It is so.", "c1")])
    )
    assert len(found.added) == 1
    assert found.rounds == Pair(0, 0)
