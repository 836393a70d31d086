"""Help that comes at once, and a check-up that keeps secrets."""

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from standins.commandline import Fathom

from fathom.cli import COMMANDS

HEAVY = ("langgraph", "langchain", "langsmith", "openai", "httpx", "numpy", "tantivy")


def heavy_after(words: list[str], work: Path) -> tuple[str, list[str]]:
    """What a command said, and the large packages that it loaded."""
    code = (
        "import sys\nfrom fathom.cli import main\n"
        f"try:\n    main({words!r})\nexcept SystemExit: pass\n"
        "print('', *{name.partition('.')[0] for name in sys.modules}, file=sys.stderr)"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=work)
    *said, loaded = told.stderr.splitlines()
    heavy = [name for name in loaded.split() if name.startswith(HEAVY)]
    return told.stdout + "".join(said), heavy


@pytest.mark.parametrize("words", [["--help"], ["runs", "--help"], ["resume", "--help"], []])
def test_help_loads_nothing_heavy(words: list[str], work: Path) -> None:
    said, heavy = heavy_after(words, work)
    assert said.startswith("usage: fathom")
    assert heavy == []
    assert list(work.iterdir()) == []


@pytest.mark.parametrize(
    "words",
    [
        ["rnus"],
        ["x", "--depth", "nonsense"],
        ["x", "--docs", "nowhere"],
        ["x", "--engines", "nowhere"],
        ["show", "ffff"],
        ["verify", "nowhere"],
    ],
)
def test_what_is_refused_is_refused_before_anything_heavy_is_loaded(words: list[str], work: Path) -> None:
    said, heavy = heavy_after(words, work)
    assert said.startswith("fathom: ")
    assert heavy == []


def test_the_module_is_the_same_command(work: Path) -> None:
    asked = [sys.executable, "-m", "fathom", "runz"]
    told = subprocess.run(asked, capture_output=True, text=True, check=False, cwd=work)
    assert told.returncode == 2
    assert "did you mean runs?" in told.stderr


@pytest.mark.parametrize("columns", [80, 200])
def test_help_tells_every_command_and_exit_code_and_fits(
    fathom: Fathom, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    told = fathom("--help")
    assert told.code == 0
    for name, command in COMMANDS.items():
        assert f"  fathom {command.shape} " in told.out
        helped = fathom(name, "--help")
        assert helped.code == 0
        assert max(map(len, helped.out.splitlines())) <= columns
    for code in ("0 ", "1 ", "2 ", "3 ", "4 ", "5 ", "130"):
        assert f"\n  {code} " in told.out
    assert max(map(len, told.out.splitlines())) <= columns


def test_no_words_at_all_show_the_help(fathom: Fathom) -> None:
    told = fathom()
    assert told.code == 2
    assert told.out.startswith("usage: fathom")


def test_the_doctor_says_what_works_with_nothing(fathom: Fathom, tmp_path: Path) -> None:
    told = fathom("doctor")
    assert told.code == 0
    assert told.err == ""
    assert version("fathom-research") in told.out
    assert "fathom.sqlite (not made yet)" in told.out
    assert "none: set OPENAI_API_KEY" in told.out
    assert "not configured: needs TAVILY_API_KEY" in told.out
    assert "would search with duckduckgo and wikipedia and think with no model" in told.out
    assert not (tmp_path / "home").exists()


def test_the_doctor_never_shows_a_key(fathom: Fathom, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-1")
    monkeypatch.setenv("TAVILY_API_KEY", "tvly-very-secret-2")
    told = fathom("doctor")
    assert told.code == 0
    assert "very-secret" not in told.out + told.err
    assert "OpenAI, key set" in told.out
    assert "would search with tavily, then" in told.out


def test_the_doctor_names_the_server(fathom: Fathom, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FATHOM_BASE_URL", "http://127.0.0.1:11434/v1/")
    monkeypatch.setenv("FATHOM_MODEL", "llama3.1")
    told = fathom("doctor")
    assert "llama3.1 plans and writes, llama3.1 reads; http://127.0.0.1:11434/v1, no key" in told.out


def test_the_doctor_finds_a_home_that_cannot_be_written(
    fathom: Fathom, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("FATHOM_HOME", str(tmp_path / "file" / "home"))
    told = fathom("doctor")
    assert told.code == 2
    assert "NOT WRITABLE" in told.out


def test_the_doctor_reads_the_file_beside_it(fathom: Fathom, work: Path) -> None:
    (work / "fathom.toml").write_text('model = "from-the-file"\nbase_url = "http://127.0.0.1:1/v1"\n')
    assert "from-the-file plans and writes" in fathom("doctor").out


def test_the_version_is_told(fathom: Fathom) -> None:
    told = fathom("--version")
    assert (told.code, told.out.split()[0]) == (0, "fathom")
    assert version("fathom-research") in told.out
