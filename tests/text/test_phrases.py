"""What a text speaks of by name, in English and in Korean."""

import pytest

from fathom.text.phrases import bare, phrases, spelled


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("The dam was built by Ada Morin near the Lake of Thorn.", ["Ada Morin", "Lake of Thorn"]),
        ("In June 1982 she left Porto Vell for the U.S. Navy.", ["Porto Vell", "U.S. Navy"]),
        ("Ada's sister, J. R. Morin, sings with João da Silva.", ["Ada", "J. R. Morin", "João da Silva"]),
        ("It sets max_power on Monday.", ["max_power"]),
        ("Seven of 120 units failed.", ["Seven"]),
        ("nothing to see, été 12", []),
        ("", []),
    ],
)
def test_english_names_are_capitalised(text: str, names: list[str]) -> None:
    assert phrases(text) == names


def test_korean_names_are_quoted_or_latin_or_told_by_their_particles() -> None:
    found = phrases(
        "조력발전소는 K-water가 운영하며 『바다의 힘』이라는 책의 배경은 부산에서 시작한다. 그것은 길다."
    )
    assert {"조력발전소", "K-water", "바다의 힘", "부산"} <= set(found)
    assert "그것" not in found


def test_a_name_stands_in_a_text_when_its_words_do() -> None:
    assert spelled("Ada Morin") in spelled("Here ADA morin, the builder")
    assert spelled("Ada") not in spelled("Canada")
    assert spelled("서울시") in spelled("서울시는 크다")


def test_a_title_is_known_without_its_brackets() -> None:
    assert bare("Nightshade (1992 video game)") == "Nightshade"
    assert bare("(untitled)") == "(untitled)"
