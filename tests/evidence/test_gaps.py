"""Gaps are followed from round to round, and lowered when looking does not help."""

import pytest
from fakes.records import gap, heading, judgement

from fathom.evidence.scoring import add_thin_parts, drop_repeats, track_gaps
from fathom.state import Gap, Judgement, Outline


def named(description: str, about: str = "Q1", priority: str = "high", query: str = "") -> Gap:
    changed = {"description": description, "question": about, "suggested_query": query or description}
    return gap(priority).model_copy(update=changed)


def rounds(*descriptions: str) -> list[Gap]:
    """The gap of each round, as it is after being followed from those before."""
    judgements: list[Judgement] = []
    for number, words in enumerate(descriptions, 1):
        judgements.append(judgement(number, gaps=track_gaps([named(words)], judgements)))
    return [one.gaps[0] for one in judgements]


def test_two_rounds_lower_a_gap_a_step_and_two_more_another() -> None:
    found = rounds(*["No figure for the cost of dredging."] * 6)
    assert [one.priority for one in found] == ["high", "high", "medium", "medium", "low", "low"]
    assert [one.tried for one in found] == [0, 1, 2, 3, 4, 5]
    assert {one.importance for one in found} == {"high"}


@pytest.mark.parametrize(
    "words",
    [
        ("No figure for the cost of dredging.", "The cost of dredging the basin has no figure yet."),
        ("준설 비용에 대한 수치가 없다.", "준설 비용이 얼마인지 수치를 찾지 못했다."),
    ],
)
def test_a_gap_in_other_words_is_the_same_gap(words: tuple[str, str]) -> None:
    assert [one.tried for one in rounds(*words)] == [0, 1]


def test_another_gap_begins_anew_and_one_that_was_forgotten_goes_on() -> None:
    found = rounds("Cost of dredging.", "Harm to seals.", "Cost of dredging.")
    assert [one.tried for one in found] == [0, 0, 1]


def test_words_of_the_question_do_not_make_two_gaps_one() -> None:
    asked = "What does tidal power cost?"
    before = [judgement(1, gaps=[named("No data on the price of tidal power.", query="tidal power price")])]
    other = named("No data on fish at tidal power plants.", query="tidal power fish")
    assert track_gaps([other], before, asked)[0].tried == 0


def test_one_gap_of_before_stands_for_one_gap_now() -> None:
    before = [judgement(1, gaps=[named("Cost of dredging.")])]
    now = track_gaps([named("Cost of dredging."), named("Cost of dredging in winter.")], before)
    assert sorted(one.tried for one in now) == [0, 1]


def test_repeats_of_a_remark_are_dropped() -> None:
    told = ["What dredging costs a year", "Nobody names the builders", "The yearly costs of dredging"]
    assert drop_repeats(told) == told[:2]


def test_a_thin_part_is_a_gap_as_grave_as_it_matters() -> None:
    def part(lacks: str, priority: str, *claims: str, **words: object) -> object:
        changed = {"lacks": lacks, "priority": priority, "title": f"On {lacks}", **words}
        return heading(*claims).model_copy(update=changed)

    parts = [
        part("prices of 2024", "high"),
        part("names of builders", "high", "a", "b"),
        part("a photograph", "medium", "a", "b"),
        part("", "high"),
        part("everything else", "high", is_conclusion=True),
    ]
    outline = Outline.model_validate({"title": "T", "headings": parts})
    found = add_thin_parts([], outline)
    assert [(one.description, one.priority) for one in found] == [("prices of 2024", "high")]
    assert found[0].suggested_query == "T On prices of 2024"
    told = named("No prices of 2024 were found.")
    assert add_thin_parts([told], outline) == [told]
    assert add_thin_parts([told], None) == [told]
