"""The command line as tests use it: in this process, in a folder of its own."""

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from standins.library import stocked

from fathom.cli.main import main


@dataclass(frozen=True)
class Told:
    """What a command left behind."""

    code: int
    out: str
    err: str


Fathom = Callable[..., Told]


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    """Documents to search."""
    return stocked(tmp_path / "shelf")


@pytest.fixture
def fathom(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Told]:
    """Call the command line in an empty folder with an empty home."""
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    monkeypatch.setenv("FATHOM_HOME", str(tmp_path / "home"))

    def call(*words: str) -> Told:
        capsys.readouterr()
        try:
            code = main(words)
        except SystemExit as left:  # argparse's own way to say no
            code = int(left.code or 0)
        printed = capsys.readouterr()
        return Told(code, printed.out, printed.err)

    return call


def spawned(*words: str, cwd: Path, **options: object) -> "subprocess.CompletedProcess[str]":
    """The same in a process of its own, for what only a process shows."""
    whole = [sys.executable, "-m", "fathom.cli.main", *words]
    more: dict[str, object] = {"env": dict(os.environ), "stdin": subprocess.DEVNULL, **options}
    return subprocess.run(whole, cwd=cwd, capture_output=True, text=True, check=False, timeout=60, **more)  # type: ignore[call-overload,no-any-return]
