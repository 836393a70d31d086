"""Each rule alone, at its border, and the order in which they speak."""

from dataclasses import replace
from typing import get_args

import pytest
from fakes.records import gap, judgement
from hypothesis import given
from hypothesis import strategies as st

from fathom.evidence.stopping import (
    STOP_RULES,
    RunPosition,
    count_idle_rounds,
    decide_stop,
    find_held_rule,
    find_stop_rule,
    find_waived_rule,
    make_reason,
)
from fathom.state import Gain, StopRule

ONE_PAGE = make_reason("one_page", percent=100)
GOING_ON = RunPosition(
    round=1,
    max_rounds=3,
    overall=0.4,
    threshold=0.8,
    diversity=0.3,
    sources=2,
    claims=10,
    new_claims=10,
    gaps=[gap("medium"), gap("low")],
    spent_usd=0.1,
    budget_usd=1.0,
    is_finishing=False,
    has_asked=True,
)


def replace_usd(per_usd: float) -> Gain:
    return Gain(known=20, new=9, queries=1, usd=1.0, smoothed_per_query=9, smoothed_per_usd=per_usd)


@pytest.mark.parametrize(
    ("at", "rule"),
    [
        ({"overall": 0.9}, "sufficient"),
        ({"coverage": 1.0, "confidence": 0.9}, "answered"),
        ({"round": 2, "new_claims": 0}, "saturated"),
        ({"settled": ONE_PAGE}, "settled"),
    ],
)
def test_nothing_is_enough_while_an_important_gap_is_open_and_rounds_are_left(
    at: dict[str, object], rule: str
) -> None:
    gaping = replace(GOING_ON, gaps=[gap("high")], max_rounds=10, **at)  # type: ignore[arg-type]
    assert find_stop_rule(gaping) == (None, None)
    assert find_held_rule(gaping) == rule
    assert find_stop_rule(replace(gaping, gaps=[gap("medium")]))[0] == rule
    for limit in ({"is_finishing": True}, {"has_asked": False}, {"spent_usd": 2.0}, {"max_rounds": 1}):
        assert find_stop_rule(replace(gaping, **limit))[0] is not None


def test_a_quick_run_waits_for_an_important_gap_one_round_and_no_longer() -> None:
    quick = replace(GOING_ON, gaps=[gap("high")], overall=0.9, max_rounds=3, patience=1)
    assert find_stop_rule(quick) == (None, None)
    stopped = decide_stop(judgement(2), replace(quick, round=2))
    assert (stopped.stop, stopped.because) == (
        "gaps given up",
        "important gaps that stay open after 2 rounds: 1",
    )


def test_nothing_is_called_sufficient_beside_a_gap_that_was_given_up() -> None:
    tired = gap("medium").model_copy(update={"lowered_from": "high", "tried": 2})
    for at in ({"overall": 0.9}, {"coverage": 1.0, "confidence": 0.9}, {"settled": ONE_PAGE}):
        found = decide_stop(judgement(3), replace(GOING_ON, gaps=[tired], max_rounds=9, **at))
        assert found.stop == "gaps given up"


def test_every_rule_is_told_with_its_numbers() -> None:
    rules = decide_stop(judgement(1), GOING_ON).rules
    assert set(rules) == set(get_args(StopRule))
    assert all(rules.values())
    assert rules["sufficient"] == {"score": "0.4", "needed": "0.8"}


def test_what_is_at_hand_is_enough_only_if_nothing_that_matters_is_missing() -> None:
    good = replace(GOING_ON, is_follow_up=True, overall=0.9, settled=ONE_PAGE, sources=5, diversity=0.9)
    lacking = replace(good, gaps=[gap("medium")])
    assert find_stop_rule(lacking) == (None, None)
    assert find_held_rule(lacking) == "sufficient"
    assert find_stop_rule(replace(lacking, is_follow_up=False))[0] == "sufficient"
    assert find_stop_rule(replace(lacking, round=2))[0] == "sufficient"
    assert find_stop_rule(replace(lacking, spent_usd=1.0))[0] == "budget used up"
    assert find_stop_rule(replace(good, gaps=[gap("low")]))[0] == "sufficient"


def test_a_follow_up_that_is_answered_follows_no_leads() -> None:
    leading = replace(GOING_ON, overall=0.9, why_not_converged="linked evidence", gaps=[gap("low")])
    assert find_stop_rule(leading) == (None, None)
    assert find_stop_rule(replace(leading, is_follow_up=True))[0] == "sufficient"
    assert find_stop_rule(replace(leading, is_follow_up=True, round=2, gaps=[gap("high")])) == (None, None)


def test_nothing_stops_a_run_in_the_middle() -> None:
    assert find_stop_rule(GOING_ON) == (None, None)


@pytest.mark.parametrize(
    ("rule", "at"),
    [
        ("sufficient", {"overall": 0.8}),
        ("sufficient", {"overall": 0.0, "threshold": 0.0}),
        ("saturated", {"round": 2, "claims": 109, "new_claims": 9}),
        ("saturated", {"round": 2, "new_claims": 0}),
        ("answered", {"coverage": 1.0, "confidence": 0.7}),
        ("saturated", {"round": 2, "gain": Gain(known=109, new=9, queries=1, smoothed_per_query=9)}),
        ("gain too low", {"round": 2, "gain": Gain(known=9, new=4, queries=20, smoothed_per_query=0.24)}),
        ("gain too low", {"round": 2, "spent_usd": 0.9, "gain": replace_usd(9.9)}),
        ("settled", {"settled": ONE_PAGE}),
        ("only minor gaps", {"gaps": [gap("low"), gap("low")]}),
        ("only minor gaps", {"gaps": []}),
        ("diverse", {"sources": 5, "diversity": 0.7, "gaps": [gap("medium")]}),
        ("rounds used up", {"round": 3}),
        ("rounds used up", {"round": 1, "max_rounds": 1}),
        ("budget used up", {"spent_usd": 1.0}),
        ("budget used up", {"spent_usd": 0.1, "budget_usd": 0.0}),
        ("a person's word", {"is_finishing": True}),
        ("nothing left to ask", {"has_asked": False}),
        ("nothing left to ask", {"is_endless": True, "idle_rounds": 8}),
    ],
)
def test_each_rule_stops_a_run_alone(rule: StopRule, at: dict[str, object]) -> None:
    name, because = find_stop_rule(replace(GOING_ON, **at))  # type: ignore[arg-type]
    assert name == rule
    assert because


def test_rounds_without_a_new_page_are_counted_from_the_last_one_back() -> None:
    read = [judgement(number, pages=count) for number, count in enumerate([3, 3, 9, 12, 12, 12], 1)]
    assert [count_idle_rounds(read[:n]) for n in range(7)] == [0, 0, 1, 0, 0, 1, 2]
    assert find_stop_rule(replace(GOING_ON, is_endless=True, idle_rounds=7)) == (None, None)
    assert find_stop_rule(replace(GOING_ON, idle_rounds=8)) == (None, None)


@pytest.mark.parametrize(
    "at",
    [
        {"overall": 0.799},
        {"coverage": 0.99, "confidence": 1.0},
        {"coverage": 1.0, "confidence": 0.69},
        {"round": 1, "gain": Gain(known=9, new=4, queries=20, smoothed_per_query=0.2)},
        {"round": 2, "gain": Gain(known=9, new=4, queries=20, smoothed_per_query=0.25)},
        {"round": 2, "spent_usd": 0.9, "gain": replace_usd(10.1)},
        {"round": 1, "claims": 109, "new_claims": 9},
        {"round": 2, "claims": 110, "new_claims": 10},
        {"gaps": [gap("low"), gap("medium")]},
        {"sources": 4, "diversity": 0.7, "gaps": [gap("medium")]},
        {"sources": 5, "diversity": 0.69, "gaps": [gap("medium")]},
        {"sources": 9, "diversity": 0.9, "gaps": [gap("high")]},
        {"round": 2},
        {"spent_usd": 0.999},
        {"spent_usd": 0.0, "budget_usd": 0.0},
    ],
)
def test_just_before_its_border_a_rule_is_silent(at: dict[str, object]) -> None:
    assert find_stop_rule(replace(GOING_ON, **at)) == (None, None)  # type: ignore[arg-type]


def test_a_person_speaks_before_money_and_money_before_scores() -> None:
    everything = replace(
        GOING_ON, round=3, overall=1.0, spent_usd=9.0, is_finishing=True, has_asked=False, gaps=[]
    )
    quiet = replace(everything, is_finishing=False)
    free = replace(quiet, spent_usd=0.0)
    asking = replace(free, has_asked=True)
    heard = [find_stop_rule(at)[0] for at in (everything, quiet, free, asking, replace(asking, overall=0.0))]
    assert heard == [
        "a person's word",
        "budget used up",
        "nothing left to ask",
        "sufficient",
        "only minor gaps",
    ]


def test_there_is_a_rule_for_every_name() -> None:
    assert {*STOP_RULES, "gaps given up"} == set(get_args(StopRule))


@given(
    number=st.integers(1, 9),
    overall=st.floats(0, 1),
    threshold=st.floats(0, 1),
    gaps=st.lists(st.sampled_from([gap("high"), gap("low")]), max_size=2),
)
def test_with_nothing_known_only_limits_and_people_stop_a_run(
    number: int, overall: float, threshold: float, gaps: list[object]
) -> None:
    empty = replace(GOING_ON, claims=0, new_claims=0, sources=0, diversity=0.0, max_rounds=10)
    at = replace(empty, round=number, overall=overall, threshold=threshold, gaps=gaps)  # type: ignore[arg-type]
    assert find_stop_rule(at) == (None, None)
    for limit in ({"is_finishing": True}, {"has_asked": False}, {"spent_usd": 2.0}, {"max_rounds": number}):
        assert find_stop_rule(replace(at, **limit))[0] is not None


@given(st.integers(1, 100))
def test_a_run_never_has_one_round_more_than_allowed(most: int) -> None:
    number = 0
    name = None
    while name is None:
        number += 1
        assert number <= most
        name, _ = find_stop_rule(
            replace(GOING_ON, round=number, max_rounds=most, claims=2**number, new_claims=2 ** (number - 1))
        )
    assert number == most


@pytest.mark.parametrize(
    ("at", "rule"),
    [
        ({"overall": 0.9}, "sufficient"),
        ({"coverage": 1.0, "confidence": 0.9}, "answered"),
        ({"gaps": []}, "only minor gaps"),
        ({"sources": 5, "diversity": 0.7, "gaps": [gap("medium")]}, "diverse"),
    ],
)
def test_a_failing_check_holds_back_what_calls_it_enough(at: dict[str, object], rule: str) -> None:
    failing = replace(GOING_ON, failing=["counting"], **at)  # type: ignore[arg-type]
    assert find_stop_rule(failing) == (None, None)
    assert find_held_rule(failing) == rule
    assert find_held_rule(replace(failing, failing=[])) is None
    for limit in ({"is_finishing": True}, {"has_asked": False}, {"spent_usd": 2.0}, {"max_rounds": 1}):
        assert find_stop_rule(replace(failing, **limit))[0] is not None


@pytest.mark.parametrize(
    ("at", "rule"),
    [
        ({"overall": 0.9}, "sufficient"),
        ({"new_claims": 0}, "saturated"),
        ({"gain": Gain(known=20, new=9, queries=9, usd=0, smoothed_per_query=0.1)}, "gain too low"),
    ],
)
def test_an_open_lead_holds_back_even_a_round_that_brought_little(at: dict[str, object], rule: str) -> None:
    following = replace(GOING_ON, round=2, max_rounds=9, why_not_converged="it is not linked", **at)  # type: ignore[arg-type]
    assert find_stop_rule(following) == (None, None)
    assert find_held_rule(following) == rule
    for limit in ({"round": 3}, {"max_rounds": 2}, {"is_finishing": True}, {"why_not_converged": ""}):
        assert find_stop_rule(replace(following, **limit))[0] is not None


def test_without_end_only_limits_stop_a_run() -> None:
    content = replace(GOING_ON, round=2, overall=1.0, new_claims=0, gaps=[], is_endless=True, max_rounds=100)
    assert find_stop_rule(content) == (None, None)
    assert find_stop_rule(replace(content, round=100))[0] == "rounds used up"


def test_a_run_without_end_tells_which_rule_it_waived() -> None:
    at = replace(GOING_ON, settled=ONE_PAGE)
    assert find_stop_rule(at) == ("settled", ONE_PAGE)
    assert find_waived_rule(at) is None
    endless = replace(at, is_endless=True)
    assert find_stop_rule(endless)[0] is None
    assert find_waived_rule(endless) == "settled"
