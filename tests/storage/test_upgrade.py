"""A database of an earlier version is refused in one sentence; `fathom upgrade` keeps its reports."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from fakes.run_parts import Library, ScriptedModel, make_dependencies
from standins.old_database import write_first, write_layout
from standins.prose import page

from fathom.cli import main
from fathom.errors import BadInput
from fathom.graph import build_graph
from fathom.report.ledger import read_ledger
from fathom.runs.rescue import upgrade_database
from fathom.state import RunConfig
from fathom.storage import close_storage, open_storage
from fathom.storage.database import LAYOUT_VERSION, prepare_database

RUN, FOLDED, BROKEN = (f"{n}2345678-0000-4000-8000-000000000000" for n in (1, 2, 3))
KNOBS = RunConfig(rounds=1, sources=2, threshold=1.0)


async def finished(home: Path) -> dict[str, Any]:
    """The last state of a run, with its configuration in it, as that version kept it."""
    books = {f"https://shelf{n}.example/book": page(n, 1200) for n in range(4)}
    graph = build_graph(make_dependencies(home / "kits", Library(books), ScriptedModel(quotes=3)))
    state: dict[str, Any] = await graph.ainvoke({"question": "What?"}, context=KNOBS)
    return {**state, "run_config": KNOBS}


@pytest.fixture(params=[1, 2, 3])
async def outdated(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A database of an earlier layout, with a run that has a folder and one that has none."""
    state = await finished(tmp_path)
    folder = tmp_path / "kept"
    folder.mkdir()
    (folder / "report.json").write_text("{}")
    database = tmp_path / "fathom.sqlite"
    texts = {"sha": "The text of a page."}
    runs = {name: {**state, "run": name} for name in (RUN, FOLDED)}
    write_layout(request.param, database, runs, {FOLDED: folder}, texts)
    return database


@pytest.fixture
async def earlier(tmp_path: Path) -> Path:
    state = await finished(tmp_path)
    folder = tmp_path / "kept"
    folder.mkdir()
    (folder / "report.json").write_text("{}")
    broken = {**state, "report": "of another kind"}
    runs = {RUN: state, FOLDED: state, BROKEN: broken}
    write_first(tmp_path / "fathom.sqlite", runs, {FOLDED: folder})
    return tmp_path / "fathom.sqlite"


def test_an_earlier_database_is_refused_with_the_command_that_keeps_its_reports(
    earlier: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = earlier.read_bytes()
    assert main(["runs"]) == 2
    told = capsys.readouterr().err
    assert "was written by an earlier Fathom" in told
    assert told.rstrip().endswith("fathom upgrade")
    assert len(told.splitlines()) == 1
    assert earlier.read_bytes() == before


def test_an_upgrade_keeps_every_report_and_begins_anew(
    earlier: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["upgrade", "--to", "exported"]) == 0
    told = capsys.readouterr().out
    ledger = json.loads((tmp_path / "exported" / RUN[:8] / "report.json").read_text("utf-8"))
    assert ledger["run_id"] == RUN
    assert len(ledger["claims"]) > 1
    assert (tmp_path / "exported" / RUN[:8] / "report.md").read_text("utf-8")
    assert not (tmp_path / "exported" / FOLDED[:8]).exists()
    assert "Reports of 1 runs are in their folders" in told
    assert f"Run {BROKEN[:8]} could not be read" in told
    with closing(sqlite3.connect(tmp_path / "fathom.sqlite.old1")) as old:
        assert old.execute("select count(*) from slices").fetchone() == (6,)
    assert main(["runs"]) == 0
    assert main(["upgrade"]) == 2
    assert "needs no upgrade" in capsys.readouterr().err


def test_an_outdated_layout_is_refused_with_the_command_that_keeps_its_reports(
    outdated: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = outdated.read_bytes()
    assert main(["runs"]) == 2
    told = capsys.readouterr().err
    assert told.rstrip().endswith("fathom upgrade")
    assert len(told.splitlines()) == 1
    assert outdated.read_bytes() == before


async def test_reports_of_an_outdated_layout_are_read_though_their_classes_are_gone(
    outdated: Path, tmp_path: Path
) -> None:
    done = upgrade_database(outdated, tmp_path / "exported")
    assert done.in_folders == [FOLDED]
    assert list(done.exported) == [RUN]
    assert done.unreadable == []
    ledger = read_ledger(done.exported[RUN] / "report.json")
    assert ledger.settings.threshold == KNOBS.threshold
    assert len(ledger.claims) > 1
    assert all(finding.claims for finding in ledger.findings)
    assert (done.exported[RUN] / "report.md").read_text("utf-8") == ledger.report
    storage = open_storage(outdated)
    assert await storage.pages.get("sha") == "The text of a page."
    assert await storage.checkpoints.runs_longer_than(0) == []
    await close_storage(outdated)


def test_a_newer_database_is_refused(tmp_path: Path) -> None:
    prepare_database(tmp_path / "x.sqlite")
    with closing(sqlite3.connect(tmp_path / "x.sqlite")) as connection:
        connection.execute(f"pragma user_version={LAYOUT_VERSION + 1}")
    with pytest.raises(BadInput, match="written by a newer Fathom"):
        prepare_database(tmp_path / "x.sqlite")
