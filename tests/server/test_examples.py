"""The examples that call a served Fathom, against a real server."""

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


async def test_a_served_fathom_is_talked_with(
    server: DevServer, shelf: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    follow_up = "Which capacity factor do they reach?"
    main = runpy.run_path(str(ROOT / "examples/chat.py"))["main"]
    await main(server.url, QUESTION, follow_up, [str(shelf)])
    told = capsys.readouterr().out
    first, second, third = told.split("\nyou: ")
    for part in (first, second):
        assert part.index("   plan generated") < part.index("   report chunk") < part.index("percent")
    assert "   search started" in first
    assert "   search started" not in second  # what is at hand answers it
    assert "What changed since" in third


async def test_a_served_fathom_answers_other_agents(
    tmp_path: Path, shelf: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "fathom.toml").write_text(f'[run]\ndocs = ["{shelf}"]\nrounds = 1\n')
    own = DevServer(tmp_path, {"FATHOM_HOME": str(tmp_path / "home")}).start()
    try:
        main = runpy.run_path(str(ROOT / "examples/a2a.py"))["main"]
        await main(own.url, QUESTION, "Which capacity factor do they reach?")
    finally:
        own.stop()
    told = capsys.readouterr().out
    assert told.count("completed ") == 2
    assert f"# {QUESTION}" in told
    assert "# Which capacity factor do tidal barrages and offshore wind reach?" in told
