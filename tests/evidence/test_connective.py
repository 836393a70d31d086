"""A sentence that cites nothing may lead from one to the next, and nothing else."""

import pytest

from fathom.evidence.connective import is_connective


@pytest.mark.parametrize(
    "sentence",
    [
        "So much for that.",
        "However, in addition to that:",
        "Turning to the next question:",
        "The following section looks at the sources in detail.",
        "다음은 관련 내용이다.",
        "먼저 근거를 살펴본다.",
        "한편, 아래에서 이를 정리한다.",
    ],
)
def test_what_only_connects_is_let_through(sentence: str) -> None:
    assert is_connective(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "",
        "…",
        "Yes.",
        "It can.",
        "This is not so.",
        "None of the following.",
        "Tides are dangerous.",
        "The sources agree.",
        "The following section is from 1987.",
        "First, Zanzibar.",
        "It is safe.",
        "The question above can be answered.",
        "Much " * 20,
        "온돌은 좋다.",
        "다음은 사실이 아니다.",
        "효과가 없다.",
        "이것은 이상하다.",
        "먼저 1987년을 살펴본다.",
        "潮力很便宜。",
    ],
)
def test_what_states_something_is_not(sentence: str) -> None:
    assert not is_connective(sentence)
