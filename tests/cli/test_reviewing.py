"""A person at a terminal: keys in, a decision out."""

import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from standins.commandline import Fathom, Terminal
from standins.documents import QUESTION

CHOICES = "? all keys\r\n> "


@pytest.fixture
def words(shelf: Path) -> list[str]:
    """A run over the shelf that asks before every round."""
    return [QUESTION, "--docs", str(shelf), "--rounds", "1", "--review", "--quiet"]


def test_every_key_does_what_it_says(work: Path, words: list[str], fathom: Fathom) -> None:
    terminal = Terminal(words, work)
    terminal.says("Plan for round 1")
    terminal.says(CHOICES)
    terminal.types("stop")  # one word alone decides nothing
    terminal.says("“stop” alone decides nothing")
    terminal.says(CHOICES)
    terminal.types("f")
    terminal.says("what should change: ")
    terminal.types("say more about silt")
    terminal.says("say more about silt")
    terminal.says(CHOICES)
    terminal.types("No, leave the weather out of it now")  # words such as "no" or "now" are just words
    terminal.says("No, leave the weather out of it now")
    terminal.says(CHOICES)
    terminal.types("1")
    terminal.says("query: ")
    terminal.types("\x15turbines that stand still")  # Ctrl-U clears what is there to be edited
    terminal.says("Plan for round 1 (changed)")
    terminal.says(CHOICES)
    terminal.types("+ 조력 발전소의 흙")
    terminal.says("조력 발전소의 흙")
    terminal.says(CHOICES)
    terminal.types("")
    assert terminal.ends() == 0
    assert QUESTION in terminal.screen.split(CHOICES)[-1]  # the report, rendered
    listed = fathom("show", fathom("runs").out.splitlines()[1].split()[0], "--format", "json").out
    assert '"text": "turbines that stand still"' in listed
    assert '"text": "조력 발전소의 흙"' in listed
    assert '"text": "No, leave the weather out of it now"' not in listed


def test_a_line_is_edited_from_what_it_was(work: Path, words: list[str], fathom: Fathom) -> None:
    terminal = Terminal(words, work)
    terminal.says(CHOICES)
    terminal.types("1")
    terminal.says("query: ")
    terminal.types(" with silt")
    terminal.says("with silt")
    terminal.says(CHOICES)
    terminal.types("")
    assert terminal.ends() == 0
    listed = fathom("show", fathom("runs").out.splitlines()[1].split()[0], "--format", "json").out
    edited = next(query["text"] for query in json.loads(listed)["asked"] if "with silt" in query["text"])
    assert len(edited) > len(" with silt")


def test_ctrl_c_at_the_question_leaves_it_open(work: Path, words: list[str], fathom: Fathom) -> None:
    terminal = Terminal(words, work)
    terminal.says(CHOICES)
    terminal.presses("\x03")
    assert terminal.ends() == 3
    assert "waiting for your answer" in terminal.screen
    assert "Traceback" not in terminal.screen


class Keyboard(io.StringIO):
    """Keys pressed beforehand, at what says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def press(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Press keys for the next command."""
    return lambda keys: monkeypatch.setattr("sys.stdin", Keyboard(keys))


def test_a_query_is_added_and_the_plan_goes_on(
    words: list[str], fathom: Fathom, press: Callable[[str], None]
) -> None:
    press("a\n조력 발전소의 흙\n\n")
    told = fathom(*words, "--format", "json")
    assert told.code == 0
    assert '"text": "조력 발전소의 흙"' in told.out


def test_leaving_keeps_the_run_and_enter_goes_on_with_it(
    words: list[str], fathom: Fathom, press: Callable[[str], None]
) -> None:
    for keys in ("q\n", ""):  # the key, or the end of the input
        press(keys)
        told = fathom(*words)
        assert told.code == 3
        assert "waiting for your answer: fathom resume" in told.err
    press("\n")
    assert fathom("resume").code == 0


def test_writing_now_ends_the_search(words: list[str], fathom: Fathom, press: Callable[[str], None]) -> None:
    press("w\n")
    told = fathom(*words)
    assert told.code == 4
    assert "A person ended the research" in told.out


def test_a_plan_without_queries_does_not_go_on(
    words: list[str], fathom: Fathom, press: Callable[[str], None]
) -> None:
    press("-1 2 3 4 5\n-1\n-1\n-1\n-1\n-1\n\nq\n")
    told = fathom(*words)
    assert told.code == 3
    assert "No query is left" in told.err


@pytest.mark.parametrize("keys", ["1\n", "a\n", "f\n", "-1\n", "?\n"])
def test_leaving_in_the_middle_of_an_answer_decides_nothing(
    words: list[str], fathom: Fathom, press: Callable[[str], None], keys: str
) -> None:
    press(keys)
    told = fathom(*words)
    assert told.code == 3
    assert "waiting for your answer" in told.err


def test_feedback_after_changes_says_that_they_are_left_behind(
    words: list[str], fathom: Fathom, press: Callable[[str], None]
) -> None:
    press("+ turbines that stand still\nsay more about silt\nsay more about eels\n\n")
    told = fathom(*words)
    assert told.err.count("the changes above are left behind") == 1
