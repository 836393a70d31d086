"""Pages whose words would act on whoever looks at them: in files, in JSON, at a terminal."""

import json
import unicodedata
from pathlib import Path

import pytest
from rich.console import Console
from standins.commandline import Told, spawned

from fathom.cli.markdown import _Page

EVIL = "\x1b]0;owned\x07\x1b[2J\u202etxet\u2066 \u0085\u2028 ‎\x9b31m"
DOCS = {
    f"tidal\u202efdp.power {n}.md": f"# Tidal power {EVIL}\n\nTidal power costs 9{n} euros {EVIL} now.\n"
    for n in range(3)
}


def active(text: str) -> set[str]:
    """The characters that a terminal or an editor acts on."""
    return {c for c in text if c != "\n" and unicodedata.category(c) in {"Cc", "Cf", "Zl", "Zp"}}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("hostile")
    (place / "docs").mkdir()
    for name, text in DOCS.items():
        (place / "docs" / name).write_text(text, "utf-8")
    return place


def fathom(home: Path, *words: str) -> Told:
    return spawned(words, home, {"FATHOM_HOME": str(home), "FATHOM_LOCAL_SERVERS": "{}"})


def test_nothing_that_a_terminal_acts_on_comes_out_of_a_run(home: Path) -> None:
    question = f"How much does tidal power cost? {EVIL}"
    told = fathom(home, question, "--docs", "docs", "--out", "out", "--json")
    assert told.code in (0, 4), told.err
    assert active(told.out) == set()
    kinds = [json.loads(line)["kind"] for line in told.out.splitlines()]
    assert kinds[-1] == "completed"
    plain = fathom(home, question, "--docs", "docs")
    assert active(plain.err) == set()
    lines = (home / "out" / "events.jsonl").read_text("utf-8")
    assert active(lines) == set()
    assert [json.loads(line)["kind"] for line in lines.splitlines()] == kinds
    for path in (home / "out").rglob("*"):
        assert active(path.name) == set()
        if path.suffix in {".json", ".jsonl"}:
            assert active(path.read_text("utf-8")) == set(), path.name


def test_no_command_prints_what_a_terminal_acts_on(home: Path) -> None:
    report = home / "out" / "report.json"
    for words in (
        ["runs"],
        ["runs", "--json"],
        ["verify", str(report)],
        ["verify", str(report), "--json"],
        ["show", f"\x1b[2J{EVIL[2:]}"],
        ["verify", f"no\u202esuch{EVIL}.json"],
        ["--model", f"x{EVIL}", f"how {EVIL}", "--docs", f"nowhere{EVIL}"],
        ["control", "0", f"{EVIL}"],
    ):
        told = fathom(home, *words)
        assert active(told.out + told.err) == set(), (words, told)
        assert "Traceback" not in told.err


def test_names_of_files_in_addresses_are_not_bold() -> None:
    console = Console(force_terminal=True, color_system="standard", width=100, legacy_windows=False)
    with console.capture() as captured:
        console.print(
            _Page("See src/fathom/__init__.py and <https://a.example/x/__init__.py>, **bold**, __strong__.")
        )
    shown = captured.get()
    assert "src/fathom/__init__.py" in shown
    assert "https://a.example/x/__init__.py" in shown
    assert "\x1b[1mbold\x1b[0m" in shown
    assert "\x1b[1mstrong\x1b[0m" in shown
