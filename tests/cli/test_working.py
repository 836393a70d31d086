"""Runs from the command line: a report on standard output, progress beside it, files behind it."""

import json
from hashlib import sha256
from pathlib import Path

import pytest
from standins.commandline import Fathom
from standins.documents import DOCUMENTS, KOREAN_QUESTION, QUESTION
from standins.model import Model
from standins.working_model import researcher

from fathom.result import ResearchResult


@pytest.fixture
def over(shelf: Path) -> list[str]:
    """The words of a short run over the shelf."""
    return ["--docs", str(shelf), "--rounds", "1"]


def waiting(fathom: Fathom, over: list[str]) -> str:
    """A run that waits for review."""
    assert fathom(QUESTION, *over, "--review", "--quiet").code == 3
    return fathom("runs").out.splitlines()[1].split()[0]


def test_the_report_is_printed_and_progress_is_told_beside_it(fathom: Fathom, over: list[str]) -> None:
    told = fathom(QUESTION, *over)
    assert told.code == 0
    assert f"\n# {QUESTION}\n" in told.out
    assert "## Sources" in told.out
    lines = told.err.splitlines()
    assert "if it stops, go on with: fathom resume" in lines[0]
    assert any("plan (comparison" in line and "sub-questions" in line for line in lines)
    assert any("; the end: " in line for line in lines)
    assert "report.md and" in lines[-1]


def test_a_report_can_go_into_a_file_of_another_format(fathom: Fathom, work: Path, over: list[str]) -> None:
    told = fathom(QUESTION, *over, "--to", "a.pdf")
    assert (told.code, told.out) == (0, "")
    assert (work / "a.pdf").read_bytes().startswith(b"%PDF-")
    assert "Written to a.pdf, " in told.err
    assert fathom(QUESTION, *over, "--to", "a.pdf").is_refusal


def test_the_files_hold_the_whole_chain_of_evidence(fathom: Fathom, work: Path, over: list[str]) -> None:
    printed = fathom(QUESTION, *over, "--out", "mine").out
    assert sorted(path.name for path in (work / "mine").iterdir()) == [
        "archival",
        "citations.bib",
        "citations.md",
        "events.jsonl",
        "findings.md",
        "hypotheses.md",
        "outline.md",
        "quotes.md",
        "report.json",
        "report.md",
        "rounds",
        "search_history.json",
        "sources.md",
        "state.json",
        "statistics.md",
        "working_memory.json",
    ]
    assert (work / "mine/report.md").read_text("utf-8") == printed
    result = ResearchResult.model_validate_json((work / "mine/report.json").read_text("utf-8"))
    assert result.question == QUESTION
    assert result.claims
    pages = {page.sha: page for page in result.sources}
    for claim in result.claims:
        for quote in claim.quotes:
            page = pages[quote.page]
            assert page.address.startswith("file://")
            assert page.fetched[:2] == "20"
            assert quote.end - quote.start == len(quote.text)
            assert any(quote.text in text for text in DOCUMENTS.values())
    assert {citation.page for citation in result.citations} <= set(pages)
    assert all(len(sha) == len(sha256().hexdigest()) for sha in pages)


def test_without_a_name_the_files_go_where_the_run_can_be_found(
    fathom: Fathom, work: Path, over: list[str]
) -> None:
    assert fathom(QUESTION, *over).code == 0
    name = fathom("runs").out.splitlines()[1].split()[0]
    assert (work / "runs" / name / "report.md").is_file()


def test_quiet_is_quiet(fathom: Fathom, over: list[str]) -> None:
    told = fathom(QUESTION, *over, "--quiet")
    assert told.code == 0
    assert told.err == ""
    assert told.out.startswith("*Extracts")


def test_json_is_printed_when_it_is_asked_for(fathom: Fathom, over: list[str]) -> None:
    told = fathom(QUESTION, *over, "--format", "json", "--quiet")
    assert json.loads(told.out)["status"] == "extracts"
    again = fathom("show", json.loads(told.out)["run_id"][:8], "--format", "json")
    assert again.out == told.out


def test_a_finished_run_is_listed_shown_and_not_worked_again(
    fathom: Fathom, work: Path, over: list[str]
) -> None:
    first = fathom(QUESTION, *over)
    listed = fathom("runs").out.splitlines()
    assert listed[0].split() == ["ID", "STATUS", "AGE", "COST", "QUESTION"]
    assert "extracts" in listed[1]
    assert listed[1].endswith(QUESTION)
    name = listed[1].split()[0]
    assert fathom("show", name).out == first.out
    assert fathom("show", name.upper()).out == first.out
    again = fathom("resume", name, "--out", "again")
    assert again.code == 0
    assert again.out == first.out
    assert (work / "again/report.md").is_file()
    assert fathom("resume", "--quiet").out == first.out


def test_nothing_found_is_an_exit_code_of_its_own(fathom: Fathom, over: list[str]) -> None:
    told = fathom("Which glaze suits stoneware kilns?", *over)
    assert told.code == 4
    assert "Nothing is reported." in told.out


def test_a_korean_question_gets_a_korean_report(fathom: Fathom, over: list[str]) -> None:
    told = fathom(KOREAN_QUESTION, *over)
    assert told.code == 0
    assert "썰물 때 내보내며 전기를 만든다" in told.out
    assert "## 출처" in told.out
    assert "## Sources" not in told.out


def test_a_model_of_ones_own_is_asked(fathom: Fathom, over: list[str]) -> None:
    with Model(researcher) as model:
        words = ["--model", "mine", "--base-url", model.base_url, "--format", "json", "--quiet"]
        told = fathom(QUESTION, *over, *words)
        assert {request.model for request in model.requests} == {"mine"}
    assert told.code == 0
    assert json.loads(told.out)["metadata"]["model_calls"] == len(model.calls)


def test_a_review_without_a_person_says_how_to_go_on(fathom: Fathom, over: list[str]) -> None:
    told = fathom(QUESTION, *over, "--review")
    assert told.code == 3
    assert told.out == ""
    assert "Plan for round 1" in told.err
    last = told.err.splitlines()[-1]
    for words in ("fathom resume", "--approve", "--edit", "--feedback", "--add", "--finish"):
        assert words in last
    name = fathom("runs").out.splitlines()[1].split()[0]
    assert "waiting for review" in fathom("runs").out
    unfinished = fathom("show", name)
    assert unfinished.code == 2
    assert unfinished.err == f"fathom: Run {name} has no report yet; go on with: fathom resume {name}\n"
    still = fathom("resume", name)
    assert still.code == 3


def test_an_approved_run_ends_with_a_report(fathom: Fathom, over: list[str]) -> None:
    told = fathom("resume", waiting(fathom, over), "--approve")
    assert told.code == 0
    assert told.out.startswith("*Extracts")


def test_queries_can_be_edited_and_added(fathom: Fathom, over: list[str]) -> None:
    words = ["--format", "json", "--quiet"]
    edited = fathom("resume", waiting(fathom, over), "--edit", "cost of a dam", "silt", *words)
    asked = [query["text"] for query in json.loads(edited.out)["asked"]]
    assert asked[1:] == ["cost of a dam", "silt"]
    added = fathom("resume", waiting(fathom, over), "--add", "weather", *words)
    assert "weather" in [query["text"] for query in json.loads(added.out)["asked"]]


def test_feedback_makes_another_plan_that_waits_again(fathom: Fathom, over: list[str]) -> None:
    name = waiting(fathom, over)
    told = fathom("resume", name, "--feedback", "only the silt, no prices")
    assert told.code == 3
    assert "only the silt, no prices" in told.err
    assert fathom("resume", name, "--approve").code == 0


def test_finish_writes_from_what_is_there(fathom: Fathom, over: list[str]) -> None:
    told = fathom("resume", waiting(fathom, over), "--finish")
    assert told.code == 4  # before the first round there is nothing yet
    assert "Nothing is reported" in told.out


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (["--edit", " "], "Edit needs at least one query or sub-question."),
        (["--feedback", " "], "needs"),
        (["--add", ""], "needs"),
    ],
)
def test_an_empty_answer_is_refused(
    fathom: Fathom, over: list[str], answer: list[str], sentence: str
) -> None:
    name = waiting(fathom, over)
    told = fathom("resume", name, *answer)
    assert told.is_refusal, told
    assert sentence in told.err


def test_an_answer_to_a_run_that_does_not_wait_is_not_lost_silently(fathom: Fathom, over: list[str]) -> None:
    assert fathom(QUESTION, *over).code == 0
    told = fathom("resume", "--approve")
    assert told.code == 2
    assert "is not waiting for an answer" in told.err


def test_an_ambiguous_id_is_refused(fathom: Fathom, over: list[str]) -> None:
    names: set[str] = set()
    while not any(sum(name[0] == first for name in names) > 1 for first in "0123456789abcdef"):
        waiting(fathom, over)
        names = {line.split()[0] for line in fathom("runs").out.splitlines()[1:]}
    letter = next(f for f in "0123456789abcdef" if sum(name[0] == f for name in names) > 1)
    told = fathom("show", letter)
    assert told.is_refusal
    assert f"There are several runs whose id begins with '{letter}'" in told.err


def test_a_question_may_be_named_like_a_command(fathom: Fathom, over: list[str]) -> None:
    """`fathom runs` lists runs; `fathom -- runs` asks the question "runs"."""
    assert fathom("runs").out.startswith("No runs yet.")
    told = fathom(*over, "--", "runs")
    assert told.code in {0, 4}
    assert told.out.startswith("# runs\n")
