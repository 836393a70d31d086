"""Leaving early: a reader who goes away, and a question no file system would take."""

import subprocess
from pathlib import Path

import pytest
from standins.commandline import FATHOM, spawned
from standins.documents import QUESTION


@pytest.fixture
def over(shelf: Path) -> list[str]:
    """The words of a short run over the shelf."""
    return ["--docs", str(shelf), "--rounds", "1"]


def begun(words: list[str], work: Path) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [*FATHOM, *words], cwd=work, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def test_a_reader_who_leaves_early_is_no_error(work: Path, over: list[str]) -> None:
    with begun([QUESTION, *over, "--format", "json"], work) as fathom:
        assert fathom.stdout is not None
        assert fathom.stderr is not None
        fathom.stdout.close()
        said = fathom.stderr.read()
        assert fathom.wait(timeout=30) == 0
    assert "Traceback" not in said
    assert "Exception" not in said


def test_a_surrogate_in_the_question_is_no_traceback(work: Path, over: list[str]) -> None:
    told = spawned(["tidal \udcff barrage", *over], work)
    assert told.code in {0, 2}
    assert "Traceback" not in told.err
