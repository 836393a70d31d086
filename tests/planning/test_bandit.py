"""Where to look next: what pays is asked more, what was hardly tried is not forgotten, the empty is left."""

import math

from fakes.records import claim, gap, judgement, query
from hypothesis import given
from hypothesis import strategies as st

from fathom.planning.queries import angle_queries, counter_queries
from fathom.planning.tree import EMPTY_AFTER, arm_worth, gaps_to_close, rank_arms, unasked_gaps
from fathom.state import Hypothesis


def asked(arm: str, times: int) -> list:  # type: ignore[type-arg]
    return [query(f"{arm} {n}", f"{arm}{n}", about=arm) for n in range(times)]


def found(arm: str, times: int) -> list:  # type: ignore[type-arg]
    return [claim(f"{arm} {n}", name=f"{arm}c{n}", question=arm) for n in range(times)]


def test_what_was_never_tried_comes_first() -> None:
    arms = rank_arms(["Q1", "Q2"], asked("Q1", 2), found("Q1", 9))
    assert [a.id for a in arms] == ["Q2", "Q1"]
    assert math.isinf(arms[0].bound)


def test_of_two_tried_alike_the_one_that_pays_comes_first() -> None:
    arms = rank_arms(["Q1", "Q2"], [*asked("Q1", 3), *asked("Q2", 3)], [*found("Q1", 1), *found("Q2", 9)])
    assert [a.id for a in arms] == ["Q2", "Q1"]


def test_of_two_that_pay_alike_the_one_tried_less_comes_first() -> None:
    arms = rank_arms(["Q1", "Q2"], [*asked("Q1", 9), *asked("Q2", 2)], [*found("Q1", 9), *found("Q2", 2)])
    assert [a.id for a in arms] == ["Q2", "Q1"]


def test_what_stays_empty_is_pruned_unless_all_is_empty() -> None:
    pulls = [*asked("Q1", EMPTY_AFTER), *asked("Q2", EMPTY_AFTER)]
    assert arm_worth(["Q1", "Q2"], pulls, found("Q2", 1)) == {"Q2": 1.0, "Q1": 0.0}
    assert all(arm_worth(["Q1", "Q2"], pulls, []).values())
    assert all(arm_worth(["Q1", "Q2"], asked("Q1", EMPTY_AFTER - 1), found("Q2", 1)).values())
    assert arm_worth([], [], []) == {}


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 30)), max_size=6))
def test_worth_is_between_nothing_and_one(tried: list[tuple[int, int]]) -> None:
    names = [f"Q{n}" for n in range(len(tried))]
    pulls = [q for name, (times, _) in zip(names, tried, strict=True) for q in asked(name, times)]
    claims = [c for name, (_, times) in zip(names, tried, strict=True) for c in found(name, times)]
    weights = arm_worth(names, pulls, claims)
    assert set(weights) == set(names)
    assert all(0 <= w <= 1 for w in weights.values())
    assert not weights or max(weights.values()) == 1.0


def test_directions_of_any_round_are_kept_until_asked_and_the_best_comes_first() -> None:
    def towards(words: str, priority: str) -> object:
        return gap(priority).model_copy(update={"suggested_query": words})

    rounds = [
        judgement(1, gaps=[towards("old and important", "high"), towards("Asked  before?", "high")]),
        judgement(2, gaps=[towards("new and minor", "low"), towards(" ", "high")]),
    ]
    open_ways = unasked_gaps(rounds, [query("asked before")], [])
    assert [g.suggested_query for g in open_ways] == ["old and important", "new and minor"]
    assert unasked_gaps([], [], []) == []
    assert gaps_to_close([], [], []) == []
    assert gaps_to_close(rounds, [], []) == rounds[1].gaps
    asked_since = [query("asked before"), query("new and minor")]
    kept = gaps_to_close(rounds, asked_since, [])
    assert [g.suggested_query for g in kept] == ["new and minor", " ", "old and important"]


def test_counter_evidence_is_looked_for_however_sure_it_is_and_never_twice_alike() -> None:
    sure = Hypothesis(id="H1", statement="Tidal power is the cheapest source.", confidence=1.0)
    claims = found("Q1", 2)
    seen: list[str] = []
    for number in range(1, 20):
        before = [query(text, f"x{n}", number=number) for n, text in enumerate(seen)]
        (text,) = counter_queries([sure], claims, before, 1)
        assert text not in seen
        seen.append(text)
    assert seen[0] == "Tidal power cheapest source criticism"
    assert counter_queries([], [claim("조력 발전은 가장 싸다.")], [], 1) == ["조력 발전은 가장 싸다 비판"]
    assert counter_queries([], [], [], 3) == []


def test_there_is_always_another_angle_while_there_is_something_to_turn() -> None:
    first = angle_queries("What is tidal power?", [], [], 3)
    assert first == ["tidal power history", "tidal power cost", "tidal power risks"]
    assert angle_queries("What is tidal power?", [], [query(first[0].upper())], 1) == ["tidal power cost"]
    assert angle_queries("조력 발전", [], [], 1) == ["조력 발전 역사"]
    assert angle_queries("??", [], [], 3) == []
