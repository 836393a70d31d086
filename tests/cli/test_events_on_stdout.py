"""`--json`: every event is one line on standard output, and nothing else is."""

import json
from pathlib import Path

from standins.commandline import Fathom, spawned
from standins.documents import KOREAN_QUESTION, QUESTION

from fathom.events import Completed, Progress, ReportChunk, ReportWritten, Started


def read_back(printed: str) -> list[Progress]:
    return [Progress.model_validate_json(line) for line in printed.splitlines()]


def test_every_line_is_an_event_and_the_report_is_in_the_last_ones(work: Path, shelf: Path) -> None:
    told = spawned([KOREAN_QUESTION, "--docs", str(shelf), "--json", "--out", "out"], work)
    assert (told.code, told.err) == (0, "")
    events = read_back(told.out)
    assert isinstance(events[0].payload, Started)
    assert isinstance(events[-1].payload, Completed)
    (written,) = [event.payload for event in events if isinstance(event.payload, ReportWritten)]
    assert written.markdown == (work / "out/report.md").read_text("utf-8")
    chunks = [event.payload.text for event in events if isinstance(event.payload, ReportChunk)]
    assert chunks
    sentences = [line for chunk in chunks for line in chunk.splitlines()[2:] if line]
    assert all(sentence.split(". ")[0] in written.markdown for sentence in sentences)
    assert "조력" in told.out  # as itself, not as \\u escapes


def test_a_review_is_the_last_event_and_nobody_is_asked(fathom: Fathom, work: Path, shelf: Path) -> None:
    told = fathom(QUESTION, "--docs", str(shelf), "--review", "--json")
    assert told.code == 3
    assert read_back(told.out)[-1].kind == "checkpoint"
    assert "waiting for your answer" in told.err
    again = fathom("resume", "--approve", "--json")
    assert again.code in {0, 3}
    assert read_back(again.out)[0].kind == "started"


def test_what_is_refused_leaves_standard_output_empty(fathom: Fathom) -> None:
    for words in (["", "--json"], [QUESTION, "--docs", "nowhere", "--json"]):
        told = fathom(*words)
        assert (told.code, told.out) == (2, "")
        assert json.loads(told.err)["code"] == "bad_input"


def test_only_one_way_to_be_shown_is_taken(fathom: Fathom) -> None:
    told = fathom(QUESTION, "--json", "--quiet")
    assert told.is_refusal
    assert "--quiet: not allowed with argument --json" in told.err


def test_piped_progress_has_no_escapes(work: Path, shelf: Path) -> None:
    told = spawned([QUESTION, "--docs", str(shelf), "--rounds", "1"], work)
    assert told.code == 0
    assert "\x1b" not in told.out + told.err
    assert told.err.startswith("run ")
