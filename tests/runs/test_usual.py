"""What is usual for runs holds for a graph that is called with a context, as a server does, and is kept."""

from pathlib import Path
from typing import Any

import pytest
from langgraph.types import Command
from standins.shelf import QUESTION, stocked

from fathom.graph import build_graph, standard_dependencies
from fathom.settings import load_settings
from fathom.state import RunConfig
from fathom.storage import open_storage
from fathom.storage.checkpoints import checkpointer


def said(**run_config: object) -> Any:
    """A context as a server passes it on."""
    return run_config


async def stored(state: Any) -> RunConfig:
    """The configuration that is kept for a run."""
    kept = await open_storage(load_settings().database).runs.config_of(state["run"])
    assert kept is not None
    return RunConfig.model_validate_json(kept)


async def test_a_graph_follows_the_file_and_a_context_beats_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    stocked(tmp_path / "shelf")
    (tmp_path / "fathom.toml").write_text(
        '[run]\ndocs = ["shelf"]\nrounds = 1\nsources = 1\nthreshold = 0.3\n'
    )
    graph = build_graph(standard_dependencies(load_settings()))
    given: Any = {"question": QUESTION}
    usual = await graph.ainvoke(given, context=said(depth="standard"))
    kept = await stored(usual)
    assert (len(usual["pages"]), kept.threshold, kept.depth) == (1, 0.3, "standard")
    spoken = await graph.ainvoke(given, context=said(sources=2))
    assert (len(spoken["pages"]), (await stored(spoken)).rounds) == (2, 1)


async def test_a_run_that_goes_on_does_not_follow_a_file_that_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    stocked(tmp_path / "shelf")
    words = '[run]\ndocs = ["shelf"]\nrounds = 1\nreview = "plan"\n'
    (tmp_path / "fathom.toml").write_text(f"{words}sources = 1\n")
    config: Any = {"configurable": {"thread_id": "t"}}
    given: Any = {"question": QUESTION}
    async with checkpointer(tmp_path / "kept.sqlite") as saver:
        waiting = await build_graph(standard_dependencies(load_settings()), saver).ainvoke(given, config)
        assert "__interrupt__" in waiting
        (tmp_path / "fathom.toml").write_text(f"{words}sources = 2\n")
        resumed: Any = Command(resume={"action": "approve"})
        ended = await build_graph(standard_dependencies(load_settings()), saver).ainvoke(resumed, config)
    assert (len(ended["pages"]), (await stored(ended)).sources) == (1, 1)
