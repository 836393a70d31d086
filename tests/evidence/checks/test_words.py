"""Words are compared by their stems, their particles and the sentences that bear them."""

import pytest

from fathom.evidence.checks import (
    is_same_word,
    measure_coverage,
    parse_sentences,
    parse_text,
    particle_role,
    select_supporting_sentences,
)
from fathom.evidence.checks.markers import find_markers
from fathom.evidence.checks.negation import find_negations


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("The plant opened.", "opening of plants"),
        ("Prices dropped.", "a price fell"),
        ("위험을 낮춘다", "위험이 낮아졌다"),
    ],
)
def test_forms_of_a_word_and_words_alike_are_the_same(left: str, right: str) -> None:
    assert measure_coverage(parse_text(left), [parse_text(right)]) == 1.0


def test_words_that_only_begin_alike_are_two() -> None:
    assert not is_same_word("port", "portugal")
    assert not is_same_word("전주", "청주")
    assert is_same_word("week", "weekly")


def test_a_korean_word_has_a_role() -> None:
    roles = {word.key: particle_role(word) for word in parse_text("한빛전자는 두레전자를 인수했다.").words}
    assert roles["한빛전자"] == "이"
    assert roles["두레전자"] == "을"


def test_the_sentence_that_bears_a_statement_is_found_among_others() -> None:
    text = "The north shaft closed in May. Forty miners work in the south shaft. Rain fell."
    near = select_supporting_sentences(parse_text("Miners work in the south shaft."), parse_sentences(text))
    assert [t.text for t in near] == ["Forty miners work in the south shaft."]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("The drug did not reduce pain.", "fall"), ("They failed to agree.", "agree"),
        ("It runs without oil.", "oil"),
        ("합의에 이르지 못했다.", "이르"), ("터널을 안 쓴다.", "쓰"), ("독이 아니다.", "독이"),
    ],
)  # fmt: skip
def test_a_not_reaches_over_the_words_next_to_it(text: str, first: str) -> None:
    ((nearest, *_),) = find_negations(parse_text(text))
    assert is_same_word(nearest, first) or nearest[0] == first[0]


@pytest.mark.parametrize(
    "text", ["It is not only safe but cheap.", "A notable knot.", "안전하다.", "안내문을 썼다."]
)
def test_what_only_looks_like_a_not_is_none(text: str) -> None:
    assert find_negations(parse_text(text)) == ()


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("It may rain.", "possible"), ("up to 30 percent", "at_most"), ("in mice", "animals"),
        ("비가 올 수 있다.", "possible"), ("최대 30퍼센트", "at_most"), ("almost 500", "nearly"),
        ("문을 열 예정이다.", "planned"),
    ],
)  # fmt: skip
def test_a_marker_has_a_kind(text: str, kind: str) -> None:
    assert kind in find_markers(text)


def test_a_purpose_is_no_possibility() -> None:
    assert find_markers("It was dug so that ships could pass.", frozenset({"possible"})) == {}
