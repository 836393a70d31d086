"""Amounts are told with their measure, in figures and in words, in English and Korean."""

import pytest

from fathom.evidence.checks.dates import find_dates, find_wrong_dates
from fathom.evidence.checks.strict import find_amounts, find_wrong_amounts


@pytest.mark.parametrize(
    ("text", "value", "measure"),
    [
        ("240 megawatts", 240e6, "power"), ("60 kWh", 60e3, "energy"), ("$3.2 million", 3.2e6, "dollar"),
        ("2조 3천억 원", 2.3e12, "won"), ("1,200만 명", 12e6, "persons"), ("3억 2천만 달러", 3.2e8, "dollar"),
        ("two thirds", 200 / 3, "percent"), ("3분의 2", 200 / 3, "percent"), ("twenty-five", 25, ""),
        ("3 percentage points", 3, "points"), ("3퍼센트포인트", 3, "points"),
        ("30km", 30e3, "length"),
        ("200 degrees Celsius", 200, "celsius"), ("1.5 million cubic metres", 1.5e9, "volume"),
        ("두 번째", 2, "ordinal"), ("the 19th century", 19, "ordinal"), ("doubled", 2, "times"),
        ("마흔 명", 40, "persons"),
        ("20제곱킬로미터", 20e6, "area"), ("터빈은 240kW이다", 240e3, "power"),
    ],
)  # fmt: skip
def test_an_amount_has_a_value_and_a_measure(text: str, value: float, measure: str) -> None:
    (found,) = find_amounts(text)
    assert found.base == pytest.approx(value)
    assert found.dimension == measure


@pytest.mark.parametrize(
    ("said", "quote"),
    [
        ("It makes 0.24 GW.", "It makes 240 MW."),
        ("It is 186 miles long.", "It is 300 km long."),
        ("About 1,200 came.", "1,204 came."),
        ("50 percent left.", "Half of them left."),
        ("67 percent left.", "Two thirds of them left."),
        ("It is 0.41 km long.", "It is 410 metres long."),
        ("It is about 410 metres long.", "It is 412 metres long."),
        ("길이는 약 410미터이다.", "길이는 412미터이다."),
        ("It costs 9 crowns.", "It costs 9 crowns, not 7 as we reported."),
        ("인구는 120만 명이다.", "The population is 1.2 million."),
        ("The GX-4 has it.", "The GX-4 has it."),
    ],
)
def test_the_same_amount_in_another_dress_is_no_other(said: str, quote: str) -> None:
    assert find_wrong_amounts(said, [quote]) == []


@pytest.mark.parametrize(
    ("said", "quote"),
    [
        ("It makes 240 kW.", "It makes 240 MW."),
        ("It rose 3 percent.", "It rose 3 percentage points."),
        ("1,200 came.", "1,204 came."),
        ("It cost 40억 원.", "It cost 40만 원."),
        ("It was won once.", "It was won three times."),
        ("It is 410 metres long.", "It is 412 metres long."),
        ("It is 410 metres long.", "It is about 412 metres long."),
        ("길이는 410미터이다.", "길이는 412미터이다."),
        ("It rose by 12.4 percent.", "It rose by 12.45 percent."),
        ("It cost $3.2 million.", "It cost $3,204,000."),
        ("It is 187 miles long.", "It is 300 km long."),
        ("It costs 7 crowns.", "It costs 9 crowns, not 7 as we reported."),
        ("It costs 9 crowns, not 5.", "It costs 9 crowns, not 7."),
        ("요금은 7크로네이다.", "요금은 7크로네가 아니라 9크로네이다."),
    ],
)
def test_another_amount_is_told(said: str, quote: str) -> None:
    assert len(find_wrong_amounts(said, [quote])) == 1


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("on 4 March 1998", {"year": 1998, "month": 3, "day": 4}),
        ("1998년 3월 4일에", {"year": 1998, "month": 3, "day": 4}),
        ("since 2024-05-03", {"year": 2024, "month": 5, "day": 3}),
        ("In May 2023, it", {"year": 2023, "month": 5}),
        ("the 1980s", {"decade": 1980}),
        ("1980년대에", {"decade": 1980}),
    ],
)
def test_a_date_has_the_parts_that_are_given(text: str, parts: dict[str, int]) -> None:
    assert [date.parts for date in find_dates(text)] == [parts]


def test_a_month_is_no_maybe_and_a_number_no_year() -> None:
    assert find_dates("It may be so.") == ()
    assert find_dates("It made 1950 MW.") == ()


def test_a_date_may_say_less_than_the_quote_but_nothing_else() -> None:
    assert find_wrong_dates("It was in March 1998.", ["It was on 4 March 1998."]) == []
    assert find_wrong_dates("It was on 4 March 1998.", ["In 1998 it was on 4 March."]) == []
    assert find_wrong_dates("It was on 7 January 2015.", ["It was on 1 July 2015."]) == ["7 January 2015"]
    assert find_wrong_dates("2021년 가을이다.", ["2021년 봄이다."]) == ["가을"]
