"""Bad input: one sentence on standard error, exit code 2, no traceback, nothing written."""

import json
import os
from pathlib import Path

import pytest
from standins.commandline import Fathom
from standins.documents import QUESTION
from standins.model import Model
from standins.replies import Reply
from standins.server import closed_port

from fathom.cli import RESEARCH


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([""], "The question is empty."),
        (["   "], "The question is empty."),
        (["x" * 2001], "The question is longer than 2000 characters."),
        ([QUESTION, "--depth", "deep"], "--depth should be"),
        ([QUESTION, "--unsupported", "keep"], "--unsupported should be 'drop' or 'mark'"),
        ([QUESTION, "--rounds", "0"], "rounds"),
        ([QUESTION, "--rounds", "101"], "rounds"),
        ([QUESTION, "--sources", "-3"], "sources"),
        ([QUESTION, "--queries", "0"], "queries"),
        ([QUESTION, "--budget", "-1"], "budget"),
        ([QUESTION, "--budget", "nan"], "budget"),
        ([QUESTION, "--budget", "inf"], "budget"),
        ([QUESTION, "--budget", "1e300"], "budget"),
        ([QUESTION, "--time-limit", "inf"], "time-limit"),
        ([QUESTION, "--format", "odt"], "known are markdown, html, pdf"),
        ([QUESTION, "--to", "report.odt"], "report.odt has an unknown format"),
        ([QUESTION, "--search", "tavli"], "Did you mean tavily?"),
        ([QUESTION, "--search", "bing"], "There is no engine 'bing'"),
        ([QUESTION, "--search", "tavily"], "tavily needs TAVILY_API_KEY."),
        ([QUESTION, "--search", "local"], "local needs folders or files to search"),
        ([QUESTION, "--model", "gpt-4.1"], "OPENAI_API_KEY"),
        ([QUESTION, "--base-url", "localhost:11434"], "must look like http://HOST:PORT/v1"),
        ([QUESTION, "--base-url", "http://user:pass@127.0.0.1/v1"], "without a user or a password"),
        ([QUESTION, "--docs", "nowhere"], "There is no folder or file"),
        (["resume"], "There is no run yet."),
        (["resume", "abc"], "There is no run whose id begins with 'abc'"),
        (["resume", ""], "There is no run whose id begins with ''"),
        (["show", "abc"], "There is no run whose id begins with 'abc'"),
        (["doctr"], "There is no command 'doctr'; did you mean doctor?"),
        (["verfy", "report.json"], "did you mean verify?"),
        (["Resum"], "did you mean resume?"),
        ([QUESTION, "--source-language", "zz"], "--source-language zz is not a language's code"),
        ([QUESTION, "--since", "2025-02-01", "--until", "2025-01-01"], "--since is after --until"),
        (["show", "abc", "--format", "odt"], "There is no format 'odt'"),
    ],
)
def test_bad_input_is_one_sentence(fathom: Fathom, work: Path, words: list[str], sentence: str) -> None:
    told = fathom(*words)
    assert told.is_refusal, told
    assert sentence in told.err
    assert list(work.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--rouns", "3", QUESTION], "There is no option --rouns; did you mean --rounds?"),
        ([QUESTION, "--zzz"], "There is no option --zzz; fathom --help lists them."),
        (["resume", "--aprove"], "There is no option --aprove; did you mean --approve?"),
        (["resmue", "3f2a", "--approve"], "There is no command 'resmue'; did you mean resume?"),
        (["What", "is", "a", "tide"], "'is' is one word too many; what belongs together goes in quotes."),
        (["runs", "all"], "'all' is one word too many"),
        ([QUESTION, "--rounds", "many"], "--rounds: invalid int value: 'many'"),
        (["show"], "ID is missing; fathom show --help shows what it takes."),
        (["resume", "--approve", "--finish"], "--finish: not allowed with argument --approve"),
        (["control", "3f2a", "paus"], "There is no order 'paus'; did you mean pause?"),
        (["control", "3f2a", "halt"], "There is no order 'halt'; there are pause, go, stop, add."),
        (["control", "3f2a", "stop"], "There is no run whose id begins with '3f2a'"),
        (["--quiet"], "The question is missing"),
        (["--docs", "notes", QUESTION], "if --docs took it, put it first, or -- before it"),
        (["--review"], "The question is missing"),
        (["--review", "plan"], "The question is missing"),
        (["--review", "plam", QUESTION], "--review should be plan, rounds or off, not plam."),
        ([QUESTION, "--review", "never"], "--review should be plan, rounds or off, not never."),
    ],
)
def test_a_slip_of_the_fingers_is_one_sentence(
    fathom: Fathom, work: Path, words: list[str], sentence: str
) -> None:
    told = fathom(*words)
    assert told.is_refusal, told
    assert sentence in told.err
    assert list(work.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "question", "review"),
    [
        (["--review", QUESTION], QUESTION, "rounds"),
        (["--review", "Tides"], "Tides", "rounds"),
        ([QUESTION, "--review"], QUESTION, "rounds"),
        (["--review", "plan", QUESTION], QUESTION, "plan"),
        ([QUESTION, "--review", "off"], QUESTION, "off"),
        (["--review", "--quiet", QUESTION], QUESTION, "rounds"),
        (["--docs", "notes", "--review", "--", "plan"], "plan", "rounds"),
        ([QUESTION], QUESTION, None),
    ],
)
def test_review_never_swallows_the_question(words: list[str], question: str, review: str | None) -> None:
    taken = RESEARCH.make_parser().parse_args(words)
    assert (taken.question, taken.review) == (question, review)


def test_an_empty_folder_is_refused(fathom: Fathom, work: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    told = fathom(QUESTION, "--docs", str(tmp_path / "empty"))
    assert told.is_refusal
    assert "has no document that can be read" in told.err
    assert list(work.iterdir()) == []


def test_a_folder_with_nothing_readable_is_refused(fathom: Fathom, work: Path, tmp_path: Path) -> None:
    folder = tmp_path / "odd"
    folder.mkdir()
    (folder / "picture.png").write_bytes(b"\x89PNG\r\n")
    (folder / "noise.txt").write_bytes(bytes(range(256)) * 40)
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7\nnot really")
    told = fathom(QUESTION, "--docs", str(folder))
    assert told.is_refusal
    assert "has no document that can be read" in told.err
    assert "noise.txt" in told.err
    assert list(work.iterdir()) == []


def test_a_binary_file_named_txt_is_refused(fathom: Fathom, work: Path, tmp_path: Path) -> None:
    (tmp_path / "noise.txt").write_bytes(bytes(range(256)) * 40)
    told = fathom(QUESTION, "--docs", str(tmp_path / "noise.txt"))
    assert told.is_refusal
    assert list(work.iterdir()) == []


def test_a_file_in_the_way_of_the_report_is_refused(fathom: Fathom, work: Path, shelf: Path) -> None:
    (work / "taken").write_text("mine")
    told = fathom(QUESTION, "--docs", str(shelf), "--out", "taken")
    assert told.is_refusal
    assert "The folder taken cannot be written" in told.err
    assert (work / "taken").read_text() == "mine"
    assert "No runs yet" in fathom("runs").out


def test_a_home_that_cannot_be_made_is_refused(
    fathom: Fathom, shelf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("FATHOM_HOME", str(tmp_path / "file" / "home"))
    for words in ([QUESTION, "--docs", str(shelf)], ["runs"], ["resume"], ["show", "a"]):
        told = fathom(*words)
        assert told.is_refusal
        assert "fathom.sqlite cannot be used" in told.err


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_home_without_permission_is_refused(
    fathom: Fathom, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "locked").mkdir(mode=0o500)
    monkeypatch.setenv("FATHOM_HOME", str(tmp_path / "locked" / "home"))
    assert fathom("runs").is_refusal


def test_a_file_that_is_no_database_is_refused(
    fathom: Fathom, shelf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "fathom.sqlite").write_bytes(b"these are not the pages you look for" * 100)
    for words in ([QUESTION, "--docs", str(shelf)], ["runs"]):
        told = fathom(*words)
        assert told.is_refusal
        assert "file is not a database" in told.err


def test_a_broken_setting_is_refused_by_name(
    fathom: Fathom, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FATHOM_CALL_RETRIES", "many")
    told = fathom("doctor")
    assert told.is_refusal
    assert "The setting call_retries is not usable" in told.err
    (work / "fathom.toml").write_text("call_retries = = 3")
    monkeypatch.delenv("FATHOM_CALL_RETRIES")
    assert fathom("doctor").is_refusal


def test_a_model_that_is_not_there_is_refused(fathom: Fathom, shelf: Path) -> None:
    with Model(lambda _: Reply.no_such_model("grand")) as model:
        words = ["--docs", str(shelf), "--model", "grand", "--base-url", model.base_url, "--quiet"]
        told = fathom(QUESTION, *words)
    assert told.code == 2
    assert told.out == ""
    assert told.err.count("\n") == 1
    assert "The model grand" in told.err
    assert "check the model's name" in told.err


def test_a_server_that_is_not_there_stops_the_run(
    fathom: Fathom, shelf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FATHOM_CALL_RETRIES", "0")
    words = ["--docs", str(shelf), "--model", "grand", "--base-url", f"http://127.0.0.1:{closed_port()}/v1"]
    told = fathom(QUESTION, *words, "--quiet")
    assert told.code == 1
    assert "cannot be reached" in told.err
    assert "go on with: fathom resume" in told.err


def test_a_refusal_has_a_code_for_programs(fathom: Fathom) -> None:
    sentence = fathom("diff", "abc", "abd").err.strip()
    told = fathom("diff", "abc", "abd", "--json")
    assert (told.code, told.out) == (2, "")
    assert json.loads(told.err) == {"error": sentence.removeprefix("fathom: "), "code": "bad_input"}
