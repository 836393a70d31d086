"""What a caller asks for is checked at the door, in one sentence."""

import json
from datetime import date, timedelta
from pathlib import Path

import pytest
from pydantic import ValidationError

from fathom.errors import BadInput
from fathom.request import ResearchRequest
from fathom.state import RunConfig
from fathom.state.run_config import ALIASES, flags_of


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"query": ""}, "The question is empty."),
        ({"query": "   \n"}, "The question is empty."),
        ({"query": "-"}, "The question has no words."),
        ({"query": "x" * 2001}, "The question is longer than 2000 characters."),
        ({}, "The question is missing."),
        ({"query": "x", "max_rounds": 0}, "--rounds should be"),
        ({"query": "x", "depth": "deep"}, "--depth should be"),
        ({"query": "x", "budget_usd": -1}, "--budget should be"),
        ({"query": "x", "threshold": 2}, "--threshold should be"),
        ({"query": "x", "output_format": "odt"}, "--format should be"),
        ({"query": "x", "sauces": 3}, "There is no setting 'sauces'; did you mean sources?"),
        ({"query": "x", "rounds": 1, "max_rounds": 1}, "rounds and max_rounds are the same setting"),
        (
            {"query": "x", "since": "2025-02-30"},
            "--since should be a day, as YYYY-MM-DD, today or yesterday.",
        ),
        ({"query": "x", "config": 3}, "The config of a request is a RunConfig."),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_sentence(words: dict[str, object], said: str) -> None:
    with pytest.raises(BadInput) as caught:
        ResearchRequest(**words)
    assert str(caught.value).startswith(said)
    assert str(caught.value)[-1] in ".?"
    assert "\n" not in str(caught.value)


def test_a_question_alone_is_enough_and_follows_the_defaults() -> None:
    assert ResearchRequest(query="  What? ").query == "What?"
    assert ResearchRequest(query="What?").run_config() == RunConfig()


def test_every_wish_reaches_the_run_under_its_older_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    request = ResearchRequest(
        query="조력 발전?",
        depth="comprehensive",
        max_rounds=7,
        max_sources=3,
        max_queries=2,
        threshold=0.5,
        budget_usd=0,
        providers=["arxiv"],
        academic=True,
        news=True,
        docs=["notes"],
        model="m",
        base_url="http://127.0.0.1:1/v1/",
        language="ko",
        review="rounds",
    )
    assert request.run_config() == RunConfig(
        depth="comprehensive",
        rounds=7,
        sources=3,
        queries=2,
        threshold=0.5,
        budget_usd=0,
        engines=["arxiv"],
        academic=True,
        news=True,
        docs=[str(tmp_path / "notes")],
        model="m",
        base_url="http://127.0.0.1:1/v1",
        language="ko",
        review="rounds",
    )


def test_a_request_and_its_configuration_allow_the_same() -> None:
    pairs = {
        "max_rounds": "rounds",
        "max_sources": "sources",
        "max_queries": "queries",
        "threshold": "threshold",
    }
    for asked, knob in pairs.items():
        for value in (-1, 0, 1, 20, 21, 100, 101):
            allowed = []
            for kind, words in ((ResearchRequest, {"query": "x", asked: value}), (RunConfig, {knob: value})):
                try:
                    kind.model_validate(words)
                    allowed.append(True)
                except (ValidationError, BadInput):
                    allowed.append(False)
            assert allowed[0] == allowed[1], (asked, value)


def test_a_request_is_a_question_and_a_configuration() -> None:
    request = ResearchRequest(query="What?", docs="notes, and more", engines="arxiv, exa", rounds=2)
    assert (request.config.docs, request.config.engines) == (["notes, and more"], ["arxiv", "exa"])
    assert ResearchRequest(query="What?", config=request.config).config == request.config
    assert ResearchRequest.model_validate(request.model_dump()).config == request.config
    assert ResearchRequest(question="What?", config={"max_rounds": 2}).config == RunConfig(rounds=2)
    assert ResearchRequest(query="What?", config=RunConfig(rounds=3), sources=4).said == {
        "rounds": 3,
        "sources": 4,
    }


def test_a_request_with_another_setting_is_checked_again() -> None:
    request = ResearchRequest(query="What?", depth=7)
    tree = RunConfig(depth="quick", strategy="tree", breadth=2, levels=3)
    assert request.with_config(breadth=2, depth=3).config == tree
    with pytest.raises(BadInput, match="--rounds should be"):
        request.with_config(rounds=0)


@pytest.mark.parametrize(("alias", "name"), sorted(ALIASES.items()))
def test_an_older_name_is_the_same_field(alias: str, name: str) -> None:
    field = RunConfig.model_fields[name]
    value = ["a"] if field.annotation == list[str] else 1024 if name == "context_tokens" else 1
    assert RunConfig.model_validate({alias: value}) == RunConfig.model_validate({name: value})
    assert ResearchRequest(query="x", **{alias: value}).said == {name: value}


def test_every_field_has_a_description_and_a_place_among_the_options() -> None:
    for name, field in RunConfig.model_fields.items():
        assert field.description
        assert field.description.endswith((".", "ko."))
        assert flags_of(name)[0].startswith("--")


def test_the_configuration_is_plain_json() -> None:
    dumped = RunConfig(since="2025-01-01", models={"write": "m"}).model_dump(mode="python")
    assert RunConfig.model_validate(json.loads(json.dumps(dumped))).model_dump() == dumped


def test_a_day_may_be_said_in_a_word() -> None:
    yesterday = (date.today() - timedelta(days=1)).isoformat()
    assert ResearchRequest(query="What?", since="yesterday").config.since == yesterday
    assert ResearchRequest(query="무엇인가?", since="어제").config.since == yesterday


def test_the_usual_depth_is_standard_and_the_language_that_of_the_question() -> None:
    config = ResearchRequest(query="무엇인가?").config
    assert (config.depth, config.max_rounds, config.language) == ("standard", 5, None)
