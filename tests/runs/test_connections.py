"""Runs in one event loop after another, and several in one: no connection to a model's server is lost."""

import asyncio
from pathlib import Path

import pytest
from standins.model import Model
from standins.researcher import researcher
from standins.shelf import QUESTION, stocked

from fathom import DeepResearcher, ResearchRequest
from fathom.settings import Settings, load_settings


@pytest.fixture
def docs(tmp_path: Path) -> str:
    return str(stocked(tmp_path / "shelf"))


def settings_of(model: Model, home: Path) -> Settings:
    return load_settings(home=home, base_url=model.base_url, model="stand-in")


def asking(docs: str, number: int) -> ResearchRequest:
    return ResearchRequest(query=f"{QUESTION} {number}", docs=[docs], max_rounds=1)


def test_a_script_that_waits_for_two_questions_in_turn_gets_both_from_its_model(
    docs: str, tmp_path: Path
) -> None:
    with Model(researcher) as model:
        one = DeepResearcher(settings_of(model, tmp_path))
        results = [one.research_sync(asking(docs, number)) for number in (1, 2)]
    assert [result.errors for result in results] == [[], []]
    assert all(result.metadata.model_calls for result in results)


async def test_who_ends_first_closes_nothing_that_another_works_with(docs: str, tmp_path: Path) -> None:
    with Model(researcher) as model:
        settings = settings_of(model, tmp_path)
        short = DeepResearcher(settings).research(asking(docs, 1))
        long = DeepResearcher(settings).research(
            ResearchRequest(query=QUESTION, docs=[docs], max_rounds=2, threshold=1.0)
        )
        results = await asyncio.gather(short, long)
    assert [result.errors for result in results] == [[], []]
