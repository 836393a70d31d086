"""Which points of a section are told, and in which order."""

from collections.abc import Sequence

from fakes.records import claim, points

from fathom.llm.extractive import choose_points
from fathom.state.model_io import ReportPoint


def said(told: Sequence[ReportPoint]) -> list[str]:
    return [point.claims[0].id for point in told]


def test_a_definition_is_told_alone_and_without_one_the_strongest() -> None:
    given = points(
        claim("Orrin is built by the water board.", "built", relevance=0.9),
        claim("Orrin is a plant in the mouth of a river.", "definition", relevance=0.9),
        claim("Many towns get their power from Orrin.", "towns", relevance=0.85),
    )
    told = choose_points("What is Orrin?", given, 8)
    assert said(told) == ["definition"]
    assert choose_points("What is Orrin?", told, 8) == told
    assert said(choose_points("What is Orrin?", points(given[0].claims[0], given[2].claims[0]), 8)) == [
        "built",
        "towns",
    ]


def test_what_is_far_below_the_best_is_left_out() -> None:
    good = claim("The tide turns the wheels of Orrin.", "good", relevance=0.9)
    weak = claim("The cafe is open on Sundays.", "weak", relevance=0.4)
    assert said(choose_points("What is Orrin?", points(good, weak), 8)) == ["good"]


def test_few_are_shown_but_never_without_what_contradicts_them() -> None:
    given = [p for n in range(5) for p in points(claim(f"The wheel {n} of Orrin turns.", f"c{n}"))]
    against = points(claim("Orrin was opened in 2012.", "against", relevance=0.6), tag="CONTRADICTED")
    told = choose_points("Tell me about Orrin", [*given, *against], 3)
    assert said(told) == ["c0", "c1", "c2", "against"]


def test_a_passage_inside_another_is_not_shown_twice() -> None:
    whole = claim("Orrin turns.", "whole", said="Orrin turns. The tide does it.", relevance=0.9)
    part = claim("The tide does it.", "part", said="The tide does it.", relevance=0.9)
    assert said(choose_points("What turns Orrin?", points(whole, part), 3)) == ["whole"]


def test_a_question_of_fact_is_answered_with_facts() -> None:
    date = claim("Orrin was opened in 2011.", "date", relevance=0.6)
    talk = claim("Orrin was opened with a speech.", "talk", relevance=0.9)
    assert said(choose_points("When did Orrin open?", points(talk, date), 8)) == ["date"]
    assert said(choose_points("When did Orrin open?", points(talk), 8)) == ["talk"]


def test_the_same_in_other_words_is_told_once_but_other_figures_are_not_the_same() -> None:
    one = claim("Orrin makes 240 megawatts of power.", "one")
    again = claim("Orrin makes 240 megawatts of tidal power.", "again")
    other = claim("Orrin makes 280 megawatts of power.", "other")
    assert said(choose_points("How much power does Orrin make?", points(one, again, other), 8)) == [
        "one",
        "other",
    ]


def test_korean_answers_come_first_too() -> None:
    given = points(
        claim("오린은 물을 다스리는 기관이 지었다.", "built"), claim("오린은 강어귀에 선 발전소이다.", "what")
    )
    assert said(choose_points("오린이란 무엇인가요?", given, 8))[0] == "what"
    assert choose_points("오린이란 무엇인가요?", [], 8) == []


def test_what_was_corrected_comes_after_its_correction() -> None:
    wrong = points(claim("Orrin was opened in 2011.", "wrong", relevance=0.9), tag="UNCERTAIN")
    right = points(claim("Orrin was opened in 2012.", "right", relevance=0.8))
    assert said(choose_points("When did Orrin open?", [*wrong, *right], 8)) == ["right", "wrong"]
