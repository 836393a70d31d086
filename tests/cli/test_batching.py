"""Many questions from a file: one table, one that fails ends no other, and the same command goes on."""

import io
import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from standins.commandline import FATHOM, Fathom, Terminal, spawned
from standins.documents import KOREAN_QUESTION, QUESTION
from standins.model import Model, ModelRequest
from standins.replies import Reply
from standins.working_model import researcher

SILT = "What limits a tidal barrage?"


@pytest.fixture
def over(shelf: Path) -> list[str]:
    """The words that hold for every question."""
    return ["--docs", str(shelf), "--rounds", "1"]


def asked(work: Path, *lines: str) -> str:
    """A file of questions."""
    (work / "q.txt").write_text("\n".join(lines), "utf-8")
    return "q.txt"


def rows(fathom: Fathom, *words: str, code: int = 0) -> list[dict[str, Any]]:
    """What became of each question."""
    told = fathom("batch", *words, "--json", "--quiet")
    assert told.code == code, told
    return list(json.loads(told.out)["questions"])


def elsewhere(work: Path, *words: str) -> list[dict[str, Any]]:
    """The same in a process of its own, as the next day."""
    told = spawned(["batch", *words, "--json", "--quiet"], work)
    assert told.code == 0, told
    return list(json.loads(told.out)["questions"])


def test_every_question_has_a_line_in_one_table_and_a_folder(
    fathom: Fathom, work: Path, over: list[str]
) -> None:
    line = json.dumps({"question": SILT, "sources": 1})
    told = fathom("batch", asked(work, "# about the sea", QUESTION, "", line, KOREAN_QUESTION), *over)
    assert told.code == 0, told
    lines = told.out.splitlines()
    assert lines[0].split() == ["LINE", "STATUS", "SCORE", "SOURCES", "COST", "TIME", "REPORT", "QUESTION"]
    assert [row.split()[0] for row in lines[1:4]] == ["2", "4", "5"]
    assert lines[-1] == "3 of 3 have extracts; $0.0000 in all"
    for row in lines[1:4]:
        report = next(word for word in row.split() if word.startswith("runs/q/"))
        assert "\n# " in (work / report).read_text("utf-8")
        assert (work / report).with_name("events.jsonl").is_file()
    assert sum("begins:" in said for said in told.err.splitlines()) == 3
    assert "(3 of 3 done)" in told.err
    kept = next((work / "runs/q").glob(f"{lines[2].partition('runs/q/')[2][:8]}*/report.json"))
    assert len(json.loads(kept.read_text("utf-8"))["sources"]) == 1


def test_the_same_command_again_runs_nothing_twice_and_takes_new_lines(
    fathom: Fathom, work: Path, over: list[str]
) -> None:
    first = rows(fathom, asked(work, QUESTION, SILT), *over)
    again = rows(fathom, asked(work, SILT, "# moved", QUESTION, KOREAN_QUESTION), *over)
    assert {row["question"]: row["run_id"] for row in first}.items() <= {
        row["question"]: row["run_id"] for row in again
    }.items()
    assert [row["number"] for row in again] == [1, 3, 4]
    assert len(fathom("runs").out.splitlines()) == 1 + 3


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ('{"question": "x", "docs": ["nowhere"]}', "Line 2: There is no folder or file"),
        ('{"question": "x", "search": ["tavili"]}', "Line 2: There is no engine 'tavili'"),
        ('{"question": "x", "deph": 1}', "did you mean depth?"),
    ],
)
def test_a_bad_line_is_told_before_anything_starts(
    fathom: Fathom, work: Path, over: list[str], line: str, sentence: str
) -> None:
    told = fathom("batch", asked(work, QUESTION, line), *over)
    assert told.is_refusal, told
    assert sentence in told.err
    assert [path.name for path in work.iterdir()] == ["q.txt"]
    assert "No runs yet" in fathom("runs").out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["nowhere.txt"], "nowhere.txt cannot be read: No such file or directory."),
        (["q.txt", "--at-once", "0"], "--at-once should be from 1 to 100."),
        (["q.txt", "--budget-total", "-1"], "--budget-total should be 0 or more."),
        (["q.txt", "--budget-total", "nan"], "--budget-total should be 0 or more."),
        (["binary.txt"], "binary.txt is no text in UTF-8."),
    ],
)
def test_words_that_make_no_sense_are_refused(
    fathom: Fathom, work: Path, words: list[str], sentence: str
) -> None:
    asked(work, QUESTION)
    (work / "binary.txt").write_bytes(b"\xff\xfe\x00")
    told = fathom("batch", *words)
    assert told.is_refusal, told
    assert sentence in told.err


def test_questions_come_from_standard_input_too(
    fathom: Fathom, work: Path, over: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{QUESTION}\n"))
    (row,) = rows(fathom, "-", *over, "--out", "here")
    assert row["report"].startswith(str(work / "here"))
    assert (work / "here" / "batch.json").is_file()


def test_one_that_fails_ends_no_other_and_goes_on_later(
    fathom: Fathom, work: Path, over: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FATHOM_CALL_RETRIES", "0")
    is_gone = True

    def moody(request: ModelRequest) -> Reply:
        return Reply.wrong_key() if is_gone and SILT in request.user_text else researcher(request)

    with Model(moody) as model:
        words = [asked(work, QUESTION, SILT), *over, "--model", "m", "--base-url", model.base_url]
        good, bad = rows(fathom, *words, code=1)
        assert (good["status"], bad["status"]) == ("complete", "stopped")
        assert "key" in bad["because"]
        answered = len(model.calls)
        is_gone = False
        again = elsewhere(work, *words)
        anew = [request.user_text for request in model.requests[answered:]]
        assert any(SILT in text for text in anew)
        assert not any(QUESTION in text for text in anew)
    assert [row["status"] for row in again] == ["complete", "complete"]
    assert [row["run_id"] for row in again] == [good["run_id"], bad["run_id"]]


def test_no_more_than_asked_for_are_in_hand_at_once(fathom: Fathom, work: Path, over: list[str]) -> None:
    names = [f"{SILT} ({n})" for n in range(5)]
    told = fathom("batch", asked(work, *names), *over, "--at-once", "2")
    assert told.code == 0
    inside = most = 0
    for line in told.err.splitlines():
        inside += 1 if "begins:" in line else -1
        most = max(most, inside)
    assert (inside, most) == (0, 2)


def test_the_budget_of_all_is_shared_and_what_does_not_fit_is_not_begun(
    fathom: Fathom, work: Path, over: list[str]
) -> None:
    """Each question may cost what is left of the total; one that nothing is left for is told."""
    told = rows(fathom, asked(work, QUESTION, SILT), *over, "--budget-total", "0", code=1)
    assert {(row["status"], row["because"]) for row in told} == {
        ("not started", "the total budget is used up")
    }
    capped = rows(fathom, "q.txt", *over, "--budget-total", "0.25")
    for row in capped:
        settings = json.loads(Path(row["report"]).with_name("report.json").read_text("utf-8"))["settings"]
        assert settings["budget_usd"] == 0.25


def test_what_is_spent_on_all_stays_below_the_total(work: Path, over: list[str], tmp_path: Path) -> None:
    """Left alone, the four cost about 0.60 USD at these prices."""
    (tmp_path / "home").mkdir()
    (tmp_path / "home/prices.toml").write_text("[models.m]\ninput = 20\noutput = 20\n")
    file = asked(work, QUESTION, SILT, f"{SILT} (2)", f"{SILT} (3)")
    with Model(researcher) as model:
        words = [file, *over, "--model", "m", "--base-url", model.base_url, "--budget-total", "0.3"]
        told = spawned(["batch", *words, "--json", "--quiet"], work)
    summary = json.loads(told.out)
    assert 0.1 < summary["cost_usd"] <= 0.3
    statuses = [row["status"] for row in summary["questions"]]
    assert statuses.count("complete") < 4
    assert set(statuses) <= {"complete", "partial", "unsure", "not started"}


def test_what_was_paid_before_counts_also_on_lines_further_down(
    work: Path, over: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two were stopped, and the one below them has cost too much for either to be gone on with."""
    monkeypatch.setenv("FATHOM_CALL_RETRIES", "0")
    (tmp_path / "home").mkdir()
    (tmp_path / "home/prices.toml").write_text("[models.m]\ninput = 20\noutput = 20\n")

    def moody(request: ModelRequest) -> Reply:
        return Reply.wrong_key() if SILT in request.user_text else researcher(request)

    with Model(moody) as model:
        file = asked(work, SILT, f"{SILT} (2)", QUESTION)
        words = ["batch", file, *over, "--model", "m", "--base-url", model.base_url, "--json", "--quiet"]
        first = json.loads(spawned([*words, "--budget", "0.5"], work).out)
        assert [row["status"] for row in first["questions"]] == ["stopped", "stopped", "complete"]
        total = f"{first['cost_usd'] + 0.45:.4f}"
        assert float(total) > 0.5
        answered = len(model.calls)
        again = json.loads(spawned([*words, "--budget", "0.5", "--budget-total", total], work).out)
        assert len(model.calls) == answered
    assert [row["status"] for row in again["questions"]] == ["not started", "not started", "complete"]


def test_a_question_that_waits_for_review_is_told_and_left_waiting(
    fathom: Fathom, work: Path, over: list[str]
) -> None:
    file = asked(work, QUESTION, json.dumps({"question": SILT, "review": "plan"}))
    told = fathom("batch", file, *over)
    assert told.code == 3
    assert "line 2 waiting for review; fathom resume" in told.err
    assert rows(fathom, file, *over, code=3)[1]["status"] == "waiting for review"
    name = told.err.splitlines()[-1].split()[-1]
    assert fathom("resume", name, "--approve", "--quiet").code == 0
    assert [row["status"] for row in rows(fathom, file, *over)] == ["extracts", "extracts"]


def test_two_processes_do_not_work_on_one_batch(
    fathom: Fathom, work: Path, over: list[str], tmp_path: Path
) -> None:
    assert fathom("batch", asked(work, QUESTION), *over, "--quiet").code == 0
    (lock,) = (tmp_path / "home" / "locks").glob("batch-*.lock")
    with FileLock(lock):
        told = fathom("batch", "q.txt", *over, "--quiet")
    assert told.is_refusal
    assert "is being worked on by another process" in told.err


def test_an_interrupted_batch_is_kept_and_goes_on(work: Path, over: list[str]) -> None:
    slow = [True]

    def answer(request: ModelRequest) -> Reply:
        if slow[0] and "Q1" in request.user_text:
            time.sleep(0.2)
        return researcher(request)

    with Model(answer) as model:
        words = [
            asked(work, QUESTION, SILT, f"{SILT} (2)"),
            *over,
            "--model",
            "m",
            "--base-url",
            model.base_url,
        ]
        with subprocess.Popen(
            [*FATHOM, "batch", *words, "--at-once", "1", "--json"],
            cwd=work,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            said = ""
            while "line 2 begins" not in said:
                said = process.stderr.readline()
                assert said, "it ended before the second question began"
            process.send_signal(signal.SIGINT)
            told = json.loads(process.stdout.read())["questions"]
            rest = process.stderr.read()
            assert process.wait(timeout=30) == 130
        assert [row["status"] for row in told] == ["complete", "stopped", "not started"]
        assert "run the same command again to go on" in rest
        assert "Traceback" not in rest
        slow[0] = False
        done = len(model.calls)
        again = elsewhere(work, *words)
        assert not any(QUESTION in request.user_text for request in model.requests[done:])
    assert [row["status"] for row in again] == ["complete"] * 3


def test_at_a_terminal_the_questions_in_hand_are_shown_live(work: Path, over: list[str]) -> None:
    terminal = Terminal(["batch", asked(work, QUESTION, KOREAN_QUESTION), *over], work)
    terminal.says("in hand")
    terminal.says("LINE")
    terminal.says("2 of 2 have extracts")
    assert terminal.ends() == 0
