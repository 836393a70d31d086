"""`fathom audit` at the command line."""

import json
from pathlib import Path

import pytest
from standins.commandline import Fathom
from standins.documents import TIDES
from standins.documents import written as put
from standins.server import closed_port

REPORT = """# Tides

The barrage of Ouseport has made tidal power since {year} [1].

## Sources

[1] barrage.md
"""


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    """The file that the report names."""
    return Path(put(tmp_path / "tides", TIDES))


def written(work: Path, year: int) -> str:
    (work / "report.md").write_text(REPORT.format(year=year), "utf-8")
    return "report.md"


def test_a_sound_report_ends_with_zero_and_leaves_its_files(fathom: Fathom, work: Path, shelf: Path) -> None:
    told = fathom("audit", written(work, 1987), "--docs", str(shelf))
    assert told.code == 0, told.err
    assert "1 holds" in told.out and "strict rules" in told.out
    folder = next((work / "runs").glob("audit-*"))
    assert {file.name for file in folder.iterdir()} == {"audit.html", "audit.json", "audit.md"}


def test_a_contradiction_ends_with_five(fathom: Fathom, work: Path, shelf: Path) -> None:
    told = fathom("audit", written(work, 1978), "--docs", str(shelf), "--quiet")
    assert told.code == 5
    assert "1 is contradicted by its source." in told.out and told.err == ""


@pytest.mark.parametrize(
    "wrong", [("--budget", "-1"), ("--models", "judg=x"), ("--docs", "nowhere"), ("--engines", "goggle")]
)
def test_what_makes_no_sense_is_one_sentence(fathom: Fathom, work: Path, wrong: tuple[str, str]) -> None:
    told = fathom("audit", written(work, 1987), "--model", "none", *wrong)
    assert told.code == 2, told.err
    assert told.err.startswith("fathom: ") and told.err.count("\n") == 1


def test_events_and_forms(fathom: Fathom, work: Path, shelf: Path) -> None:
    name = written(work, 1987)
    lines = fathom("audit", name, "--docs", str(shelf), "--json").out.splitlines()
    assert [json.loads(line)["kind"] for line in lines][-1] == "completed"
    assert fathom("audit", name, "--docs", str(shelf), "--format", "html").out.startswith("<!doctype html>")
    assert json.loads(fathom("audit", name, "--docs", str(shelf), "--format", "json").out)["verdicts"]
    assert "Model calls   0" in fathom("audit", name, "--dry-run").out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["audit", "nowhere.md"], "cannot be read"),
        (["audit", f"http://127.0.0.1:{closed_port()}/x"], "refused"),
        (["audit", "report.md", "--format", "xml"], "no format"),
        (["audit"], "is missing"),
    ],
)
def test_bad_input_is_one_sentence(fathom: Fathom, work: Path, words: list[str], said: str) -> None:
    written(work, 1987)
    told = fathom(*words)
    assert told.code == 2 and said in told.err and told.err.count("\n") == 1
