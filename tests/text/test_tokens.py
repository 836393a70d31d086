"""Tests of the words an index compares."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fathom.text.tokens import has_cjk, index_text, query_terms, tokens


def test_words_are_lower_case_without_punctuation() -> None:
    assert tokens("The GPT-4 Model's snake_case!") == ["the", "gpt", "4", "model", "s", "snake", "case"]


def test_accents_and_wide_letters_do_not_matter() -> None:
    assert tokens("Café ＡＢＣ naïve") == ["cafe", "abc", "naive"]


def test_korean_becomes_pairs_of_characters() -> None:
    assert tokens("인공지능은 2024년") == ["인공", "공지", "지능", "능은", "2024", "년"]


def test_a_korean_word_is_found_with_any_particle() -> None:
    for word in ("반도체는", "반도체를", "반도체에서도"):
        assert {"반도", "도체"} <= set(tokens(word))


def test_decomposed_korean_is_the_same_as_composed() -> None:
    import unicodedata

    assert tokens(unicodedata.normalize("NFD", "한국어")) == tokens("한국어") == ["한국", "국어"]


def test_chinese_and_japanese_are_pairs_too() -> None:
    assert tokens("東京タワー") == ["東京", "京タ", "タワ", "ワー"]


def test_a_query_loses_its_stop_words_and_repeats() -> None:
    assert query_terms("What is the height of the tower, the tower?") == ["height", "tower"]
    assert query_terms("반도체 수출은 어떻게 무엇인가") == ["반도", "도체", "수출", "출은"]


def test_a_query_of_stop_words_keeps_them() -> None:
    assert query_terms("To be or not to be") == ["to", "be", "or", "not"]


@pytest.mark.parametrize("text", ["", "   ", "!!! ??", "🙂🚀"])
def test_nothing_to_look_for_is_no_terms(text: str) -> None:
    assert query_terms(text) == []


def test_only_east_asian_script_is_paired() -> None:
    assert has_cjk("GPT는")
    assert not has_cjk("Ünïcode — text")


@given(st.text())
def test_any_text_can_be_indexed_twice_with_the_same_result(text: str) -> None:
    once = index_text(text)
    assert index_text(once).split() == once.split() or has_cjk(text) or not text.isascii()
    assert "\n" not in once
