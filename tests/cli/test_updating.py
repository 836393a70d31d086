"""Bringing a report up to date from the command line."""

import json
from pathlib import Path

from standins.commandline import Fathom
from standins.documents import QUESTION


def test_an_update_is_a_run_of_its_own_that_says_what_changed(
    fathom: Fathom, shelf: Path, work: Path
) -> None:
    assert fathom(QUESTION, "--docs", str(shelf), "--rounds", "1", "--quiet").code == 0
    wind = shelf / "wind.md"
    wind.write_text(wind.read_text("utf-8").replace("45 percent", "46 percent"), "utf-8")
    earlier = fathom("runs").out.splitlines()[1].split()[0]
    told = fathom("update", earlier, "--out", "new")
    assert told.code == 0
    assert "## What changed since 20" in told.out
    assert "- Page changed: Wind at sea" in told.out
    assert "46 percent" in told.out
    assert "round 2/2" in told.err
    cost_log = json.loads((work / "new/report.json").read_text("utf-8"))
    assert cost_log["update"]["run"].startswith(earlier)
    assert fathom("verify", "new/report.json").code == 0
    lines = fathom("runs").out.splitlines()
    assert len(lines) == 3
    assert lines[1].endswith(f"(updates {earlier})")
    assert fathom("show", earlier).out.count("46 percent") == 0


def test_what_cannot_be_updated_is_refused_in_one_sentence(fathom: Fathom, shelf: Path) -> None:
    assert fathom("update").is_refusal
    assert fathom("update", "nope").is_refusal
    assert fathom(QUESTION, "--docs", str(shelf), "--review", "--quiet").code == 3
    told = fathom("update")
    assert told.is_refusal or "go on with: fathom resume" in told.err
    assert told.code == 2


def test_the_help_tells_of_updates(fathom: Fathom) -> None:
    assert "only sections whose claims changed" in " ".join(fathom("update", "--help").out.split())
    assert "fathom update ID" in fathom("--help").out
