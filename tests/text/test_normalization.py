"""Texts folded for comparison lead back to where they came from."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fathom.text.languages import is_korean
from fathom.text.normalization import fold_text, one_line


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("The  Tide\n\tTurns", "the tide turns"),
        ("“Quoted” and ‘so’ — or – or −", "\"quoted\" and 'so' - or - or -"),
        ("soft\u00adhyphen zero\u200bwidth \ufeffmark", "softhyphen zerowidth mark"),
        ("ﬁle №5 ＡＢＣ", "file no5 abc"),
        ("no\u00a0break\u2003space\u2028line", "no break space line"),
        (unicodedata.normalize("NFD", "Café naïve"), "café naïve"),
        (unicodedata.normalize("NFD", "조력 발전소 각"), "조력 발전소 각"),
        ("  edges  ", "edges"),
        ("", ""),
        ("\u200b", ""),
    ],
)
def test_what_looks_the_same_folds_to_the_same(left: str, right: str) -> None:
    assert fold_text(left).text == fold_text(right).text == right


def _spans(text: str) -> list[tuple[int, int]]:
    fold = fold_text(text)
    return [fold.original_span(place, place + 1) for place in range(len(fold.text))]


@given(st.text(max_size=60))
def test_every_folded_character_knows_where_it_stood(text: str) -> None:
    spans = _spans(text)
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert spans == sorted(spans)


@given(st.text(st.characters(max_codepoint=127), max_size=60))
def test_plain_letters_fold_the_same_beside_others(text: str) -> None:
    alone, beside = fold_text(text), fold_text(f"{text} é")
    count = len(alone.text)
    assert beside.text == f"{alone.text} é".lstrip()
    assert _spans(f"{text} é")[:count] == _spans(text)


@given(st.text(max_size=60))
def test_folding_leaves_no_double_or_outer_space(text: str) -> None:
    fold = fold_text(text).text
    assert "  " not in fold
    assert fold == fold.strip(" ")


def test_a_span_covers_a_letter_and_its_accent() -> None:
    text = unicodedata.normalize("NFD", "un café noir")
    fold = fold_text(text)
    start = fold.text.index("café")
    first, last = fold.original_span(start, start + 4)
    assert unicodedata.normalize("NFC", text[first:last]) == "café"


def test_a_span_that_ends_inside_a_wide_letter_takes_all_of_it() -> None:
    fold = fold_text("a ﬁle here")
    start, end = fold.original_span(0, fold.text.index("i") + 1)
    assert (start, end) == (0, 3)


@given(
    st.lists(st.sampled_from(["a", "Tide", " ", "\n", "각", "“", "é", "e\u0301", "ﬁ", "\u200b"]), max_size=30)
)
def test_a_letter_folds_alone_as_it_does_in_a_text(letters: list[str]) -> None:
    text = "".join(letters)
    fold = fold_text(text)
    for place, (start, end) in enumerate(_spans(text)):
        assert fold.text[place] in (fold_text(text[start:end]).text or " ")


def test_one_line_is_one_line() -> None:
    assert one_line("  a\n\n b\t c ") == "a b c"


@pytest.mark.parametrize(
    ("text", "is_it"),
    [
        ("조력이란?", True),
        ("GPT-4는 무엇인가요?", True),
        ("Who said 안녕 first?", False),
        ("", False),
        ("123", False),
    ],
)
def test_korean_is_recognised_even_with_foreign_names(text: str, is_it: bool) -> None:
    assert is_korean(text) is is_it
