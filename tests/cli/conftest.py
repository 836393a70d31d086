"""The command line on an empty folder with an empty home, and documents to search."""

from pathlib import Path

import pytest
from standins.commandline import Fathom, Told
from standins.documents import stocked

from fathom.cli import main


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    """Documents to search."""
    return stocked(tmp_path / "shelf")


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The empty folder that commands run in; the home is beside it and not made yet."""
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("FATHOM_HOME", str(tmp_path / "home"))
    return folder


@pytest.fixture
def fathom(work: Path, capsys: pytest.CaptureFixture[str]) -> Fathom:
    """Call the command line in this process."""

    def call(*words: str) -> Told:
        capsys.readouterr()
        try:
            code = main(words)
        except SystemExit as left:  # argparse's own way to say no
            code = int(left.code or 0)
        printed = capsys.readouterr()
        return Told(code, printed.out, printed.err)

    return call
