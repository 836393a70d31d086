"""A research folder from the command line: a place that cannot be written, and a question in Korean."""

import json
import re
from pathlib import Path

from standins.commandline import Fathom
from standins.documents import KOREAN_QUESTION, QUESTION


def test_a_folder_that_cannot_be_written_is_one_sentence_and_nothing_is_lost(
    fathom: Fathom, work: Path, shelf: Path
) -> None:
    (work / "mine").mkdir()
    (work / "mine/rounds").write_text("in the way")
    told = fathom(QUESTION, "--docs", str(shelf), "--rounds", "1", "--out", "mine", "--quiet")
    last = told.err.splitlines()[-1]
    assert told.code == 1
    assert told.out == ""
    assert last.startswith("fathom: The folder mine cannot be written: ")
    assert "Nothing is lost; go on with: fathom resume " in last
    assert "Traceback" not in told.err
    (work / "mine/rounds").unlink()
    assert fathom("resume", "--quiet").code == 0
    assert fathom("verify", "mine/report.json").code == 0
    kinds = [
        json.loads(line)["kind"] for line in (work / "mine/events.jsonl").read_text("utf-8").splitlines()
    ]
    assert kinds.count("round completed") == 1
    assert (work / "mine/rounds/001.md").exists()


def test_a_korean_run_leaves_a_korean_folder(fathom: Fathom, work: Path, shelf: Path) -> None:
    words = ["--docs", str(shelf), "--rounds", "1", "--out", "mine", "--quiet"]
    assert fathom(KOREAN_QUESTION, *words).code == 0
    assert (work / "mine/findings.md").read_text("utf-8").startswith(f"# 찾은 것: {KOREAN_QUESTION}")
    assert (work / "mine/sources.md").read_text("utf-8").startswith("# 읽은 출처: ")
    page = (work / "mine/rounds/001.md").read_text("utf-8")
    assert page.startswith("# 1회차: ")
    assert not re.search(r"Found|Next|Answered|Cost", page)
    assert "조력" in (work / "mine/state.json").read_text("utf-8")
    assert "조력" in (work / "mine/citations.bib").read_text("utf-8")


def test_plain_lines_say_what_a_round_found_and_cost(fathom: Fathom, shelf: Path) -> None:
    told = fathom(QUESTION, "--docs", str(shelf), "--rounds", "1").err
    assert re.search(r"^  Found \(new passages: \d+; in all: \d+\):$", told, re.MULTILINE)
    assert re.search(r"^  - \w", told, re.MULTILINE)
    assert not re.search(r"^  - [A-Z]+ \(0\.\d\d\) ", told, re.MULTILINE)  # no model judged it
    assert not re.search(r"answered[^\n]*\d %", told, re.IGNORECASE)
    assert re.search(r"^  Cost so far: 0\.0000 of 1\.00 USD", told, re.MULTILINE)
