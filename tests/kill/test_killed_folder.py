"""Killed between rounds, a run goes on in its folder: no event is lost or told twice."""

import re
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from checks.event_order import find_order_faults
from standins.killable_run import QUESTION, Gate, Site, begun, kept_waiting, stopped
from standins.model import Model
from standins.server import asked_again

from fathom.cli import main
from fathom.events import Progress

pytestmark = pytest.mark.kill
ONCE = {"plan generated", "search completed", "content extracted", "analysis completed", "round completed"}


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Site]:
    made = Site()
    for name, word in made.environment.items():
        monkeypatch.setenv(name, word)
    monkeypatch.chdir(tmp_path)
    yield made
    made.stop()


def events(place: Path) -> list[Progress]:
    lines = (place / "events.jsonl").read_text("utf-8").splitlines()
    return [Progress.model_validate_json(line) for line in lines]


def test_killed_between_rounds_a_run_goes_on_in_its_folder(tmp_path: Path, site: Site) -> None:
    gate = Gate("write", 1)  # after the first round was judged: a run without an end writes in between
    out = tmp_path / "out"
    with Model(gate) as model:
        words = ["--model", "stand-in", "--base-url", model.base_url, "--rounds", "2", "--endless"]
        process = begun([QUESTION, *words, "--out", "out"], site, tmp_path)
        kept_waiting(gate, model, site, tmp_path)
        assert stopped(process, signal.SIGKILL)[0] == -signal.SIGKILL
        # After the first round everything is there but the report, and half a line is no harm.
        assert "## " in (out / "findings.md").read_text("utf-8")
        assert (out / "rounds/001.md").exists()
        assert not (out / "report.md").exists()
        with (out / "events.jsonl").open("a", encoding="utf-8") as file:
            file.write('{"kind": "plan gen')
        gate.is_open = True
        assert main(["resume", "--quiet"]) == 0  # the folder is known
        assert asked_again(model.calls) == []
    told = events(out)
    once = Counter((event.kind, event.round, event.payload.model_dump_json()) for event in told)
    assert [name for name, count in once.items() if count > 1 and name[0] in ONCE] == []
    assert all(words.startswith("ends with") for words in find_order_faults(told))
    assert [event.round for event in told if event.kind == "round completed"] == [1, 2]
    page = (out / "rounds/001.md").read_text("utf-8")
    planned = [event for event in told if event.kind == "plan generated"][1].payload.model_dump()["queries"]
    assert all(f"- {query}" in page for query in planned)
    assert re.search(r"^Next:$", page, re.MULTILINE)
    assert main(["verify", "out/report.json", "--quiet"]) == 0
    assert not (tmp_path / "runs").exists()
