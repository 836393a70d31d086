"""Reading a question without a model."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fathom.minds.questions import bridges, parts_of, with_topic


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("What is tidal power?", ["What is tidal power?"]),
        ("tidal power", ["Tidal power"]),
        ("What is tidal power and how is it made?", ["What is tidal power?", "How is it made?"]),
        ("Today who built Rance, and when did it open?", ["Today who built Rance", "When did Rance open?"]),
        ("Is it safe? Who pays for it?", ["Is it safe?", "Who pays for it?"]),
        (
            "Compare tidal power with wind power?",
            ["Compare tidal power with wind power?", "What is tidal power?", "What is wind power?"],
        ),
        ("Postgres vs. SQLite", ["Postgres vs. SQLite", "What is Postgres?", "What is SQLite?"]),
        ("조력 발전이란 무엇인가?", ["조력 발전이란 무엇인가?"]),
        (
            "조력 발전이란 무엇인가? 비용은 얼마나 드는가?",
            ["조력 발전이란 무엇인가?", "비용은 얼마나 드는가?"],
        ),
        ("research and development", ["Research and development"]),
    ],
)
def test_a_question_is_split_into_what_it_asks(question: str, parts: list[str]) -> None:
    assert parts_of(question) == parts


def test_a_long_question_has_a_few_parts_and_none_twice() -> None:
    parts = parts_of("; ".join(["what is it", "what is it", *(f"why is part {n} so" for n in range(9))]))
    assert len(parts) == 4
    assert len(set(parts)) == 4


@given(st.text(min_size=1).filter(lambda text: text.strip()))
@example("??????")
@example("; ; ;")
def test_every_question_has_a_part(question: str) -> None:
    assert all(part.strip() for part in parts_of(question))
    assert parts_of(question)


def test_a_part_is_searched_with_the_names_of_the_whole() -> None:
    assert with_topic("How is it made?", "What does the Rance plant do and how is it made?") == (
        "How is it made Rance"
    )
    assert with_topic("When did Rance open?", "What is the Rance plant?") == "When did Rance open"


def test_names_that_several_texts_use_are_worth_asking_about() -> None:
    texts = [
        "The gates were built by Sihwa Engineering for the lake.",
        "Work by Sihwa Engineering ended in Ansan.",
        "However, the town of Ansan grew. The max_power setting helps, as does Rance.",
        "Nobody uses max_power near Rance.",
    ]
    assert bridges(texts, "What is Rance?", 5) == ["Sihwa Engineering", "Ansan", "max_power"]
    assert bridges(texts, "What is Rance?", 1) == ["Sihwa Engineering"]
    assert bridges([], "x", 5) == []
