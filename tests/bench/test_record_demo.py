"""The recorder of the demo: what it recorded plays the report of the recorded run."""

import sys
import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from fathom.demo import demo_request
from fathom.llm import recorded
from fathom.llm.recorded import RecordedModel

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))
library: Any = import_module("library")  # scripts, no part of the package
record_demo: Any = import_module("record_demo")
running: Any = import_module("running")
world: Any = import_module("world")


@pytest.mark.whole
async def test_what_was_recorded_plays_the_same_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorded, "PACE_S", dict.fromkeys(recorded.PACE_S, 0.0))
    with world.World(library.made_docs(1), world.Manners(0.01, 0.01, rounds=2)) as there:
        settings = running.settings_for(there, tmp_path / "home", "recorder")
        request = demo_request("en").model_copy(update={"model": settings.model})
        recording, model, report = await record_demo.record(settings, request)
    replies = tomllib.loads(record_demo.as_file(recording, request.query, model))
    assert model == "gpt-4.1" and replies["pages"] and replies["checks"]
    player = RecordedModel(language="en", replies=replies)
    assert await record_demo.run(settings, demo_request("en"), player) == report
    assert "## Summary" in report
