"""What a caller asks for is checked at the door, in one sentence."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from fathom.errors import BadInput
from fathom.request import ResearchRequest, checked_request
from fathom.state import RunConfig


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"query": ""}, "The question is empty."),
        ({"query": "   \n"}, "The question is empty."),
        ({"query": "-"}, "The question has no words."),
        ({"query": "x" * 2001}, "The question is longer than 2000 characters."),
        ({}, "--query Field required"),
        ({"query": "x", "max_rounds": 0}, "--rounds should be"),
        ({"query": "x", "depth": "deep"}, "--depth should be"),
        ({"query": "x", "budget_usd": -1}, "--budget should be"),
        ({"query": "x", "threshold": 2}, "--threshold should be"),
        ({"query": "x", "output_format": "pdf"}, "--format should be"),
        ({"query": "x", "sauces": 3}, "--sauces Extra"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_sentence(words: dict[str, object], said: str) -> None:
    with pytest.raises(BadInput) as caught:
        checked_request(**words)
    assert str(caught.value).startswith(said)
    assert str(caught.value).endswith(".")
    assert "\n" not in str(caught.value)


def test_a_question_alone_is_enough_and_follows_the_defaults() -> None:
    assert checked_request(query="  What? ").query == "What?"
    assert checked_request(query="What?").run_config() == RunConfig()


def test_every_wish_reaches_the_knobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_a_request_and_its_knobs_allow_the_same() -> None:
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
                except ValidationError:
                    allowed.append(False)
            assert allowed[0] == allowed[1], (asked, value)
