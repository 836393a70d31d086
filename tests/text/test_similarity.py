"""Tests of comparing texts by their wording, and as vectors; wordllama loads from its wheel, offline."""

import random
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fathom.text.similarity import embed, is_copy, is_embeddable, make_sketch, make_sketch_async
from fathom.text.token_count import count_tokens

WORDS = [f"{a}{b}{c}" for a in "bdfgklmnprst" for b in "aeiou" for c in ("n", "r", "lt", "s", "nd")]
SYLLABLES = [chr(0xAC00 + 28 * number) for number in range(0, 399, 3)]


def prose(seed: int, words: int = 400) -> str:
    return " ".join(random.Random(seed).choices(WORDS, k=words))


def korean(seed: int, words: int = 300) -> str:
    source = random.Random(seed)
    return " ".join("".join(source.choices(SYLLABLES, k=3)) for _ in range(words))


def are_one(a: str, b: str) -> bool:
    return is_copy(make_sketch(a), make_sketch(b))


@pytest.mark.parametrize("make", [prose, korean])
def test_a_copy_with_a_menu_and_another_date_is_the_same_text(make: object) -> None:
    text = prose(1) if make is prose else korean(1)
    assert are_one(text, f"Home News Shop\n\n{text.replace(' ', '  ')}\n\nPrinted again in March 2024.")


def test_two_texts_on_one_matter_are_not_the_same() -> None:
    assert not are_one(prose(1), prose(2))
    assert not are_one(korean(1), korean(2))
    assert not are_one(prose(1), korean(1))


def test_a_text_that_was_half_rewritten_is_another_one() -> None:
    assert not are_one(prose(1), f"{prose(1, 200)} {prose(3, 200)}")


def test_case_forms_and_korean_spacing_do_not_matter() -> None:
    assert make_sketch("The Tide rises TWICE a day, always") == make_sketch(
        "the tide rises twice a day always"
    )
    assert make_sketch("바다의 수위는 하루에 두 번 오른다") == make_sketch("바다의수위는 하루에 두번 오른다.")


def test_order_matters() -> None:
    assert not are_one("the cat that sat bit the dog", "the dog that sat bit the cat")


@pytest.mark.parametrize("text", ["", " \n", "…!?"])
def test_a_text_without_words_is_a_copy_of_nothing(text: str) -> None:
    assert not are_one(text, text)
    assert not are_one(text, "some words")


@given(st.text(max_size=80), st.text(max_size=80))
def test_a_copy_is_one_from_both_sides(a: str, b: str) -> None:
    assert are_one(a, b) == are_one(b, a)


@given(st.text(max_size=200))
def test_every_text_with_words_is_a_copy_of_itself(text: str) -> None:
    assert are_one(text, text) == bool(make_sketch(text))


def test_a_sketch_is_short_however_long_the_text_and_the_same_in_every_process() -> None:
    assert len(make_sketch(prose(5, 20_000))) == 48 * 8
    assert make_sketch("one two three four five") == f"{8011190938407273354 >> 32:08x}"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (
            "The tide rises twice a day. The tide rises twice a day.",
            "34ec807c701cf1a878aa4a4ba8e417fdb991d53abb3c07f4",
        ),
        ("바다의 수위는 두 번", "3f4c76e947377e03663faa52d5cfda3f"),
        ("Über uns", "d16b329f"),
    ],
)
async def test_sketches_that_were_kept_stay_true(text: str, kept: str) -> None:
    assert make_sketch(text) == kept
    assert await make_sketch_async(text) == kept


async def test_the_sketch_of_a_long_text_is_the_same_though_a_thread_makes_it() -> None:
    assert await make_sketch_async(prose(1, 8_000)) == make_sketch(prose(1, 8_000))


def test_a_hundred_pages_are_compared_soon() -> None:
    pages = [prose(number, 5_000) for number in range(100)]
    assert min(map(len, pages)) > 18_000
    started = time.process_time()
    sketches = [make_sketch(page) for page in pages]
    assert not any(is_copy(a, b) for a in sketches for b in sketches if a is not b)
    assert time.process_time() - started < 2


def test_close_meanings_are_closer_than_strangers() -> None:
    cat, kitten, bank = embed(["a cat sleeps", "kittens are sleeping", "the bank raised its interest rate"])
    assert cat @ kitten > cat @ bank


def test_vectors_are_unit_float32() -> None:
    vectors = embed(["one", "two words"])
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_texts_without_words_are_zeros() -> None:
    assert not embed(["", "!!", "a"])[:2].any()
    assert embed([]).shape == (0, 256)


def test_a_very_long_text_is_cut() -> None:
    assert embed(["word " * 200_000, "word"]).shape == (2, 256)


def test_korean_is_not_embeddable() -> None:
    assert is_embeddable("plain English")
    assert not is_embeddable("배터리 lifetime")


def test_counting_and_embedding_share_one_vocabulary_and_do_not_disturb_each_other() -> None:
    text = "Tidal lagoons <s> cost 40 euros."
    before = count_tokens(text)
    vector = embed([text, "word " * 300])[0]
    assert count_tokens(f"{text} ") == before + 1
    assert (embed([text])[0] == vector).all()
