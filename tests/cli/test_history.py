"""What was done before: listed, shown in parts, forked, compared, handed on, removed."""

import json
import os
import re
import sqlite3
import subprocess
import zipfile
from contextlib import closing
from pathlib import Path

import pytest
from checks.bibtex_reader import read_bibtex
from filelock import FileLock
from standins.commandline import FATHOM, Fathom, spawned
from standins.documents import KOREAN_QUESTION, QUESTION

DIRECTION = "silt behind the barrage"


@pytest.fixture
def over(shelf: Path) -> list[str]:
    """How every run here looks: one page a round."""
    return ["--docs", str(shelf), "--sources", "1", "--threshold", "1.0", "--quiet"]


def ran(fathom: Fathom, *words: str) -> str:
    """The id of a run that was just made."""
    assert fathom(*words).code == 0
    return str(json.loads(fathom("runs", "--json").out)[0]["id"])


def test_runs_are_listed_for_people_and_for_programs(fathom: Fathom, work: Path, over: list[str]) -> None:
    first = ran(fathom, KOREAN_QUESTION, *over, "--rounds", "1", "--out", "mine")
    second = ran(fathom, "update", first, "--quiet")
    third = ran(fathom, "fork", first, DIRECTION, "--rounds", "1", "--quiet")
    told = {line["id"]: line for line in json.loads(fathom("runs", "--json").out)}
    assert list(told) == [third, second, first]
    assert told[first]["folder"] == str(work / "mine")
    assert told[first]["question"] == KOREAN_QUESTION
    assert told[first]["rounds"] == 1
    assert told[second]["updates"] == told[third]["forks"] == first
    lines = fathom("runs").out.splitlines()
    assert lines[1].endswith(f"(forks {first[:8]})")
    assert lines[2].endswith(f"(updates {first[:8]})")
    assert lines[3].startswith(first[:8])


def test_parts_of_what_a_run_knows_are_shown(fathom: Fathom, over: list[str]) -> None:
    name = ran(fathom, QUESTION, *over, "--rounds", "2")[:8]
    assert fathom("show", name, "--round", "1").out.startswith(f"# Round 1: {QUESTION}")
    assert "Cost so far" in fathom("show", name, "--round", "1").out
    assert fathom("show", name, "--findings").out.startswith("# Findings: ")
    assert "file://" in fathom("show", name, "--sources").out
    assert fathom("show", name, "--hypotheses").out.startswith("# Hypotheses: ")
    assert fathom("show", name, "--citations").out.startswith("# Citations: ")
    assert read_bibtex(fathom("show", name, "--bib").out)
    told = fathom("show", name, "--round", "9")
    assert told.is_refusal, told
    assert "there is no round 9" in told.err
    assert fathom("show", name, "--round", "1", "--bib").is_refusal


def test_a_fork_is_seen_through_and_compared_with_where_it_came_from(
    fathom: Fathom, work: Path, over: list[str]
) -> None:
    first = ran(fathom, QUESTION, *over, "--rounds", "2", "--out", "one")
    before = (work / "one/report.json").read_bytes()
    told = fathom("fork", first[:8], DIRECTION, "--round", "1", "--rounds", "1", "--out", "two", "--quiet")
    assert told.code == 0, told
    state = json.loads((work / "two/state.json").read_text("utf-8"))
    assert state["state"]["fork"] == {"run": first, "round": 1, "direction": DIRECTION}
    assert any(DIRECTION in query["text"] for query in state["state"]["asked"])
    assert sorted(path.name for path in (work / "two/rounds").iterdir()) == ["001.md", "002.md"]
    assert (work / "one/report.json").read_bytes() == before
    assert fathom("verify", "two/report.json").code == 0
    second = state["run"]
    text = fathom("diff", first[:8], second[:8]).out
    assert text.startswith(f"- {first[:8]}  {QUESTION}\n+ {second[:8]}  the same\n")
    found = json.loads(fathom("diff", first[:8], second[:8], "--json").out)
    assert found["runs"] == {"first": first, "second": second}
    assert set(found["settings"]) <= {"rounds"}
    assert found["rounds"]["second"] == 2
    assert found["shared_sources"] >= 1
    assert not fathom("diff", first, first, "--json").out.count('"title"')


@pytest.mark.parametrize(
    "words",
    [
        ["fork", "ID", "x", "--round", "7"],
        ["fork", "nothing", "x"],
        ["fork", "ID", " "],
        ["diff", "ID", "zz"],
    ],
)
def test_what_is_not_there_cannot_be_forked_or_compared(
    fathom: Fathom, over: list[str], words: list[str]
) -> None:
    name = ran(fathom, QUESTION, *over, "--rounds", "1")[:8]
    told = fathom(*(name if word == "ID" else word for word in words))
    assert told.is_refusal, told


def test_a_run_is_handed_on_in_every_form(fathom: Fathom, work: Path, over: list[str]) -> None:
    name = ran(fathom, QUESTION, *over, "--rounds", "2", "--out", "mine")[:8]
    endings = (".md", ".json", ".bib", ".html", ".pdf", ".docx", ".csl.json", ".ris", ".zip")
    for place in (*(f"a{ending}" for ending in endings), "whole"):
        told = fathom("export", name, "--to", place)
        assert (told.code, told.err) == (0, ""), told
    assert (work / "a.md").read_text("utf-8") == (work / "mine/report.md").read_text("utf-8")
    assert fathom("verify", "a.json").code == 0
    assert read_bibtex((work / "a.bib").read_text("utf-8"))
    told = fathom("export", "mine/report.json", "--to", "again.pdf")
    assert (told.code, (work / "again.pdf").read_bytes()) == (0, (work / "a.pdf").read_bytes())
    assert fathom("show", name, "--format", "html").out == (work / "a.html").read_text("utf-8")
    names = {str(path.relative_to(work / "mine")) for path in (work / "mine").rglob("*") if path.is_file()}
    assert {str(p.relative_to(work / "whole")) for p in (work / "whole").rglob("*") if p.is_file()} == names
    assert (work / "whole/events.jsonl").read_bytes() == (work / "mine/events.jsonl").read_bytes()
    with zipfile.ZipFile(work / "a.zip") as archive:
        assert archive.testzip() is None
        assert {entry.partition("/")[2] for entry in archive.namelist()} == names
    assert fathom("verify", "whole/report.json").code == 0
    page = (work / "a.html").read_text("utf-8")
    assert "<script" not in page
    assert re.findall(r'href="(?!#)([^"]*)"', page) == []  # what was read are files, and those are no links


def test_what_is_there_is_not_replaced_and_other_kinds_are_refused(
    fathom: Fathom, work: Path, over: list[str]
) -> None:
    name = ran(fathom, QUESTION, *over, "--rounds", "1")[:8]
    (work / "a.md").write_text("mine")
    for words in (["a.md"], ["a.odt"], ["a.md/b.md"]):
        told = fathom("export", name, "--to", *words)
        assert told.is_refusal, told
    assert (work / "a.md").read_text() == "mine"
    assert fathom("export", name, "--to", "a.md", "--force").code == 0
    other = ran(fathom, KOREAN_QUESTION, *over, "--rounds", "1")
    assert fathom("export", name, "--to", "whole").code == 0
    told = fathom("export", other[:8], "--to", "whole")
    assert told.is_refusal, told
    assert f"holds run {name}" in told.err


def test_a_second_run_does_not_take_the_folder_of_the_first(
    fathom: Fathom, work: Path, over: list[str]
) -> None:
    first = ran(fathom, QUESTION, *over, "--rounds", "1", "--out", "mine")
    before = (work / "mine/report.json").read_bytes()
    told = fathom(KOREAN_QUESTION, *over, "--out", "mine")
    assert told.is_refusal, told
    assert f"The folder mine holds run {first[:8]}" in told.err
    assert (work / "mine/report.json").read_bytes() == before


def test_a_finished_run_is_written_to_the_folder_it_had(fathom: Fathom, work: Path, over: list[str]) -> None:
    name = ran(fathom, QUESTION, *over, "--rounds", "1", "--out", "mine")[:8]
    (work / "mine/report.md").unlink()
    assert fathom("resume", name, "--quiet").code == 0
    assert (work / "mine/report.md").exists()
    assert not (work / "runs").exists()


def test_old_runs_are_removed_when_somebody_says_so(fathom: Fathom, over: list[str], tmp_path: Path) -> None:
    first = ran(fathom, QUESTION, *over, "--rounds", "1")
    second = ran(fathom, KOREAN_QUESTION, *over, "--rounds", "1", "--out", "mine")
    assert fathom("clean").is_refusal
    assert fathom("clean", "--older-than", "soon").is_refusal
    assert fathom("clean", "--keep", "-1").is_refusal
    assert "0 runs" in fathom("clean", "--older-than", "30d", "--yes").out
    shown = fathom("clean", "--keep", "1", "--dry-run")
    assert shown.code == 0
    assert first[:8] in shown.out
    assert "Would remove 1 run:" in shown.out
    unasked = fathom("clean", "--keep", "1")
    assert unasked.code == 2
    assert "--yes" in unasked.err
    assert len(json.loads(fathom("runs", "--json").out)) == 2
    told = fathom("clean", "--keep", "1", "--yes")
    assert (told.code, told.err) == (0, "")
    assert "Removed 1 run:" in told.out
    assert re.search(r"On disk: [\d.]+ [KM]B before, [\d.]+ [KM]B now\.", told.out)
    assert [line["id"] for line in json.loads(fathom("runs", "--json").out)] == [second]
    assert fathom("verify", "mine/report.json").code == 0
    with FileLock(tmp_path / "home/locks" / f"{second}.lock"):
        busy = fathom("clean", "--keep", "0", "--yes")
    assert "somebody works on them: 1 run." in busy.out
    assert len(json.loads(fathom("runs", "--json").out)) == 1


def test_two_that_clean_at_once_do_no_harm(
    fathom: Fathom, work: Path, over: list[str], tmp_path: Path
) -> None:
    for question in (QUESTION, KOREAN_QUESTION):
        last = ran(fathom, question, *over, "--rounds", "1", "--out", question[:3])
    both = [
        subprocess.Popen([*FATHOM, "clean", "--keep", "1", "--yes"], cwd=work, env=dict(os.environ))
        for _ in range(2)
    ]
    codes = [process.wait(timeout=60) for process in both]
    assert set(codes) <= {0, 2}
    assert 0 in codes
    assert [line["id"] for line in json.loads(fathom("runs", "--json").out)] == [last]
    with closing(sqlite3.connect(tmp_path / "home/fathom.sqlite")) as connection:
        assert connection.execute("pragma integrity_check").fetchone() == ("ok",)
    assert spawned(["verify", f"{KOREAN_QUESTION[:3]}/report.json"], work).code == 0
