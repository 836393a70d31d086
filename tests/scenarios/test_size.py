"""What a run leaves on disk, against what it read."""

import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fakes.run_parts import Library, ScriptedModel, make_dependencies
from standins.model import Model
from standins.prose import page
from standins.working_model import never_satisfied, scripted

from fathom.graph import build_graph
from fathom.llm.factory import make_research_model
from fathom.llm.protocol import ResearchModel
from fathom.settings import load_settings
from fathom.state import RunConfig
from fathom.storage.checkpoints import checkpointer

PAGES = 100
PAGE_CHARS = 20_000
QUESTION = "How much does tidal power cost?"


def shelf() -> dict[str, str]:
    return {f"https://shelf.example/{number}": page(number, PAGE_CHARS) for number in range(PAGES)}


def on_disk(home: Path) -> int:
    return sum(file.stat().st_size for file in home.glob("fathom.sqlite*"))


async def left_by(
    home: Path, run_config: RunConfig, mind: ResearchModel | Callable[[RunConfig], ResearchModel]
) -> tuple[int, dict[str, Any]]:
    """The bytes of the database after a run, and the run's last state."""
    library = Library(shelf())
    async with checkpointer(home / "fathom.sqlite") as saver:
        graph = build_graph(make_dependencies(home, library, mind), saver)
        state = await graph.ainvoke(
            {"question": QUESTION},
            {"configurable": {"thread_id": "t"}, "max_concurrency": 10},
            context=run_config,
            durability="async",
        )
    return on_disk(home), state


ALLOWED_BYTES = 6_000_000  # everything for ten rounds over a hundred pages


def test_the_pages_compress_like_prose() -> None:
    texts = list(shelf().values())
    ratio = sum(map(len, texts)) / sum(len(zlib.compress(text.encode())) for text in texts)
    assert 2.5 < ratio < 4


@pytest.mark.parametrize(("rounds", "sources"), [(1, 100), (10, 10)])
async def test_a_run_without_a_model_stays_small(tmp_path: Path, rounds: int, sources: int) -> None:
    run_config = RunConfig(rounds=rounds, sources=sources, threshold=1.0)
    size, state = await left_by(tmp_path, run_config, ScriptedModel())
    assert len(state["pages"]) == PAGES
    assert len(state["judgements"]) == rounds
    assert size <= ALLOWED_BYTES


@pytest.mark.parametrize(("rounds", "sources"), [(1, 100), (10, 10)])
async def test_a_run_with_a_model_stays_small(tmp_path: Path, rounds: int, sources: int) -> None:
    run_config = RunConfig(rounds=rounds, sources=sources, threshold=1.0, model="stand-in")
    with Model(scripted(judge=never_satisfied)) as model:
        settings = load_settings(home=tmp_path, base_url=model.base_url)
        size, state = await left_by(tmp_path, run_config, lambda own: make_research_model(settings, own))
    assert len(state["pages"]) == PAGES
    assert len(state["judgements"]) == rounds
    assert len(state["costs"]) > PAGES
    assert size <= ALLOWED_BYTES
