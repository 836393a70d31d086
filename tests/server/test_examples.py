"""The example that calls a served Fathom, against a real server."""

import runpy
from pathlib import Path

import pytest
from standins.devserver import ROOT, DevServer
from standins.documents import QUESTION

pytestmark = pytest.mark.server


async def test_a_served_fathom_is_called_reviewed_and_read(
    server: DevServer, shelf: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    await runpy.run_path(str(ROOT / "examples/remote.py"))["main"](server.url, QUESTION, [str(shelf)])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("planned: How do tidal barrages compare")
    assert lines[1:4] == ["done: review", "done: searcher", "done: searcher"]
    assert "done: writer" in lines
    assert f"# {QUESTION}" in lines
    assert "## Sources" in lines
