"""Tests of comparing whole texts by their wording."""

import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fathom.text.shingles import likeness, same_text, signature

WORDS = [f"{a}{b}{c}" for a in "bdfgklmnprst" for b in "aeiou" for c in ("n", "r", "lt", "s", "nd")]
SYLLABLES = [chr(0xAC00 + 28 * number) for number in range(0, 399, 3)]


def prose(seed: int, words: int = 400) -> str:
    return " ".join(random.Random(seed).choices(WORDS, k=words))


def korean(seed: int, words: int = 300) -> str:
    source = random.Random(seed)
    return " ".join("".join(source.choices(SYLLABLES, k=3)) for _ in range(words))


def like(a: str, b: str) -> float:
    return likeness(signature(a), signature(b))


def exact(a: str, b: str) -> float:
    """The definition, word for word."""
    one, other = ({tuple(w[at : at + 5]) for at in range(len(w) - 4)} for w in (a.split(), b.split()))
    return len(one & other) / len(one | other)


@pytest.mark.parametrize("make", [prose, korean])
def test_a_copy_with_a_menu_and_another_date_is_the_same_text(make: object) -> None:
    text = prose(1) if make is prose else korean(1)
    copy = f"Home News Shop\n\n{text.replace(' ', '  ')}\n\nPrinted again in March 2024."
    assert same_text(signature(text), signature(copy))


def test_two_texts_on_one_matter_are_not_the_same() -> None:
    assert not same_text(signature(prose(1)), signature(prose(2)))
    assert not same_text(signature(korean(1)), signature(korean(2)))
    assert not same_text(signature(prose(1)), signature(korean(1)))


def test_a_text_that_was_half_rewritten_is_another_one() -> None:
    half = f"{prose(1, 200)} {prose(3, 200)}"
    assert not same_text(signature(prose(1)), signature(half))
    assert like(prose(1), half) > 0.2


def test_case_forms_and_korean_spacing_do_not_matter() -> None:
    assert like("The Tide rises TWICE a day, always", "the tide rises twice a day always") == 1
    assert like("바다의 수위는 하루에 두 번 오른다", "바다의수위는 하루에 두번 오른다.") == 1


def test_order_matters() -> None:
    assert like("the cat that sat bit the dog", "the dog that sat bit the cat") < 0.5


@pytest.mark.parametrize("text", ["", " \n", "…!?"])
def test_a_text_without_words_is_like_nothing(text: str) -> None:
    assert like(text, text) == 0
    assert like(text, "some words") == 0


def test_long_texts_are_compared_by_a_fair_sample() -> None:
    shared = prose(5, 20_000)
    one, other = f"{shared} {prose(6, 4_000)}", f"{shared} {prose(7, 4_000)}"
    assert len(signature(one).hashes) == 1024
    assert like(one, other) == pytest.approx(exact(one, other), abs=0.05)


@given(st.text(max_size=80), st.text(max_size=80))
def test_likeness_is_the_same_from_both_sides_and_a_share(a: str, b: str) -> None:
    one, other = signature(a), signature(b)
    assert likeness(one, other) == likeness(other, one)
    assert 0 <= likeness(one, other) <= 1


@given(st.text(max_size=200))
def test_every_text_with_words_is_like_itself(text: str) -> None:
    mine = signature(text)
    assert likeness(mine, mine) == (1 if mine.count else 0)


@given(st.lists(st.sampled_from("abcdefg"), min_size=5, max_size=60), st.integers(0, 30))
def test_short_texts_are_compared_exactly(letters: list[str], cut: int) -> None:
    one, other = " ".join(letters), " ".join([*letters[cut:], *"abcde"])
    assert like(one, other) == pytest.approx(exact(one, other))


def test_a_signature_is_the_same_in_every_process() -> None:
    assert [int(part) for part in signature("one two three four five").hashes] == [8011190938407273354]


def test_a_hundred_pages_are_compared_soon() -> None:
    pages = [prose(number, 5_000) for number in range(100)]
    assert min(map(len, pages)) > 18_000
    started = time.process_time()
    signed = [signature(page) for page in pages]
    alike = sum(same_text(a, b) for a in signed for b in signed if a is not b)
    assert alike == 0
    assert time.process_time() - started < 2
