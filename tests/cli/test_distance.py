"""How far to go, in words and in numbers: the old command, deepening, strategies."""

import json
from typing import Any

import pytest
from standins.commandline import Fathom
from standins.documents import QUESTION

from fathom.request import ResearchRequest
from fathom.state import RunConfig


@pytest.mark.parametrize(
    ("words", "run_config"),
    [
        ({}, RunConfig()),
        ({"depth": "standard"}, RunConfig(depth="standard")),
        ({"depth": "7"}, RunConfig(depth="quick", rounds=1, sources=7)),
        ({"depth": 7}, RunConfig(depth="quick", rounds=1, sources=7)),
        ({"breadth": 3}, RunConfig(strategy="tree", breadth=3)),
        ({"breadth": 3, "depth": "4"}, RunConfig(depth="quick", strategy="tree", breadth=3, levels=4)),
        ({"breadth": 3, "depth": "standard"}, RunConfig(strategy="tree", breadth=3, depth="standard")),
        ({"strategy": "rollouts", "depth": 2}, RunConfig(depth="quick", strategy="rollouts", levels=2)),
        (
            {"strategy": "rollouts", "breadth": 3, "branches": 4},
            RunConfig(strategy="rollouts", breadth=3, branches=4),
        ),
        ({"strategy": "loop", "depth": 2}, RunConfig(depth="quick", rounds=2)),
        ({"strategy": "loop", "breadth": 3}, RunConfig(strategy="loop", breadth=3, sources=3, queries=3)),
        ({"depth": 9, "max_rounds": 2}, RunConfig(depth="quick", rounds=2, sources=9)),
        (
            {"strategy": "tree", "orchestration": "handoff"},
            RunConfig(strategy="tree", orchestration="handoff"),
        ),
    ],
)
def test_what_is_said_is_what_is_done(words: dict[str, Any], run_config: RunConfig) -> None:
    assert ResearchRequest(query="What?", **words).run_config() == run_config


@pytest.mark.parametrize(
    ("run_config", "rounds"),
    [
        (RunConfig(strategy="tree"), 2),
        (RunConfig(strategy="tree", levels=5), 5),
        (RunConfig(strategy="tree", depth="comprehensive"), 5),
        (RunConfig(strategy="tree", levels=4, rounds=3), 3),
        (RunConfig(strategy="rollouts", depth="comprehensive"), 1),
        (RunConfig(depth="comprehensive"), 10),
    ],
)
def test_a_tree_has_levels_and_rollouts_are_judged_together_once(run_config: RunConfig, rounds: int) -> None:
    assert run_config.max_rounds == rounds


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("--depth deep", "--depth should be quick, standard or comprehensive, or a number of at least 1."),
        ("--depth 0", "--depth should be quick, standard or comprehensive, or a number of at least 1."),
        ("--depth -2 --breadth 2", "--depth should be"),
        ("--depth 2.5", "--depth should be"),
        ("--depth 9 --breadth 3", "--depth 9 is too deep: with --breadth or --strategy at most 5."),
        ("--depth 6 --strategy rollouts", "--depth 6 is too deep: with --breadth or --strategy at most 5."),
        ("--depth 101", "--depth 101 alone reads so many pages in one pass, at most 100."),
        ("--breadth 0", "--breadth should be greater"),
        ("--strategy bush", "--strategy should be 'loop', 'tree' or 'rollouts'."),
        ("--strategy tree --branches 9", "--branches should be less"),
        ("--strategy tree --orchestration loud", "--orchestration should be"),
        ("--branches 3", "--branches needs --strategy tree or rollouts."),
        ("--orchestration handoff", "--orchestration needs --strategy tree or rollouts."),
        ("--endless --breadth 3", "--endless is a loop"),
        ("--endless --depth 3", "--endless has no depth"),
    ],
)
def test_what_does_not_go_together_is_one_sentence(fathom: Fathom, words: str, sentence: str) -> None:
    given = words.replace("--depth -2", "--depth=-2").split()
    told = fathom(QUESTION, *given)
    assert told.is_refusal, told
    assert sentence in told.err


def test_a_number_alone_is_the_old_single_pass(fathom: Fathom, shelf: Any) -> None:
    told = fathom(QUESTION, "--docs", str(shelf), "--depth", "1", "--format", "json")
    assert told.code == 0, told.err
    result = json.loads(told.out)
    assert (result["metadata"]["rounds"], result["metadata"]["sources"]) == (1, 1)
    assert result["directions"] == []


def test_a_breadth_deepens_and_the_screen_names_branches(fathom: Fathom, shelf: Any) -> None:
    told = fathom(QUESTION, "--docs", str(shelf), "--breadth", "2", "--depth", "1", "--format", "json")
    assert told.code == 0, told.err
    result = json.loads(told.out)
    assert [one["id"] for one in result["directions"] if one["status"] != "open"][:2] == ["b1", "b2"]
    assert "2 branches: b1 " in told.err
    assert "b2 round 1/1  plan" in told.err
    assert "b1 round 1/1  back with" in told.err
