"""A bound on tokens that real vocabularies keep to, and a guess that is near them."""

import base64
import random
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from standins.localmodel import missing
from standins.vocabulary import small_count
from tokenizers import Tokenizer

from fathom.text.token_count import bound_tokens, count_tokens, count_tokens_at_worst, measure_tokens

ENGLISH = "The barrage was opened in the spring, and ever since then engineers measured the silt behind it. "
KOREAN = "조력 발전소는 밀물 때 바닷물을 가두었다가 썰물 때 내보내며 전기를 만든다. "
RUSSIAN = "Приливная электростанция накапливает воду во время прилива и выпускает её во время отлива. "
ARABIC = "تخزن محطة المد والجزر المياه خلف السد ثم تطلقها عبر التوربينات. "
CHINESE = "潮汐发电站在涨潮时蓄水，退潮时放水发电。"
CODE = "def total(values: list[int]) -> int:\n    for value in values:\n        yield value % 2 == 0\n"
DIGITS = "1966 240 3,141,592.65 2026-11-16 0.4309 "
GARBAGE = base64.b64encode(random.Random(7).randbytes(3_000)).decode()
PIECES = [
    ENGLISH,
    KOREAN,
    RUSSIAN,
    ARABIC,
    CHINESE,
    CODE,
    DIGITS,
    GARBAGE,
    "👩‍🚀🇰🇷🔥",
    "-" * 60,
    "\n\n\t",
    "<s>",
]

needs_weights = pytest.mark.skipif(bool(missing()), reason=missing() or "everything is installed")


@needs_weights
@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=60), max_size=8).map("".join))
@example("<s></s>" * 200)
@example("=" * 500)
@example("xqjzvkw" * 90)
@example("~{}[]\\|^" * 90)
def test_a_real_vocabulary_never_makes_more_of_a_text_than_the_bound(text: str) -> None:
    assert small_count(text) <= count_tokens_at_worst(text)


@needs_weights
@given(st.text(st.characters(max_codepoint=127), max_size=300))
def test_not_of_any_plain_characters_either(text: str) -> None:
    assert small_count(text) <= count_tokens_at_worst(text)


@needs_weights
def test_characters_divided_by_four_would_not_be_a_bound() -> None:
    for text in (KOREAN, RUSSIAN, GARBAGE, DIGITS):
        assert small_count(text) > len(text) / 4


@given(st.text(max_size=300))
def test_the_bound_is_never_above_one_token_a_byte_and_grows_with_the_text(text: str) -> None:
    assert count_tokens_at_worst(text) <= len(text.encode("utf-8", "surrogatepass")) + 2
    assert count_tokens_at_worst(text) <= count_tokens_at_worst(f"{text}\n{ENGLISH}")


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=60), max_size=4).map("".join))
@example("a")
@example("🔥" * 40)
def test_what_need_not_be_counted_is_never_more_than_was_said(text: str) -> None:
    assert max(count_tokens(text), count_tokens_at_worst(text)) <= bound_tokens(text)


# What the o200k vocabulary makes of them, counted with its own package; see docs/log.md.
@pytest.mark.parametrize(
    ("text", "real"), [(ENGLISH * 20, 401), (KOREAN * 20, 561), (CODE * 20, 520), (DIGITS * 20, 500)]
)
def test_the_guess_is_near_what_a_current_vocabulary_makes(text: str, real: int) -> None:
    assert 0.8 * real <= count_tokens(text) <= 1.5 * real
    assert count_tokens(text) <= count_tokens_at_worst(text)


def test_prose_is_not_bounded_far_above_what_it_is() -> None:
    assert count_tokens_at_worst(ENGLISH * 20) <= 1.5 * count_tokens(ENGLISH * 20)


def test_nothing_is_no_tokens_and_a_lone_half_of_a_character_is_counted() -> None:
    assert count_tokens("") == 0
    assert count_tokens_at_worst("") <= 2
    assert count_tokens_at_worst("\ud800") >= 1


@cache
def vocabulary() -> Tokenizer:
    spec = find_spec("wordllama")
    assert spec
    assert spec.origin
    named = Path(spec.origin).parent / "tokenizers" / "l2_supercat_tokenizer_config.json"
    found = Tokenizer.from_file(str(named))
    found.no_truncation()
    found.encode_special_tokens = True
    return found


@given(
    st.lists(st.sampled_from([*PIECES[5:8], *PIECES[9:], "  ", "\r\n", "</s>"]), max_size=6).map("".join)
    | st.text(st.characters(max_codepoint=127), max_size=300)
)
@example("    for value in values:\n        yield\n\n\n")
@example("one\t \n two  ")
def test_words_counted_one_by_one_are_as_many_pieces_as_the_whole_text(text: str) -> None:
    whole = len(vocabulary().encode(text, add_special_tokens=False).ids)
    assert measure_tokens(text).plain == pytest.approx(0.93 * whole)


@given(st.text(max_size=120), st.text(max_size=120))
@example("", "")
@example("", "sap")
@example("Ra", "")
def test_two_texts_together_are_what_both_are(one: str, other: str) -> None:
    both = measure_tokens(one) + measure_tokens(other)
    # A word is spelt with the space before it. The line end is a token, and so is a space before nothing.
    together = measure_tokens(f"{one}\n {other}")
    assert together.usual - 3 <= both.usual <= together.usual
    assert both.worst_beyond == together.worst_beyond


def test_more_different_words_than_are_kept_are_counted_all_the_same() -> None:
    words = " ".join(f"w{n}" for n in range(60_000))
    assert measure_tokens(words).plain == pytest.approx(0.93 * len(vocabulary().encode(words).ids), rel=0.001)
