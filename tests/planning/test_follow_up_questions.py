"""A follow-up is understood alone: what it leaves out comes from the question before, and nothing is bent."""

import pytest

from fathom.planning.follow_up_questions import complete_question

BARRAGE = "What is the Rance tidal barrage?"
COST = "How much does tidal power cost in France?"
COMPARED = "How do tidal barrages compare with offshore wind?"
KOREAN = "랑스 조력발전소는 무엇인가?"


@pytest.mark.parametrize(
    ("before", "asked", "meant"),
    [
        (BARRAGE, "When did it open?", "When did the Rance tidal barrage open?"),
        (BARRAGE, "And the cost?", "What is the cost of the Rance tidal barrage?"),
        (BARRAGE, "The turbines?", "What are the turbines of the Rance tidal barrage?"),
        (BARRAGE, "Costs?", "Costs, as to the Rance tidal barrage?"),
        ("When did the Rance tidal barrage open?", "And Sihwa?", "When did Sihwa open?"),
        (BARRAGE, "Why?", "Why, as to the Rance tidal barrage?"),
        (BARRAGE, "What about silt?", "What about silt, as to the Rance tidal barrage?"),
        (BARRAGE, "What are the alternatives?", "What are the alternatives, as to the Rance tidal barrage?"),
        ("When did the Rance tidal barrage open?", "What about Sihwa?", "When did Sihwa open?"),
        (COST, "And in Korea?", "How much does tidal power cost in Korea?"),
        ("Is the Orla Bridge safe?", "Who built it?", "Who built the Orla Bridge?"),
        ("Is the Orla Bridge safe for lorries?", "Who built it?", "Who built the Orla Bridge?"),
        ("Is Rust a language?", "Who made it?", "Who made Rust?"),
        ("Are heat pumps noisy?", "What do they cost?", "What do heat pumps cost?"),
        ("What limits perovskite solar cells?", "How do they work?", "How do perovskite solar cells work?"),
        ("Who is Marie Curie?", "Where was she born?", "Where was Marie Curie born?"),
        ("Who is the founder of Orla?", "Where was she born?", "Where was she born?"),
        (COMPARED, "Which one is cheaper?", "Which one is cheaper, tidal barrages or offshore wind?"),
        (COMPARED, "When was it invented?", "When were tidal barrages invented?"),
        (COMPARED, "What about its turbines?", "What about tidal barrages' turbines?"),
        (KOREAN, "비용은?", "랑스 조력발전소의 비용은?"),
        (KOREAN, "왜?", "랑스 조력발전소는 왜?"),
        (KOREAN, "Who built it?", "Who built 랑스 조력발전소?"),
        (BARRAGE, "누가 지었나?", "Rance tidal barrage는 누가 지었나?"),
    ],
)
def test_what_is_left_out_is_taken_from_the_question_before(before: str, asked: str, meant: str) -> None:
    assert complete_question(asked, before) == meant


@pytest.mark.parametrize(
    "asked",
    [
        "When did the Sihwa plant open?",
        "What is photosynthesis?",
        "Cheese ripening time",
        "How long does a hard cheese ripen?",
        "Which part fails most often in the Pentle strait?",
        "구들장은 방을 얼마나 따뜻하게 하나?",
    ],
)
def test_a_question_of_its_own_stays_as_it_was_asked(asked: str) -> None:
    assert complete_question(asked, BARRAGE) == asked


def test_without_a_subject_nothing_is_added() -> None:
    assert complete_question("Why?", "") == "Why?"
    assert complete_question("And the cost?", "tides") == "The cost?"
