"""A disk that is full: one sentence, nothing lost."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from standins.commandline import PATIENCE_S
from standins.documents import TIDES, written

from fathom.cli import main

pytestmark = pytest.mark.kill

# No file of the process may grow beyond this; it is the nearest thing to a full disk without a disk.
ROOM_BYTES = 200_000
CRAMPED = f"""
import resource, sys
hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
resource.setrlimit(resource.RLIMIT_FSIZE, ({ROOM_BYTES}, hard))
from fathom.cli import main
sys.exit(main())
"""


def test_a_full_disk_stops_the_run_and_a_resume_finishes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    docs = written(tmp_path / "docs", TIDES)
    done = subprocess.run(
        [sys.executable, "-c", CRAMPED, "How much does tidal power cost?", "--docs", docs, "--out", "out"],
        env=dict(os.environ),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )
    last = done.stderr.splitlines()[-1]
    assert done.returncode == 1
    assert last.startswith("fathom: The database could not be written: ")
    assert "go on with: fathom resume " in last
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert main(["resume", "--out", "out"]) == 0
    assert "euros for each megawatt hour" in capsys.readouterr().out
