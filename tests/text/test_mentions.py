"""Names of a sentence are in its quotes, or they are told."""

import pytest

from fathom.text.mentions import (
    extract_numbers,
    find_missing_names,
    find_name_phrases,
    find_name_words,
    is_negated,
    pad_words,
    strip_brackets,
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("1,234,567 people and 12,5 and 0.50", ["1234567", "12,5", "0.5"]),
        ("in 1966, 240 MW.", ["1966", "240"]),
        ("07 May 2024", ["7", "2024"]),
        ("version 1.2.3 of GPT-4", ["1.2.3", "4"]),
        ("１２ percent", ["12"]),
        ("no figures at all", []),
        ("2011년 254메가와트", ["2011", "254"]),
    ],
)
def test_numbers_are_plain_digits(text: str, found: list[str]) -> None:
    assert extract_numbers(text) == found


@pytest.mark.parametrize(
    ("sentence", "quote"),
    [
        ("The Koreans built it.", "It was built by Korea."),
        ("The plant in Korea is new.", "a new Korean plant"),
        ("Korea's plant is new.", "the plant of Korea is new"),
        ("The plants of EDF’s rivals closed.", "the rivals of EDF closed their plants"),
        ("However, costs fell. Then they rose again.", "costs fell, then rose"),
        ("Costs fell by 5. However, they rose (again). Yet nobody knew.", "costs fell by 5, rose again"),
        ("“Nobody knew,” they said: Costs rose.", "nobody knew, they said, costs rose"),
        ("The U.S. Navy took it.", "taken by the U.S. Navy"),
        ("The GPUs are old.", "an old GPU"),
    ],
)
def test_what_the_quote_carries_is_not_missed(sentence: str, quote: str) -> None:
    assert find_missing_names(find_name_words(sentence), [quote]) == []


@pytest.mark.parametrize(
    ("sentence", "quote", "missing"),
    [
        ("It opened in June 2024.", "it opened in May 2024", ["June"]),
        ("The Rance plant is in Brittany.", "the Rance plant", ["Brittany"]),
        ("The plant uses CUDA and ROCm.", "the plant uses CUDA", ["ROCm"]),
        ("OpenAI built it.", "they built it", ["OpenAI"]),
        ("The US plant is old.", "the user plant is old", ["US"]),
        ("We use AI here.", "the aim is to use it here", ["AI"]),
    ],
)
def test_what_no_quote_has_is_told_once(sentence: str, quote: str, missing: list[str]) -> None:
    assert find_missing_names(find_name_words(sentence), [quote]) == missing


def test_a_name_may_come_from_any_of_the_quotes() -> None:
    assert find_missing_names(["Rance", "MW"], ["the Rance plant", "240 MW at its peak"]) == []
    assert find_missing_names(["Rance", "MW"], []) == ["Rance", "MW"]


@pytest.mark.parametrize(
    ("sentence", "quote", "missing"),
    [
        ("국내에서 OpenAI는 GPT-4를 공개했다.", "OpenAI가 GPT-4를 공개하였다", []),
        ("시화호 조력발전소는 2011년에 완공되었다.", "2011년 완공된 시화호 조력발전소", []),
        ("국내 기업은 NVIDIA의 칩을 쓴다.", "국내 기업은 AMD의 칩을 쓴다", ["NVIDIA"]),
    ],
)
def test_korean_endings_are_no_part_of_a_name(sentence: str, quote: str, missing: list[str]) -> None:
    assert find_missing_names(find_name_words(sentence), [quote]) == missing


@pytest.mark.parametrize(
    ("sentence", "found"),
    [
        ("Paris is old.", []),
        ("In Paris the Seine floods.", ["Paris", "Seine"]),
        ("Today iPhone and LLaMA sell.", ["iPhone", "LLaMA"]),
        ("He said “This is Paris.” Then She left.", ["Paris"]),
        ("국내 Samsung이 만든다.", ["Samsung"]),
        ("", []),
    ],
)
def test_names_are_capitals_inside_a_sentence(sentence: str, found: list[str]) -> None:
    assert find_name_words(sentence) == found


@pytest.mark.parametrize(
    ("text", "is_it"),
    [
        ("It is not safe.", True), ("It isn't safe.", True), ("It isn’t, they say.", True),
        ("Never, ever.", True), ("안전하지 않다.", True), ("근거가 없다.", True),
        ("It is safe.", False), ("A notable knot.", False), ("안전하다.", False),
    ],
)  # fmt: skip
def test_a_negation_is_heard_in_its_usual_forms(text: str, is_it: bool) -> None:
    assert is_negated(text) is is_it


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
    assert find_name_phrases(text) == names


def test_korean_names_are_quoted_or_latin_or_told_by_their_particles() -> None:
    found = find_name_phrases(
        "조력발전소는 K-water가 운영하며 『바다의 힘』이라는 책의 배경은 부산에서 시작한다. 그것은 길다."
    )
    assert {"조력발전소", "K-water", "바다의 힘", "부산"} <= set(found)
    assert "그것" not in found


def test_a_name_stands_in_a_text_when_its_words_do() -> None:
    assert pad_words("Ada Morin") in pad_words("Here ADA morin, the builder")
    assert pad_words("Ada") not in pad_words("Canada")
    assert pad_words("서울시") in pad_words("서울시는 크다")


def test_a_title_is_known_without_its_brackets() -> None:
    assert strip_brackets("Nightshade (1992 video game)") == "Nightshade"
    assert strip_brackets("(untitled)") == "(untitled)"
