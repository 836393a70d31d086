"""Going round in circles is seen; what a round taught is counted; the tool fits the situation."""

from typing import Any

import pytest
from fakes.records import claim, hit, judgement, page, query

from fathom.planning.memory import (
    advise_new_approach,
    best_lessons,
    choose_tool,
    count_barren_rounds,
    draw_lessons,
    failed_lessons,
    is_overused,
    lesson_discount,
)
from fathom.planning.model_inputs import (
    derive_perspectives,
    describe_structure,
    distinct_perspectives,
    find_headings,
    read_structure,
)
from fathom.state import Contradiction, ContradictionSide, Hypothesis, Lesson, ResearchState


def test_the_same_pattern_three_times_is_worn() -> None:
    asked = [query(f"tidal power cost {year}") for year in (2019, 2020, 2021)]
    again = query("tidal power cost 2022")
    assert is_overused(again, asked)
    assert not is_overused(again, asked[:2])
    assert not is_overused(again.model_copy(update={"family": "counter"}), asked)
    assert not is_overused(again.model_copy(update={"question": "Q2"}), asked)
    assert not is_overused(query("seals in nets"), asked)


def test_five_rounds_with_nothing_new_ask_for_another_approach() -> None:
    empty = [judgement(n, new_claims=0) for n in range(1, 12)]
    assert [count_barren_rounds(empty[:n]) for n in (0, 1, 5)] == [0, 1, 5]
    assert [bool(advise_new_approach(empty[:n])) for n in (0, 4, 5, 6, 10, 11)] == [
        False,
        False,
        True,
        False,
        True,
        False,
    ]
    assert count_barren_rounds([*empty, judgement(12, new_claims=1)]) == 0


def test_a_lesson_counts_the_pages_and_claims_of_a_query() -> None:
    asked = [query("tides", "r1q1"), query("moon", "r1q2"), query("sun", "r2q1", number=2)]
    chosen = [
        hit(query="r1q1"),
        hit("https://b.example/y", query="r1q2"),
        hit("https://lost.example", query="r1q2"),
    ]
    read = [page("page one"), page("two", "https://b.example/y")]
    found = draw_lessons(asked, chosen, read, [claim(), claim(name="c2")], 1)
    assert [(n.query, n.pages, n.claims) for n in found] == [("r1q1", 1, 2), ("r1q2", 1, 0)]
    assert [n.query for n in best_lessons(found)] == ["r1q1"]
    assert [n.query for n in failed_lessons(found)] == ["r1q2"]


def taught(claims: int, number: int = 1, **words: Any) -> Lesson:
    given = {"text": "tidal power", "question": "Q1", "family": "web", "pages": 1, **words}
    return Lesson(query=f"r{number}q1", round=number, claims=claims, **given)


def test_few_lessons_are_shown_however_many_there_are() -> None:
    known = [taught(n % 3, n) for n in range(1, 100)]
    assert len(best_lessons(known)) == len(failed_lessons(known)) == 5
    assert best_lessons(known)[0].round == 98
    assert failed_lessons(known)[0].round == 99


def test_failure_of_like_words_or_of_a_family_counts_against_a_query() -> None:
    known = [taught(0), taught(0, 2)]
    assert lesson_discount("tidal power now", "web", known) == 1.0
    assert lesson_discount("seals", "academic", known) == 0.0
    assert 0 < lesson_discount("tidal power", "academic", known) < 1
    assert (
        lesson_discount("tidal power", "web", [])
        == lesson_discount("tidal power", "web", [taught(3), taught(1, 2)])
        == 0.0
    )


def hypothesis(number: int, confidence: float) -> Hypothesis:
    return Hypothesis(id=f"H{number}", statement=f"s{number}", supporting=["c1"], confidence=confidence)


def dispute(number: int) -> Contradiction:
    sides = [ContradictionSide(claims=[name], value=name, pages=[], published=[]) for name in ("c1", "c2")]
    return Contradiction(id=f"x{number}", kind="other", question="Q1", about="it", sides=sides)


ONE_ROUND = {"claims": [claim()], "judgements": [judgement(1)]}
BARREN = [judgement(1), judgement(2, new_claims=0), judgement(3, new_claims=0)]
RIVALS = [hypothesis(number, 0.6) for number in (1, 2, 3)]
LEADING = [hypothesis(1, 0.8), hypothesis(2, 0.4)]
SCORED = [judgement(1).model_copy(update={"overall": 0.75})]


@pytest.mark.parametrize(
    ("state", "name"),
    [
        ({}, "scientific method"),
        (ONE_ROUND, "scientific method"),
        ({"judgements": [judgement(1)]}, "first principles"),
        ({**ONE_ROUND, "judgements": BARREN}, "first principles"),
        ({**ONE_ROUND, "contradictions": [dispute(1), dispute(2)]}, "Occam's razor"),
        ({**ONE_ROUND, "hypotheses": RIVALS}, "Occam's razor"),
        ({**ONE_ROUND, "hypotheses": LEADING}, "falsification"),
        ({**ONE_ROUND, "judgements": SCORED}, "falsification"),
    ],
)
def test_the_thinking_tool_fits_the_situation_and_says_why(state: ResearchState, name: str) -> None:
    tool = choose_tool(state)
    assert tool.name == name
    assert tool.because
    assert choose_tool(state, "occam").name == "Occam's razor"


PAGE = """# Tidal power

## Contents

## 1. Cost

## Harm to fish #

### Cost

## References
"""


def test_a_page_has_chapters_and_what_every_page_has_is_left_out() -> None:
    assert find_headings(PAGE) == ["Cost", "Harm to fish"]
    assert find_headings("no heading at all") == find_headings("") == []
    assert find_headings("# 온돌\n\n## 목차\n\n## 1장 역사\n\n## 참고 문헌\n") == ["역사"]
    assert len(find_headings("\n".join(f"## Chapter {word}" for word in range(99)))) == 12


def test_perspectives_are_what_several_pages_have_chapters_about() -> None:
    pages = [read_structure("A", PAGE), read_structure("B", "# B\n\n## Turbines\n\n## Harm to fish\n")]
    assert derive_perspectives("An overview of tidal power", pages, []) == [
        "Harm to fish",
        "Cost",
        "Turbines",
    ]
    assert describe_structure(pages[0]) == "A: Cost | Harm to fish"
    assert describe_structure(read_structure("C", "text")) == ""


def test_without_chapters_titles_stand_in_and_nothing_is_named_twice() -> None:
    hits = [hit(title="Tidal power"), hit(title="Fishermen at Merrow"), hit(title="fishermen at merrow")]
    assert derive_perspectives("tidal power", [], hits) == ["Fishermen at Merrow"]
    assert distinct_perspectives(["a critic", "critics", "", "the law"]) == ["a critic", "the law"]
