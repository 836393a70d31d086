"""Asking the same in other words is seen; asking something else in nearly the same words is let through."""

import pytest
from fakes.records import query

from fathom.planning.ranking import drop_repeats

SAME = [
    ("tidal power cost", "cost of tidal power"),
    ("cost of tidal power", "price of tidal power"),
    ("effects of barrages on fish", "Effect of barrage on fishes?"),
    ("history of tidal power in France", "tidal power history France"),
    ("tides", "tides now"),
    ("Swale lagoon turbines cost", "Swale lagoon turbine costs in detail"),
    ("조력 발전 비용", "조력 발전의 비용은?"),
    ("온돌의 원리", "온돌 원리"),
]
OTHER = [
    ("tidal power cost 2019", "tidal power cost 2020"),
    ("is tea better than coffee", "is coffee better than tea"),
    ("imports from Korea to Japan", "imports from Japan to Korea"),
    ("Google sued Apple", "Apple sued Google"),
    ("Facebook was acquired by Instagram", "Facebook acquired Instagram"),
    ("who acquired Instagram", "who did Instagram acquire"),
    ("barrages that harm fish", "barrages that do not harm fish"),
    ("benefits of green coffee for the liver in old age", "risks of green coffee for the liver in old age"),
    ("side effects of the drug in adults", "side effects of the drug in children"),
    ("tidal power cost", "criticism of tidal power cost"),
    ("tidal power cost", "tidal power cost systematic review study"),
    ("population of Busan", "population of Seoul"),
    ("개가 사람을 물었다", "사람이 개를 물었다"),
    ("서울에서 부산으로 가는 열차", "부산에서 서울로 가는 열차"),
    ("조력 발전 비용 2019", "조력 발전 비용 2020"),
    ("조력 발전", "조력 발전 비판"),
    ("부산 인구", "서울 인구"),
]


def is_repeat(one: str, other: str) -> bool:
    return not drop_repeats([query(one)], [query(other)])


@pytest.mark.parametrize(("one", "other"), SAME)
def test_the_same_in_other_words_is_a_repeat(one: str, other: str) -> None:
    assert is_repeat(one, other)
    assert is_repeat(other, one)


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_nearly_the_same_words_may_ask_something_else(one: str, other: str) -> None:
    assert not is_repeat(one, other)
    assert not is_repeat(other, one)


def test_what_was_asked_and_what_stands_before_are_both_looked_at() -> None:
    offered = [
        query(text) for text in ("cost of tidal power", "moon", "the moon", "", "  ", "wind 1", "wind 2")
    ]
    kept = drop_repeats(offered, [query("tidal power price")])
    assert [q.text for q in kept] == ["moon", "wind 1", "wind 2"]
    assert drop_repeats([], []) == []
