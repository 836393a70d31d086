"""How two statements stand to each other, as far as rules can tell."""

import pytest

from fathom.evidence.statement_pairs import compare_statements, has_shared_terms, is_different_fact

LAGOON = "The lagoon at Swale delivers 320 megawatts of tidal power to the grid."
STATION = "솔섬 조력발전소의 설비 용량은 254메가와트이다."


def relation(left: str, right: str) -> tuple[str, str] | None:
    forth, back = compare_statements(left, right), compare_statements(right, left)
    assert (forth and forth[:2]) == (back and back[:2]), "the order of the two must not matter"
    return forth[:2] if forth else None


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (LAGOON, LAGOON.lower()),
        (LAGOON, "The lagoon at Swale delivers 0.32 GW of tidal power to the grid."),
        ("Tidal power turns tides into electricity.", "Tidal power turns the tides into electricity."),
        ("The lagoon has sixteen turbines.", "The lagoon has 16 turbines."),
        (STATION, "솔섬 조력발전소의 설비용량은 254 MW이다."),
    ],
)
def test_the_same_in_other_units_or_a_little_other_words(left: str, right: str) -> None:
    assert relation(left, right) == ("same", "other")


@pytest.mark.parametrize(
    ("left", "right", "kind"),
    [
        (LAGOON, "The lagoon at Swale delivers 280 MW of tidal power.", "number"),
        ("The lagoon at Swale has 16 turbines.", "The lagoon at Swale has 18 turbines.", "number"),
        (STATION, "솔섬 조력발전소의 설비 용량은 320메가와트이다.", "number"),
        ("The barrage at Ouseport opened in 1987.", "The barrage at Ouseport opened in 1991.", "date"),
        ("솔섬 조력발전소는 2011년에 완공되었다.", "솔섬 조력발전소는 2013년에 완공되었다.", "date"),
        ("The old tower in the harbour is safe.", "The old tower in the harbour is not safe.", "negation"),
        ("항구의 오래된 탑은 안전하다고 한다.", "항구의 오래된 탑은 안전하지 않다고 한다.", "negation"),
        ("Emissions in Norland increased in 2020.", "Emissions in Norland decreased in 2020.", "other"),
        ("솔섬의 관광객은 2020년에 증가했다.", "솔섬의 관광객은 2020년에 감소했다.", "other"),
    ],
)
def test_what_cannot_both_be_true(left: str, right: str, kind: str) -> None:
    assert relation(left, right) == ("contradicts", kind)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("The lagoon at Swale made 320 MWh in 2011.", "The lagoon at Swale made 280 MWh in 2015."),
        ("The lagoon at Swale has 16 turbines.", "The lagoon at Merrow has 18 turbines."),
        ("Women in Norland earn 20 percent less.", "Men in Norland earn 10 percent less."),
        ("Revenue of Acme grew in 1987.", "Revenue of Acme grew in 1991."),
        ("솔섬의 관광객은 2020년에 3만 명이었다.", "솔섬의 관광객은 2021년에 5만 명이었다."),
    ],
)
def test_other_years_places_or_scopes_are_no_contradiction(left: str, right: str) -> None:
    assert (relation(left, right) or ("",))[0] == "neither"


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Coffee may cause headaches in adults.", "Coffee does not cause headaches in adults."),
        ("Norden bought Sudden in 2014.", "Sudden bought Norden in 2014."),
        (LAGOON, "The lagoon at Swale delivers about 300 megawatts of tidal power to the grid."),
        (LAGOON, "The lagoon at Swale delivers 280 megawatts of tidal power per month to the grid."),
        (LAGOON, "The lagoon at Swale delivers between 200 megawatts and 300 megawatts of tidal power."),
        ("The ferry wakes the bay with its engine.", "The ferry crosses the bay without any noise."),
    ],
)
def test_what_rules_cannot_tell_is_left_to_a_mind(left: str, right: str) -> None:
    assert relation(left, right) is None


@pytest.mark.parametrize("ugly", ["", " ", "…", "320", "🙂", "\ud800", "not", "2011년", "a" * 5000])
def test_ugly_statements_are_no_trouble(ugly: str) -> None:
    assert relation(ugly, LAGOON) is None or relation(ugly, LAGOON) == ("neither", "other")
    assert isinstance(has_shared_terms(ugly, LAGOON), bool)
    assert isinstance(is_different_fact(ugly, LAGOON), bool)


def test_other_numbers_are_seen_and_other_units_are_not() -> None:
    assert is_different_fact(LAGOON, "The lagoon gives 280 MW.")
    assert not is_different_fact(LAGOON, "The lagoon gives 0.32 GW.")
    assert not is_different_fact(LAGOON, "The lagoon gives power.")


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (
            "2025년 한국의 출생아 수는 2024년보다 6.8% 늘었다.",
            "2025년 1분기 한국의 출생아 수는 2024년 1분기보다 7.4% 늘었다.",
        ),
        ("The plant made 240 GWh in 2024.", "The plant made 61 GWh in the first quarter of 2024."),
    ],
)
def test_a_year_and_a_part_of_it_do_not_disagree(left: str, right: str) -> None:
    assert relation(left, right) != ("contradicts", "number")
