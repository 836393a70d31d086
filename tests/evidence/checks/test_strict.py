"""A statement that its quotes do not carry is told why, in a short sentence."""

import pytest

from fathom.evidence.checks.strict import find_flaws


@pytest.mark.parametrize(
    ("statement", "quote"),
    [
        ("The plant opened in 1966.", "The plant opened in 1966 and makes 240 megawatts."),
        ("발전소는 2011년에 완공되었다.", "시화호 조력발전소는 2011년에 완공되었다."),
        ("Tides are not weather.", "Tides are not weather."),
        ("The group planted trees.", "The non-profit group planted trees."),
        ("The paint is not toxic.", "The paint is non-toxic."),
        ("Prices fell while wages rose.", "Wages rose while prices fell."),
        ("Release 1.0 came out in May 2023.", "Release v1.0 came out in May 2023."),
        ("1분기에 매출이 늘었다.", "올해 1분기에 매출이 늘었다."),
        ("출생아가 늘었다.", "통계청에 따르면 출생아가 늘었다."),
        ("이 제도는 부모급여라고 불린다.", "이 제도를 '부모급여'라고 부른다."),
        ("원인은 소득이다.", "원인은 소득인 것이다."),
        ("The server parses payloads.", "The server parses payloads instead of using standard patterns."),
        ("It holds nothing other than water.", "It holds only water."),
        ("출산율은 8년 연속 떨어졌다.", "It was the eighth consecutive drop of the fertility rate."),
        ("비용은 오를 수밖에 없다.", "비용은 오를 수밖에 없습니다."),
        ("Both towns have a school.", "The two towns have a school."),
        ("Each of the two towns has a school.", "The towns have a school each."),
    ],
)
def test_what_the_quote_carries_has_no_flaw(statement: str, quote: str) -> None:
    assert find_flaws(statement, [quote]) == []


@pytest.mark.parametrize(
    ("statement", "quote", "why"),
    [
        ("The plant opened in 1967.", "The plant opened in 1966.", "1967 is not in its quotes"),
        ("The plant in Wales opened.", "The plant opened.", "Wales is not in its quotes"),
        ("Terms are renewed.", "Terms are strictly non-renewable.", "the quote says not ('renewabl')"),
    ],
)
def test_a_flaw_is_told(statement: str, quote: str, why: str) -> None:
    assert find_flaws(statement, [quote]) == [why]


@pytest.mark.parametrize("name", ["Delft", "Samsung"])
def test_another_name_at_the_beginning_is_told(name: str) -> None:
    assert find_flaws(f"{name} built the pump in 1998.", ["Leiden built the pump in 1998."])
