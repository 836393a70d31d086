"""Checking a report again from the command line, against the pages that were stored."""

import json
import sqlite3
import zlib
from pathlib import Path
from typing import Any

import pytest
from standins.commandline import Fathom
from standins.documents import KOREAN_QUESTION, QUESTION

from fathom.state import Quote


@pytest.fixture
def report(fathom: Fathom, shelf: Path, work: Path) -> Path:
    """The ledger of a run over the shelf."""
    assert fathom(QUESTION, "--docs", str(shelf), "--rounds", "1", "--out", "mine", "--quiet").code == 0
    return work / "mine/report.json"


def told(report: Path) -> Any:
    return json.loads(report.read_text("utf-8"))


def first_quote(report: Path) -> Quote:
    """The quote under the first sentence."""
    cost_log = told(report)
    name = cost_log["sections"][0]["sentences"][0]["claims"][0]
    claim = next(claim for claim in cost_log["claims"] if claim["id"] == name)
    return Quote.model_validate(claim["quotes"][0])


def tamper(home: Path, sha: str, place: int) -> None:
    """Change one character of a stored page, deflated anew."""
    connection = sqlite3.connect(home / "fathom.sqlite")
    with connection:
        (body,) = connection.execute("select body from pages where sha = ?", (sha,)).fetchone()
        text = zlib.decompress(body).decode()
        changed = text[:place] + ("x" if text[place] != "x" else "y") + text[place + 1 :]
        connection.execute(
            "update pages set body = ? where sha = ?", (zlib.compress(changed.encode(), 9), sha)
        )
    connection.close()


def test_a_report_holds_as_it_was_written(fathom: Fathom, report: Path) -> None:
    found = fathom("verify", str(report))
    assert found.code == 0
    lines = found.out.splitlines()
    count = len(lines) - 1
    assert lines[-1] == f"{count} sentences: {count} supported, 0 changed, 0 gone."
    assert all(line.startswith("supported  ") for line in lines[:-1])
    assert fathom("verify", str(report), "--quiet").out.splitlines() == lines[-1:]


def test_one_character_changed_inside_a_quote_of_a_stored_page_is_found(
    fathom: Fathom, report: Path, tmp_path: Path
) -> None:
    quote = first_quote(report)
    tamper(tmp_path / "home", quote.page, quote.start + 5)
    found = fathom("verify", str(report))
    assert found.code == 5
    assert "is not the text that was read" in found.out
    few = fathom("verify", str(report), "--quiet")
    assert (few.code, "supported  " in few.out) == (5, False)
    assert few.out.splitlines()[0].startswith("changed    ")
    assert "is not the text that was read" in few.out
    assert "changed    " in found.out


def test_one_character_changed_outside_every_quote_is_found_too(
    fathom: Fathom, report: Path, tmp_path: Path
) -> None:
    tamper(tmp_path / "home", first_quote(report).page, 0)
    assert fathom("verify", str(report)).code == 5


def test_pages_that_are_no_longer_kept_are_gone(fathom: Fathom, report: Path, tmp_path: Path) -> None:
    (tmp_path / "home/fathom.sqlite").rename(tmp_path / "elsewhere.sqlite")
    found = fathom("verify", str(report))
    assert found.code == 5
    assert "0 supported, 0 changed" in found.out
    assert "no longer in the database" in found.out
    assert "no longer in the database" in fathom("verify", str(report), "--quiet").out
    assert not (tmp_path / "home/fathom.sqlite").exists()


def test_a_stored_page_that_is_no_longer_deflated_text_is_found(
    fathom: Fathom, report: Path, tmp_path: Path
) -> None:
    connection = sqlite3.connect(tmp_path / "home/fathom.sqlite")
    with connection:
        connection.execute("update pages set body = x'00112233'")
    connection.close()
    found = fathom("verify", str(report))
    assert (found.code, found.err) == (5, "")
    assert "0 supported" in found.out


def test_prose_added_by_hand_beside_the_ledger_is_found(fathom: Fathom, report: Path) -> None:
    beside = report.with_name("report.md")
    beside.write_text(beside.read_text("utf-8") + "\nTidal power is free of charge.\n", "utf-8")
    found = fathom("verify", str(report))
    assert found.code == 5
    assert "report.md says what the ledger does not: Tidal power is free of charge." in found.out


def test_another_version_is_no_way_to_have_prose_believed(fathom: Fathom, report: Path) -> None:
    cost_log = told(report)
    cost_log["fathom"] = "0.0.9"
    report.with_name("other.json").write_text(json.dumps(cost_log), "utf-8")
    assert fathom("verify", str(report.with_name("other.json"))).code == 0
    cost_log["report"] = cost_log["report"].replace("## Sources", "Tides are free of charge.\n\n## Sources")
    report.with_name("other.json").write_text(json.dumps(cost_log), "utf-8")
    found = fathom("verify", str(report.with_name("other.json")))
    assert found.code == 5
    assert "Tides are free of charge." in found.out
    assert "Made by another version of Fathom" in found.out


def test_machines_get_the_findings_as_json(fathom: Fathom, report: Path, tmp_path: Path) -> None:
    tamper(tmp_path / "home", first_quote(report).page, 0)
    found = fathom("verify", str(report), "--json")
    answer = json.loads(found.out)
    assert (found.code, answer["is_sound"]) == (5, False)
    assert answer["changed"] == sum(s["standing"] == "changed" for s in answer["sentences"]) > 0
    assert {"section", "text", "standing", "why", "kind"} == set(answer["sentences"][0])


def test_a_korean_report_holds_and_a_report_of_nothing_does_too(
    fathom: Fathom, shelf: Path, work: Path
) -> None:
    for question, code in ((KOREAN_QUESTION, 0), ("Which comet passed Jupiter in 1994?", 4)):
        assert (
            fathom(question, "--docs", str(shelf), "--rounds", "1", "--out", f"o{code}", "--quiet").code
            == code
        )
        assert fathom("verify", str(work / f"o{code}/report.json")).code == 0


@pytest.mark.parametrize("body", ["", "{", "[]", '{"format": "fathom-ledger/2"}', '{"run_id": 1}'])
def test_what_is_no_report_is_refused_in_one_sentence(fathom: Fathom, work: Path, body: str) -> None:
    (work / "report.json").write_text(body)
    assert fathom("verify", "report.json").is_refusal


def test_a_file_that_is_not_there_is_refused_in_one_sentence(fathom: Fathom) -> None:
    assert fathom("verify", "nowhere/report.json").is_refusal


def test_the_help_tells_the_exit_codes(fathom: Fathom) -> None:
    assert "5 something changed or is gone" in " ".join(fathom("verify", "--help").out.split())
    assert "fathom verify ID|FILE" in fathom("--help").out


def test_a_run_is_verified_by_its_id(fathom: Fathom, shelf: Path) -> None:
    run_id = json.loads(fathom(QUESTION, "--docs", str(shelf), "--format", "json").out)["run_id"]
    told = fathom("verify", run_id[:8])
    assert (told.code, told.out.splitlines()[-1].split(" supported")[1]) == (0, ", 0 changed, 0 gone.")
    assert "no run whose id begins with" in fathom("verify", "ffffff").err
