"""Reading a question without a model."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fathom.planning.questions import (
    add_missing_names,
    find_recurring_names,
    resolve_reference,
    split_question,
)


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("What is tidal power?", ["What is tidal power?"]),
        ("tidal power", ["Tidal power"]),
        ("What is tidal power and how is it made?", ["What is tidal power?", "How is tidal power made?"]),
        (
            "How much power does the Tamsil tidal station produce, and when did it open?",
            [
                "How much power does the Tamsil tidal station produce?",
                "When did the Tamsil tidal station open?",
            ],
        ),
        (
            "How much does a heat pump cost, and how long does it last?",
            ["How much does a heat pump cost?", "How long does a heat pump last?"],
        ),
        (
            "Why was the Orlen bridge closed, and who built it?",
            ["Why was the Orlen bridge closed?", "Who built the Orlen bridge?"],
        ),
        (
            "When was Marie Oster born and where did she work?",
            ["When was Marie Oster born?", "Where did Marie Oster work?"],
        ),
        ("What is Fathom, and who is its author?", ["What is Fathom?", "Who is Fathom's author?"]),
        (
            "탐실 조력발전소는 전기를 얼마나 생산하고 언제 문을 열었나요?",
            ["탐실 조력발전소는 전기를 얼마나 생산하나요?", "탐실 조력발전소는 언제 문을 열었나요?"],
        ),
        ("열펌프란 무엇이고, 비용은 얼마인가요?", ["열펌프란 무엇인가요?", "비용은 얼마인가요?"]),
        ("열펌프는 무엇이며 어떻게 작동하나요?", ["열펌프는 무엇인가요?", "열펌프는 어떻게 작동하나요?"]),
        ("누가 법을 만들고 지키나요?", ["누가 법을 만들고 지키나요?"]),
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
        (
            "What does git rebase do and what are its risks?",
            ["What does git rebase do?", "What are git rebase's risks?"],
        ),
        (
            "What is a painted door and how do I make one?",
            ["What is a painted door?", "How do I make a painted door?"],
        ),
        ("How do I open a lock and what can it hold?", ["How do I open a lock?", "What can a lock hold?"]),
        (
            "출생률이란 무엇이고 2023년에는 얼마였나?",
            ["출생률이란 무엇인가요?", "출생률은 2023년에는 얼마였나?"],
        ),
        ("온돌이란 무엇인가? 그 구조는 어떤가?", ["온돌이란 무엇인가?", "온돌의 구조는 어떤가?"]),
    ],
)
def test_a_question_is_split_into_what_it_asks(question: str, parts: list[str]) -> None:
    assert split_question(question) == parts


def test_a_long_question_has_a_few_parts_and_none_twice() -> None:
    parts = split_question(
        "; ".join(["what is it", "what is it", *(f"why is part {n} so" for n in range(9))])
    )
    assert len(parts) == 4
    assert len(set(parts)) == 4


@given(st.text(min_size=1).filter(lambda text: text.strip()))
@example("??????")
@example("; ; ;")
def test_every_question_has_a_part(question: str) -> None:
    assert all(part.strip() for part in split_question(question))
    assert split_question(question)


def test_a_part_is_searched_with_the_names_of_the_whole() -> None:
    assert add_missing_names("How is it made?", "What does the Rance plant do and how is it made?") == (
        "How is it made Rance"
    )
    assert add_missing_names("When did Rance open?", "What is the Rance plant?") == "When did Rance open"


def test_names_that_several_texts_use_are_worth_asking_about() -> None:
    texts = [
        "The gates were built by Sihwa Engineering for the lake.",
        "Work by Sihwa Engineering ended in Ansan.",
        "However, the town of Ansan grew. The max_power setting helps, as does Rance.",
        "Nobody uses max_power near Rance.",
    ]
    assert find_recurring_names(texts, "What is Rance?", 5) == ["Sihwa Engineering", "Ansan", "max_power"]
    assert find_recurring_names(texts, "What is Rance?", 1) == ["Sihwa Engineering"]
    assert find_recurring_names([], "x", 5) == []


@pytest.mark.parametrize(
    ("asked", "before", "understood"),
    [
        ("And what does it cost?", "How does the barrage of Ouseport work?", "What does the barrage cost?"),
        ("How much does it cost?", "What is tidal power?", "How much does tidal power cost?"),
        ("When were its gates replaced?", "What is tidal power?", "When were tidal power's gates replaced?"),
        ("What does it cost at Merrow?", "What is tidal power?", "What does tidal power cost at Merrow?"),
        ("How does Merrow pay for it?", "What is a barrage?", "How does Merrow pay for a barrage?"),
        ("그 비용은 얼마인가요?", "조력 발전은 어떻게 작동하나요?", "조력 발전의 비용은 얼마인가요?"),
        ("그것의 비용은 얼마인가요?", "조력 발전은 어떻게 작동하나요?", "조력 발전의 비용은 얼마인가요?"),
        (
            "Who paid for it?",
            "How much does tidal power at Swale cost?",
            "Who paid for tidal power at Swale?",
        ),
        (
            "Which of them is cheaper?",
            "How do locks compare with lifts?",
            "Which of locks and lifts is cheaper?",
        ),
        ("When did he die?", "Who founded Ouseport?", "When did he die?"),
        # What stands alone, or leans on nothing that can be seen, stays as it is.
        ("Why does the Pentle cable fail?", "What is tidal power?", "Why does the Pentle cable fail?"),
        ("How long does it take to build a dam?", "What is silt?", "How long does it take to build a dam?"),
        ("Why does Merrow keep its gates shut?", "What is silt?", "Why does Merrow keep its gates shut?"),
        ("구들장은 얼마나 따뜻한가요?", "온돌은 무엇인가요?", "구들장은 얼마나 따뜻한가요?"),
        ("Is it true that silt gathers?", "What is tidal power?", "Is it true that silt gathers?"),
    ],
)
def test_a_follow_up_is_understood_from_the_question_before_it(
    asked: str, before: str, understood: str
) -> None:
    assert resolve_reference(asked, before) == understood


def test_a_second_half_names_what_has_the_purpose_and_what_is_listed() -> None:
    assert split_question("What is the purpose of the valve and what must its cover be made of?")[1] == (
        "What must the valve's cover be made of?"
    )
    assert split_question("Which gate types are there for dams, and how do they fail?")[1] == (
        "How do the gate types fail?"
    )


@pytest.mark.parametrize(
    ("before", "asked", "meant"),
    [
        (
            "What installed capacity does the Rance tidal barrage have?",
            "When did it open?",
            "When did the Rance tidal barrage open?",
        ),
        (
            "How do tidal barrages compare with wind?",
            "How long do they last?",
            "How long do tidal barrages and wind last?",
        ),
        ("How efficient are solar cells?", "How long do they last?", "How long do solar cells last?"),
        ("Which countries use tidal power?", "What does it cost?", "What does tidal power cost?"),
        ("What are the side effects of aspirin?", "Is it cheap?", "Is aspirin cheap?"),
        ("Who invented the transistor?", "When did he die?", "When did he die?"),
        (
            "시화호 조력발전소의 설비용량은 얼마인가요?",
            "그것은 언제 완공되었나요?",
            "시화호 조력발전소는 언제 완공되었나요?",
        ),
        ("조력발전소는 언제 완공되었나요?", "누가 지었나요?", "조력발전소는 누가 지었나요?"),
    ],
)
def test_a_follow_up_keeps_the_subject_and_is_not_bent(before: str, asked: str, meant: str) -> None:
    assert resolve_reference(asked, before) == meant
