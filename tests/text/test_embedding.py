"""Tests of texts as vectors; wordllama loads from its wheel, offline."""

import numpy as np

from fathom.text.embedding import embed, is_embeddable
from fathom.text.token_count import count_tokens


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
