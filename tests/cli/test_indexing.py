"""How far reading one's own documents is, is shown to whoever waits for it."""

from pathlib import Path

import pytest
from standins.documents import TIDES, written

from fathom import DeepResearcher, ResearchRequest
from fathom.cli import run
from fathom.cli.run import IndexProgress
from fathom.settings import load_settings


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits a second in a test."""
    monkeypatch.setattr(run, "_PATIENCE_S", 0.0)
    monkeypatch.setattr(run, "_SAY_EVERY_S", 0.0)


def test_away_from_a_terminal_lines_say_how_far_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    with IndexProgress() as progress:
        progress(1, 2_000)
        progress(1_999, 2_000)
    told = capsys.readouterr()
    assert told.err.splitlines() == [
        "reading the documents: 1 of 2,000",
        "reading the documents: 1,999 of 2,000",
    ]
    assert not told.out


def test_at_a_terminal_a_bar_says_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("FORCE_COLOR", "1")
    with IndexProgress() as progress:
        progress(1, 2_000)
        progress(700, 2_000)
    assert "700/2000" in capsys.readouterr().err


def test_whoever_wants_quiet_hears_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with IndexProgress(is_quiet=True) as progress:
        progress(1, 2)
    assert capsys.readouterr() == ("", "")


async def test_a_session_tells_how_many_documents_are_read(tmp_path: Path) -> None:
    heard: list[tuple[int, int]] = []
    request = ResearchRequest(
        query="How much does tidal power cost?", docs=[written(tmp_path / "docs", TIDES)]
    )
    async with DeepResearcher(load_settings(home=tmp_path / "home")) as researcher:
        await researcher.begin(request, on_index=lambda done, total: heard.append((done, total)))
    assert heard[-1] == (len(TIDES), len(TIDES))
    assert [done for done, _ in heard] == sorted(done for done, _ in heard)
