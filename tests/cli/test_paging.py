"""A report as it is read: rendered at a terminal, in a pager where it is long, Markdown in a pipe."""

import re
from pathlib import Path

import pytest
from rich.cells import cell_len
from standins.commandline import Fathom, spawned
from standins.documents import KOREAN_QUESTION, QUESTION
from standins.tmux import IS_THERE, WHY_NOT, Tmux

from fathom.cli.text import print_markdown

PAGE = """\
# 전고체 전지의 **비중**

비중이 **47%**까지 올랐다. [1] Some words about `thread_id`, <b>tags</b> and [red]marks[/red].

| 해 | 비중 |
| --- | --- |
| 2024 | 47 % |

## Sources

1. A page \x1b]0;owned\x07\x1b[31m\u202e. <https://example.org/a> (read 2026-01-01)
   > Its own words.
"""


@pytest.fixture
def words(shelf: Path) -> list[str]:
    return ["--docs", str(shelf), "--out", "out", "--quiet"]


def test_a_pipe_gets_the_report_byte_for_byte(work: Path, words: list[str], fathom: Fathom) -> None:
    told = spawned([QUESTION, *words], work, {"PAGER": "false", "FORCE_COLOR": "1"})
    assert told.code == 0
    assert told.out == (work / "out/report.md").read_text("utf-8")
    run = fathom("runs").out.splitlines()[1].split()[0]
    assert fathom("show", run).out == told.out


def test_markdown_in_a_pipe_is_left_alone(capsys: pytest.CaptureFixture[str]) -> None:
    print_markdown(PAGE)
    assert capsys.readouterr().out == PAGE


needs_tmux = pytest.mark.skipif(not IS_THERE, reason=WHY_NOT)


@needs_tmux
@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (200, 50), (30, 60)])
def test_markdown_at_a_terminal_is_rendered(work: Path, columns: int, rows: int) -> None:
    (work / "page.md").write_text(PAGE, "utf-8")
    with Tmux(work, columns, rows) as terminal:
        terminal.runs_python("from fathom.cli.text import print_markdown as p; p(open('page.md').read())")
        assert terminal.ends() == 0
        shown, coloured = terminal.screen(), terminal.screen(with_colours=True)
        assert terminal.title() != "owned"
    text = " ".join(shown.split())
    for seen in ("전고체 전지의 비중", "비중이 47%까지 올랐다.", "<b>tags</b>", "[red]marks[/red]"):
        assert seen in text
    assert "https://example.org/a" in text
    assert not [mark for mark in ("**", "##", "| ---", "owned") if mark in shown]
    assert re.search(r"\x1b\[1m47%", coloured)
    assert all(cell_len(line) <= min(columns, 100) for line in shown.split("\n"))


def _is_at_end(terminal: Tmux, screen: str) -> bool:
    """Whether less has turned to the end; it may drop a key that comes right behind Ctrl-C."""
    terminal.presses("G")
    return "(END)" in screen


@needs_tmux
@pytest.mark.parametrize("pager", [None, "less -X"], ids=["less", "PAGER"])
def test_a_long_report_opens_in_a_pager_and_leaves_the_answer(
    work: Path, words: list[str], pager: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PAGER") if pager is None else monkeypatch.setenv("PAGER", pager)
    with Tmux(work, 80, 14) as terminal:
        terminal.runs([KOREAN_QUESTION, *words])
        rows = terminal.becomes(lambda screen: screen.rstrip().endswith(":"), "open less").split("\n")
        assert KOREAN_QUESTION in rows
        assert "ESC" not in "".join(rows)
        terminal.presses("C-c")  # the pager's own key: nothing ends
        terminal.becomes(lambda screen: _is_at_end(terminal, screen), "turn to the end")
        terminal.shows("출처", "(END)")
        terminal.presses("q")
        assert terminal.ends() == 0
        last = terminal.shows(KOREAN_QUESTION, "…")
        assert "\n출처\n" not in last
        assert terminal.flags() == "cursor 1, other screen 0"


@needs_tmux
@pytest.mark.parametrize("pager", ["cat", "", "no-such-pager", "false"])
def test_without_a_pager_the_whole_report_is_printed(
    work: Path, words: list[str], pager: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PAGER", pager)
    with Tmux(work, 80, 24) as terminal:
        terminal.runs([QUESTION, *words])
        assert terminal.ends() == 0
        everything = terminal.everything()
    assert everything.count(QUESTION) == 2  # its title; the words that were typed
    assert "\nSources\n" in everything


@needs_tmux
def test_a_report_that_fits_needs_no_pager(
    work: Path, words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PAGER")
    with Tmux(work, 120, 100) as terminal:
        terminal.runs([QUESTION, *words])
        assert terminal.ends() == 0
        assert "\nSources\n" in terminal.screen()


@needs_tmux
@pytest.mark.parametrize("term", ["dumb", "xterm"])
def test_terminals_without_colours_get_none(
    work: Path, words: list[str], term: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PAGER")
    monkeypatch.setenv("NO_COLOR", "1")
    with Tmux(work, 120, 100) as terminal:
        terminal.types(f"export TERM={term}")
        terminal.presses("Enter")
        terminal.runs([QUESTION, *words])
        assert terminal.ends() == 0
        coloured = terminal.screen(with_colours=True)
    assert not re.search(r"\x1b\[[0-9;]*\b[34][0-8]m", coloured)
    assert ("\x1b[1m" in coloured) == (term != "dumb")


@needs_tmux
def test_the_last_words_wrap_between_words(work: Path, shelf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAGER", "cat")
    with Tmux(work, 60, 60) as terminal:
        terminal.runs([QUESTION, "--docs", str(shelf), "--out", "out"])
        assert terminal.ends() == 0
        said = terminal.everything().rpartition("Report: ")[2].split("\n")
    assert [line.strip() for line in said[:2]] == [
        "extracts, not a report. Written to out/report.md and",
        "the files beside it",
    ]
