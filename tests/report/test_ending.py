"""Complete, partial, unsure or failed: one small table, row by row."""

from typing import Any

import pytest
from fakes import claim, gap, judgement, question, section, sentence

from fathom.report.certainty import describe_progress, describe_status
from fathom.report.ending import Outcome, doubts, status_of
from fathom.report.words import ENGLISH, KOREAN, Words
from fathom.state import Failure, Finding, Status, Tag


def outcome(**words: Any) -> Outcome:
    given: dict[str, Any] = {
        "judgement": judgement(stop="sufficient"),
        "sections": [section(sentence("x", "c1"))],
        "questions": [question(1)],
        "used": [claim()],
        "findings": [finding("LIKELY")],
        "failures": [],
    }
    return Outcome(**{**given, **words})


def finding(tag: Tag) -> Finding:
    return Finding(id=tag, statement="x", question="Q1", claims=["c1"], voices=["a"], confidence=0.6, tag=tag)


@pytest.mark.parametrize(
    ("words", "status", "why"),
    [
        ({}, "complete", []),
        ({"used": []}, "failed", ["thin"]),
        ({"judgement": judgement(stop="budget used up")}, "partial", []),
        ({"failures": [Failure(where="model", what="x", why="y")]}, "partial", []),
        ({"failures": [Failure(where="search: tavily", what="x", why="y")]}, "partial", []),
        ({"failures": [Failure(where="reading", what="x", why="y")]}, "complete", []),
        ({"sections": [section(sentence("x", "c1")), section(name="S2")]}, "partial", []),
        ({"sections": [section(sentence("x", "c1")).model_copy(update={"is_quoted": True})]}, "partial", []),
        ({"judgement": judgement(gaps=[gap("medium"), gap("low")])}, "complete", []),
        ({"judgement": judgement(gaps=[gap("high")])}, "unsure", ["open"]),
        ({"questions": [question(1), question(2)]}, "complete", []),
        ({"questions": [question(1), question(2), question(3)]}, "unsure", ["thin"]),
        ({"used": [claim(relevance=0.4)]}, "unsure", ["thin"]),
        ({"questions": []}, "complete", []),
        ({"findings": [finding("UNCERTAIN"), finding("HIGH")]}, "complete", []),
        ({"findings": [finding("UNCERTAIN"), finding("CONTRADICTED"), finding("HIGH")]}, "unsure", ["weak"]),
        ({"findings": []}, "complete", []),
        (
            {
                "judgement": judgement(gaps=[gap("high")], stop="budget used up"),
                "used": [claim(relevance=0.1)],
            },
            "partial",
            ["open", "thin"],
        ),
    ],
)
def test_a_report_says_how_far_to_trust_it(words: dict[str, Any], status: Status, why: list[str]) -> None:
    made = outcome(**words)
    assert (status_of(made), doubts(made)) == (status, why)


def test_doubts_are_told_with_the_status_in_both_languages() -> None:
    assert describe_status("complete", [], ENGLISH) == "complete"
    assert describe_status("unsure", ["open"], ENGLISH) == "unsure: something important was not found"
    assert describe_status("partial", ["thin"], ENGLISH).startswith("partial: fewer than half")
    assert describe_status("failed", ["thin"], ENGLISH) == "nothing found"
    assert describe_status("unsure", ["open", "weak"], KOREAN).startswith("확실하지 않음: 중요한 것을")


@pytest.mark.parametrize("words", [ENGLISH, KOREAN])
def test_progress_never_sounds_complete_while_something_important_is_open(words: Words) -> None:
    enough = describe_progress(1.0, has_high_gap=False, words=words)
    told = {describe_progress(covered, True, words) for covered in (0.0, 0.5, 1.0)}
    assert enough not in told
    assert describe_progress(0.8, False, words) != enough
