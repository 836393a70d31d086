"""What a caller and a reviewer may say, and what is refused."""

import pytest
from pydantic import ValidationError

from fathom.state import ReviewAnswer, RunConfig


@pytest.mark.parametrize(("depth", "rounds"), [("quick", 3), ("standard", 5), ("comprehensive", 10)])
def test_depth_says_how_many_rounds_unless_they_are_set(depth: str, rounds: int) -> None:
    assert RunConfig.model_validate({"depth": depth}).max_rounds == rounds
    assert RunConfig.model_validate({"depth": depth, "rounds": 2}).max_rounds == 2


@pytest.mark.parametrize(
    "words",
    [
        {"rounds": 0}, {"rounds": 101}, {"sources": 0}, {"sources": 101}, {"queries": 0}, {"queries": 21},
        {"threshold": 1.01}, {"threshold": -0.01}, {"budget_usd": -1}, {"depth": "deep"}, {"key": "secret"},
    ],
)  # fmt: skip
def test_knobs_outside_their_limits_are_refused(words: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        RunConfig.model_validate(words)


def test_the_limits_themselves_are_allowed() -> None:
    RunConfig(rounds=100, sources=100, queries=20, threshold=1, budget_usd=0)
    RunConfig(rounds=1, sources=1, queries=1, threshold=0)


def test_knobs_survive_json() -> None:
    run_config = RunConfig(depth="standard", docs=["a"], language="한국어", review="rounds")
    assert RunConfig.model_validate_json(run_config.model_dump_json()) == run_config


@pytest.mark.parametrize(("before", "now"), [(True, "rounds"), (False, "off")])
def test_a_run_that_remembers_yes_or_no_is_reviewed_as_it_was(before: bool, now: str) -> None:
    assert RunConfig.model_validate({"review": before}).review == now


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"action": "edit"}, "edit needs at least one query"),
        ({"action": "edit", "queries": [" ", ""]}, "edit needs at least one query"),
        ({"action": "feedback", "text": "  "}, "feedback needs text"),
        ({"action": "add"}, "add needs text"),
        ({"action": "no"}, "approve"),
        ({"action": "approve", "query": "x"}, "query"),
        ({}, "action"),
    ],
)
def test_an_answer_that_lacks_what_it_needs_is_refused(answer: dict[str, object], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        ReviewAnswer.model_validate(answer)


@pytest.mark.parametrize(
    "answer",
    [
        {"action": "approve"},
        {"action": "finish"},
        {"action": "edit", "queries": ["", "one"]},
        {"action": "feedback", "text": "no, now look at costs"},
        {"action": "add", "text": "조력 발전 비용"},
    ],
)
def test_a_whole_answer_is_taken(answer: dict[str, object]) -> None:
    assert ReviewAnswer.model_validate(answer).action == answer["action"]
