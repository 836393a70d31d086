"""Asking on from the command line."""

import json
import re
from pathlib import Path

from standins.commandline import Fathom
from standins.documents import QUESTION

FOLLOW_UP = "What are the main limits of a tidal barrage?"


def test_a_follow_up_is_a_run_of_its_own_that_searches_nothing_it_knows(
    fathom: Fathom, shelf: Path, work: Path
) -> None:
    assert fathom(QUESTION, "--docs", str(shelf), "--rounds", "1", "--quiet").code == 0
    earlier = fathom("runs").out.splitlines()[1].split()[0]
    told = fathom("ask", earlier, FOLLOW_UP, "--out", "new")
    assert told.code == 0
    assert "Its main limits are the cost of the dam and the silt" in told.out
    assert re.search(r"found \d+ for:", told.err) is None
    assert "understood" not in told.err
    assert "looking first at what is at hand" in told.err
    cost_log = json.loads((work / "new/report.json").read_text("utf-8"))
    assert cost_log["asked"] == []
    assert cost_log["thread"][0]["run"].startswith(earlier)
    assert fathom("verify", "new/report.json").code == 0
    lines = fathom("runs").out.splitlines()
    assert len(lines) == 3
    assert lines[1].endswith(f"(follows {earlier})")


def test_what_a_question_is_taken_to_mean_is_said(fathom: Fathom, shelf: Path) -> None:
    first = "When was the tidal barrage at Grey Sound opened?"
    assert fathom(first, "--docs", str(shelf), "--rounds", "1", "--quiet").code == 0
    earlier = fathom("runs").out.splitlines()[1].split()[0]
    told = fathom("ask", earlier, "And what are its main limits?")
    assert "understood as: What are the tidal barrage's main limits?" in told.err.splitlines()
    assert "Its main limits are the cost of the dam and the silt" in told.out


def test_without_a_question_the_thread_is_shown_and_closed(fathom: Fathom, shelf: Path) -> None:
    assert fathom(QUESTION, "--docs", str(shelf), "--rounds", "1", "--quiet").code == 0
    first = fathom("runs").out.splitlines()[1].split()[0]
    assert fathom("ask", first, FOLLOW_UP, "--quiet").code == 0
    shown = fathom("ask", first)
    assert (shown.code, shown.err) == (0, "")
    lines = shown.out.splitlines()
    assert lines[0] == f"Thread {first}, active, 2 questions"
    assert lines[2] == f"{first}  completed  {QUESTION}"
    assert lines[5].endswith(f"  completed  {FOLLOW_UP}")
    assert "Its main limits are" in lines[6]
    assert fathom("ask", first, "--close").out.startswith(f"Thread {first}, closed, 2 questions")
    told = fathom("ask", first, FOLLOW_UP)
    assert told.is_refusal
    assert told.err == f"fathom: The thread of run {first} is closed; ask a new question instead.\n"
    assert fathom("ask", first, "--close").is_refusal
    assert fathom("ask", first, FOLLOW_UP, "--close").is_refusal


def test_what_cannot_be_followed_is_refused_in_one_sentence(fathom: Fathom, shelf: Path) -> None:
    assert fathom("ask", "nope", FOLLOW_UP).is_refusal
    assert fathom(QUESTION, "--docs", str(shelf), "--review", "--quiet").code == 3
    waiting = fathom("runs").out.splitlines()[1].split()[0]
    told = fathom("ask", waiting, FOLLOW_UP)
    assert told.code == 2
    assert told.err == f"fathom: Run {waiting} has no report yet; go on with: fathom resume {waiting}\n"
    assert fathom("ask", waiting, "").is_refusal
    assert fathom("ask").is_refusal
    assert fathom("ask", "nope").is_refusal
    assert fathom("ask", waiting, FOLLOW_UP, "--rounds", "0").is_refusal


def test_the_help_tells_of_follow_ups(fathom: Fathom) -> None:
    assert "only what it leaves open is searched for" in " ".join(fathom("ask", "--help").out.split())
    assert 'fathom ask ID "QUESTION"' in fathom("--help").out
