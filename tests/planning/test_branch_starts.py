"""Where branches start: always the same starts for the same question, and all of them different."""

import pytest

from fathom.planning.tree import choose_starts, is_off_angle, topic_phrase


def test_a_plain_question_is_asked_as_it_is_and_then_from_other_sides() -> None:
    found = choose_starts("How much does tidal power cost?", 3)
    assert [seed.text for seed in found] == [
        "How much does tidal power cost?",
        "Tidal power cost: limits, problems, criticism",
        "Tidal power cost: studies, evidence, measurements",
    ]
    assert [seed.angle for seed in found] == ["as asked", "counter-evidence", "research"]


def test_a_question_with_parts_starts_with_its_parts() -> None:
    found = choose_starts("How is a quote checked, and how does a run resume?", 3)
    assert [seed.text for seed in found[:2]] == ["How is a quote checked?", "How does a run resume?"]
    assert found[2].angle == "counter-evidence"


def test_a_korean_question_is_looked_at_in_korean() -> None:
    found = choose_starts("온돌은 어떻게 방을 따뜻하게 하나?", 3)
    assert found[0].text == "온돌은 어떻게 방을 따뜻하게 하나?"
    assert found[1].text.endswith(": 한계, 문제, 비판")
    assert found[1].text.startswith("온돌")


@pytest.mark.parametrize("question", ["?", "a", "!!! ???", "그", "x" * 2000, "and and and", "\u200b"])
@pytest.mark.parametrize("most", [0, 1, 8])
def test_odd_questions_have_at_least_one_start_and_no_start_twice(question: str, most: int) -> None:
    found = choose_starts(question, most)
    assert 1 <= len(found) <= max(1, most)
    assert len({seed.text.casefold() for seed in found}) == len(found)
    assert found == choose_starts(question, most)


def test_the_topic_is_what_a_question_says_without_its_asking() -> None:
    assert topic_phrase("How much does tidal power cost?") == "Tidal power cost"
    assert topic_phrase("왜?") == "왜"


def test_what_says_nothing_of_an_angle_is_beside_it() -> None:
    angle = "Tidal power cost: limits, problems, criticism"
    assert is_off_angle("Tidal power costs 92 euros.", angle)
    assert not is_off_angle("Silt limits tidal power.", angle)
    assert not is_off_angle("Silt limits tidal power.", "How much does tidal power cost?")
