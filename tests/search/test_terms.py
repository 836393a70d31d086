"""The words of a query, as services with a query language get them."""

import pytest

from fathom.search.terms import is_korean, language_code, library_code, terms


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("What is the cost of tidal power?", ["cost", "tidal", "power"]),
        ('title:"tides" AND (NOT wind*) OR ~waves', ["title", "tides", "wind", "waves"]),
        ("GPT-4 vs. o'brien 3.5 tides tides", ["GPT-4", "vs", "o'brien", "3.5", "tides"]),
        ("WHO guidelines on who may sail", ["WHO", "guidelines", "may", "sail"]),
        ("조력 발전의 비용은 얼마나 되나?", ["조력", "발전의", "비용은", "되나"]),
        ("to be or not to be", ["be"]),
        ("?! — …", []),
        ("", []),
    ],
)
def test_a_query_is_its_telling_words_without_syntax(text: str, words: list[str]) -> None:
    assert terms(text) == words


def test_a_long_query_is_cut() -> None:
    assert len(terms(" ".join(f"word{n}" for n in range(99)))) == 12


def test_hangul_is_korean() -> None:
    assert is_korean("GPT의 비용")
    assert not is_korean("潮力 tidal")


@pytest.mark.parametrize(
    ("language", "code", "library"),
    [
        ("ko", "ko", "kor"),
        ("de-AT", "de", "ger"),
        ("EN_us", "en", "eng"),
        ("xx", "xx", None),
        ("Korean", None, None),
        ("../x", None, None),
        (None, None, None),
    ],
)
def test_languages_have_codes(language: str | None, code: str | None, library: str | None) -> None:
    assert (language_code(language), library_code(language)) == (code, library)
