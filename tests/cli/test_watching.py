"""A run on a real terminal: looked at, resized, steered by keys, left, and come back to."""

import json
import os
import pkgutil
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from standins.commandline import PATIENCE_S, Fathom
from standins.documents import KOREAN_QUESTION, QUESTION
from standins.model import Model
from standins.replies import Reply
from standins.tmux import IS_THERE, WHY_NOT, Tmux
from standins.waiting_model import Paced
from standins.working_model import never_satisfied, scripted

from fathom import cli

pytestmark = pytest.mark.skipif(not IS_THERE, reason=WHY_NOT)
KOREAN = (
    "조력 발전소의 경제성과 환경 영향에 관한 장기 연구 보고서: 서해안 사례를 중심으로 본 발전 단가와 갯벌"
)
KEYS = "p pause   s stop and write   a add a query   q leave"


@pytest.fixture
def library(shelf: Path) -> Path:
    """The shelf, with a document whose name is long and Korean, and one that wants to move the cursor."""
    text = "조력 발전소는 밀물 때 바닷물을 가두었다가 썰물 때 내보내며 전기를 만든다."
    (shelf / "긴.md").write_text(f"# {KOREAN}\n\n{text}\n", "utf-8")
    (shelf / "evil.md").write_text(f"# \x1b[2J\x1b[31mTides\n\n{text} Tidal barrages compare.\n", "utf-8")
    return shelf


@pytest.fixture
def paced() -> Paced:
    """A model that stands still with the third page, and is never satisfied."""
    return Paced(scripted(judge=never_satisfied), "read", 3)


@pytest.fixture
def words(library: Path, paced: Paced) -> Iterator[list[str]]:
    """What is typed after the question."""
    with Model(paced) as model:
        yield ["--docs", str(library), "--model", "m", "--base-url", model.base_url, "--out", "out"]
        paced.let_go()


def rows_of(screen: str) -> list[str]:
    return screen.rstrip("\n").split("\n")


def is_whole(screen: str, columns: int) -> bool:
    """Whether every line fits, and the picture is there from its first line to its last."""
    rows = rows_of(screen)
    fits = all(cell_len(row) <= columns for row in rows)
    return fits and rows[0].startswith("Fathom  ") and rows[-1].startswith("p ")


def test_a_run_at_80_by_24_is_calm_and_ends_as_a_few_lines(
    work: Path, words: list[str], paced: Paced, fathom: Fathom
) -> None:
    with Tmux(work, 80, 24) as terminal:
        terminal.runs([KOREAN_QUESTION, *words, "--language", "English"])
        shown = terminal.shows("Round 1 of", "reading", "Pages  3 read", "drawing claims", KEYS)
        rows = rows_of(shown)
        assert is_whole(shown, 80)
        assert len(rows) == 24
        assert rows[0].startswith(f"Fathom  {KOREAN_QUESTION}")
        assert [row.split()[0] for row in rows if row.endswith("───")] == [
            "─" * 80,
            "Searches",
            "Pages",
            "Found",
        ]
        outcomes = [row for row in rows if row.endswith(("claim", "claims", "found"))]
        assert {cell_len(row) for row in outcomes} == {80}  # Korean or not, they end in the same column
        assert any("발전소의" in row and "…" in row for row in outcomes)
        assert "not judged yet, 0.80 is enough" in shown
        paced.let_go()
        assert terminal.ends() == 0
        everything = terminal.everything()
    assert "Searches" not in everything
    assert everything.count("Fathom  ") == 0
    last = everything[everything.index("Done after 0:") :].split("\n")[:2]
    assert re.fullmatch(
        r"Done after 0:\d\d: [23] rounds, \d pages read, \d+ (?:claims verified|passages found),", last[0]
    )
    assert re.fullmatch(
        r"(?:score 0\.\d\d of 0\.80|no model judged them), spent \$0\.00 of \$1\.00\.", last[1]
    )
    assert "\nSources\n" in everything  # rendered, not Markdown
    assert "## " not in everything
    assert (work / "out/report.md").is_file()


def test_a_run_follows_every_size_of_its_window(work: Path, words: list[str], paced: Paced) -> None:
    with Tmux(work, 200, 50) as terminal:
        terminal.runs([QUESTION, *words])
        wide = terminal.shows("drawing claims", KEYS, "Lately")
        assert is_whole(wide, 200)
        assert "Searches" in next(row for row in rows_of(wide) if "Found" in row)  # beside each other
        for columns, rows in ((80, 24), (60, 14), (40, 6), (200, 50), (100, 40)):
            terminal.resizes(columns, rows)
            shown = terminal.becomes(
                lambda screen, w=columns, h=rows: is_whole(screen, w) and len(rows_of(screen)) == h,  # type: ignore[misc]
                f"fill {columns} by {rows}",
            )
            assert shown.count("Fathom  ") == 1
            assert shown.count("Round 1 of") == 1
        paced.let_go()
        assert terminal.ends() == 0
        assert "Searches" not in terminal.everything()


def test_keys_add_a_query_pause_go_on_and_stop(work: Path, words: list[str], paced: Paced) -> None:
    paced.hold("read", 2)
    with Tmux(work, 80, 24) as terminal:
        terminal.runs([QUESTION, *words, "--rounds", "4", "--sources", "2"])
        terminal.shows("drawing claims", KEYS)
        terminal.presses("Up", "F5", "x")  # keys that mean nothing
        terminal.presses("a")
        terminal.types("갯벌과 silt!")
        terminal.presses("BSpace")
        shown = terminal.shows("add a query: 갯벌과 silt", "drawing claims")
        assert is_whole(shown.replace("add a query", "p "), 80)
        terminal.presses("Enter")
        terminal.shows("Added to the next round: 갯벌과 silt", KEYS)
        terminal.presses("a")
        terminal.types("never mind")
        terminal.presses("Escape")
        terminal.shows(KEYS)
        terminal.presses("p")
        terminal.shows("Pausing as soon as the step in hand is done.")
        assert paced.reached.wait(PATIENCE_S)  # else the first page would be held, not let go
        paced.hold("read")
        terminal.shows("paused", "p go on", "Paused; go on with p, or from anywhere: fathom control")
        terminal.presses("p")
        terminal.shows("Round 2 of", "갯벌과 silt", "drawing claims", KEYS)
        terminal.presses("s")
        terminal.shows("No new searches; the report is written from what is known.")
        paced.let_go()
        assert terminal.ends() == 0
    told = json.loads((work / "out/report.json").read_text("utf-8"))
    assert "갯벌과 silt" in [query["text"] for query in told["asked"]]
    assert "never mind" not in [query["text"] for query in told["asked"]]
    assert told["metadata"]["stop"] == "a person's word"


def test_ctrl_c_once_ends_the_step_and_twice_leaves_at_once(
    work: Path, words: list[str], paced: Paced, fathom: Fathom
) -> None:
    with Tmux(work, 80, 24) as terminal:
        terminal.runs([QUESTION, *words])
        terminal.shows("drawing claims", KEYS)
        terminal.presses("C-c")
        terminal.shows("Finishing the step in hand; once more leaves at once. Nothing is lost.")
        paced.hold("judge")
        assert terminal.ends() == 130
        shown = terminal.shows("fathom: interrupted; go on with: fathom resume")
        assert "Traceback" not in shown
        name = shown.split("fathom resume ")[1].split()[0]
        terminal.runs(["resume", name])
        terminal.shows(QUESTION, "going on", "5 found, 5 verified", KEYS)
        terminal.presses("q")
        terminal.shows("once more leaves at once")
        terminal.presses("C-c")
        assert terminal.ends() == 130
        is_sane(terminal)
    paced.let_go()
    assert fathom("resume", name, "--quiet").code == 0


def is_sane(terminal: Tmux) -> None:
    """Whether the shell has its terminal back: lines, echo, a cursor, and its own screen."""
    terminal.types("clear; stty -a | tr ' ' '\\n' | grep -x -e icanon -e echo | tr '\\n' ' '; echo here")
    terminal.presses("Enter")
    terminal.shows("icanon echo here")
    assert terminal.flags() == "cursor 1, other screen 0"


def test_ctrl_z_gives_the_terminal_back_and_fg_takes_it_again(
    work: Path, words: list[str], paced: Paced
) -> None:
    with Tmux(work, 80, 24) as terminal:
        terminal.runs([QUESTION, *words])
        terminal.shows("drawing claims", KEYS)
        terminal.presses("C-z")
        terminal.shows("Stopped")
        is_sane(terminal)
        terminal.types("fg")
        terminal.presses("Enter")
        assert is_whole(terminal.shows("drawing claims", KEYS), 80)
        paced.let_go()
        terminal.becomes(lambda screen: "Written to" in screen, "end")
        is_sane(terminal)


@pytest.mark.parametrize("number", [signal.SIGTERM])
def test_whatever_ends_it_the_terminal_is_given_back(
    work: Path, words: list[str], number: signal.Signals
) -> None:
    with Tmux(work, 80, 24) as terminal:
        terminal.runs([QUESTION, *words])
        terminal.shows("drawing claims", KEYS)
        os.kill(terminal.process(), number)
        assert terminal.ends() == 128 + number
        is_sane(terminal)


@pytest.mark.parametrize(
    ("environment", "is_live"),
    [({"NO_COLOR": "1"}, True), ({"TERM": "dumb"}, False)],
    ids=["NO_COLOR", "dumb"],
)
def test_a_terminal_gets_no_more_than_it_can_show(
    work: Path, words: list[str], paced: Paced, environment: dict[str, str], is_live: bool
) -> None:
    with Tmux(work, 80, 24) as terminal:
        for name, value in environment.items():
            terminal.types(f"export {name}={value}")
            terminal.presses("Enter")
        terminal.runs([QUESTION, *words])
        terminal.shows("drawing claims", KEYS) if is_live else terminal.shows("reading 3 pages")
        coloured = terminal.screen(with_colours=True)
        paced.let_go()
        assert terminal.ends() == 0
    assert not re.search(r"\x1b\[[0-9;]*\b[34][0-8]m", coloured)
    assert ("\x1b[1m" in coloured) == is_live


def test_another_terminal_pauses_goes_on_adds_and_stops(
    work: Path, words: list[str], paced: Paced, fathom: Fathom
) -> None:
    paced.hold("read", 2)
    with Tmux(work, 80, 24) as terminal:
        terminal.runs([QUESTION, *words, "--plain", "--rounds", "4", "--sources", "2"])
        name = terminal.shows("reading 2 pages").split("fathom resume ")[1].split()[0]
        assert (
            fathom("control", name, "add", "갯벌과 silt").out
            == f"Run {name} asks that too, in its next round.\n"
        )
        assert "stands still after the step in hand" in fathom("control", name, "pause").out
        assert paced.reached.wait(PATIENCE_S)  # else the first page would be held, not let go
        paced.hold("read")
        terminal.shows("Paused; go on with p, or from anywhere", f"fathom control {name} go")
        told = fathom("control", name, "pause")
        assert told.is_refusal
        assert "is not running" in told.err
        added = fathom("control", name, "add", "turbines").out
        assert f"is paused; it asks that too when it goes on: fathom control {name} go" in added
        assert "fathom resume" in fathom("control", name, "go").out
        terminal.shows("round 2/4  reading", "갯벌과 silt")
        paced.reached.wait(PATIENCE_S)
        assert "writes its report" in fathom("control", name, "stop").out
        paced.let_go()
        assert terminal.ends() == 0
    over = fathom("control", name, "stop")
    assert over.is_refusal
    assert "is over" in over.err
    told_: dict[str, Any] = json.loads((work / "out/report.json").read_text("utf-8"))
    assert told_["metadata"]["stop"] == "a person's word"


def test_nothing_flickers_and_nothing_is_cleared(work: Path, words: list[str], paced: Paced) -> None:
    with Tmux(work, 80, 24) as terminal:
        terminal.records(work / "sent")
        terminal.runs([KOREAN_QUESTION, *words, "--language", "English"])
        terminal.shows("drawing claims", KEYS)
        terminal.becomes(lambda screen: not re.search(r" 0:0[01]\n", screen), "count the seconds")
        paced.let_go()
        assert terminal.ends() == 0
    sent = (work / "sent").read_bytes().partition(b"\x1b[?1049h")[2]
    picture, _, after = sent.partition(b"\x1b[?1049l")
    assert b"Searches" in picture
    assert b"\x1b[2J" not in picture
    assert b"\x1b[K" not in picture
    assert b"\x1b[?1049h" not in after


def test_an_error_gives_the_terminal_back(work: Path, library: Path) -> None:
    with Model(lambda _: Reply.wrong_key()) as model, Tmux(work, 80, 24) as terminal:
        terminal.runs([QUESTION, "--docs", str(library), "--model", "m", "--base-url", model.base_url])
        assert terminal.ends() in {1, 2}
        terminal.shows("fathom: ")
        is_sane(terminal)


def test_without_termios_keys_are_off_and_it_is_said(work: Path, words: list[str], paced: Paced) -> None:
    with Tmux(work, 80, 24) as terminal:
        terminal.runs_python(
            "import sys; sys.modules['termios'] = None\n"
            f"from fathom.cli import main; sys.exit(main({[QUESTION, *words]!r}))"
        )
        terminal.shows("drawing claims", "Keys are off on this system", "Ctrl-C leave; nothing is lost")
        paced.let_go()
        assert terminal.ends() == 0
        is_sane(terminal)


def test_no_module_needs_termios_to_be_imported() -> None:
    names = [info.name for info in pkgutil.walk_packages(cli.__path__, "fathom.cli.")]
    imported = "; ".join(f"import {name}" for name in names)
    code = f"import sys; sys.modules['termios'] = None; {imported}"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=PATIENCE_S)


def test_a_batch_gives_the_terminal_back_on_ctrl_z_and_at_its_end(
    work: Path, words: list[str], paced: Paced
) -> None:
    (work / "questions.txt").write_text(f"{QUESTION}\n{KOREAN_QUESTION}\n", "utf-8")
    with Tmux(work, 80, 24) as terminal:
        terminal.runs(["batch", "questions.txt", *words])
        paced.reached.wait(PATIENCE_S)
        terminal.shows("0 of 2 done, 2 in hand", KOREAN_QUESTION[:12])
        assert terminal.flags() == "cursor 0, other screen 0"
        terminal.presses("C-z")
        terminal.shows("Stopped")
        is_sane(terminal)
        terminal.types("fg")
        terminal.presses("Enter")
        terminal.becomes(lambda _: terminal.flags().startswith("cursor 0"), "hide the cursor again")
        paced.let_go()
        terminal.shows("2 of 2 have a report")
        is_sane(terminal)
