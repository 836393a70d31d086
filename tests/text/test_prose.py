"""Whether a sentence is one."""

import pytest

from fathom.text.prose import is_order, is_whole


@pytest.mark.parametrize(
    "sentence",
    [
        "Buffers allow long runs to keep their state.",
        "A servicer delegates to the engine.",
        "Ten turbines stand in a wall of 1.2 kilometres.",
        "Fishermen protested against the wall.",
        "Colonies with strong queens survive more often.",
        "Use of solar power rose.",
        "Water boils at 100 degrees.",
        "Bees pollinate crops.",
        "열펌프는 바깥의 열을 옮기는 기계이다.",
        "발전소는 언제 문을 열었나요?",
    ],
)
def test_a_sentence_says_something_of_something(sentence: str) -> None:
    assert is_whole(sentence)


@pytest.mark.parametrize(
    "label",
    [
        "Data models for talking to the service.",
        "Plant service implementation.",
        "Requires a buffer to be set.",
        "Maps to plant status 3.",
        "Base class for making a graph.",
        "Photos of the tidal station.",
        "Use the first valve.",
        "It lasts about 20 years.",
        "열펌프 설치 안내",
        "이는 2011년의 일이다.",
        "",
    ],
)
def test_a_label_an_order_and_what_leans_on_another_sentence_do_not(label: str) -> None:
    assert not is_whole(label)


def test_an_order_is_told_from_its_noun() -> None:
    assert is_order("Use the first valve.")
    assert not is_order("Use of the valve is rare.")
