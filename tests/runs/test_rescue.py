"""A damaged database: what can be read is saved, and the damaged file stays as it is."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from standins.documents import TIDES, written

from fathom import DeepResearcher, ResearchRequest
from fathom.errors import BadInput
from fathom.runs.rescue import salvage_rows
from fathom.settings import load_settings

pytestmark = pytest.mark.whole
QUESTION = "How much does tidal power cost?"


def flip(path: Path, start: int, count: int = 64) -> None:
    body = bytearray(path.read_bytes())
    for place in range(start, min(start + count, len(body))):
        body[place] ^= 0xFF
    path.write_bytes(body)


async def research(home: Path) -> tuple[str, str]:
    """A finished run without a model: its id and its report."""
    docs = written(home / "docs", TIDES)
    researcher = DeepResearcher(load_settings(home=home))
    result = await researcher.research(ResearchRequest(query=QUESTION, docs=[docs]))
    return result.run_id, result.report


@pytest.mark.parametrize(
    "spoil",
    [
        lambda path: flip(path, 0),  # the magic words
        lambda path: flip(path, 16, 8),  # page size and versions
        lambda path: flip(path, 56, 8),  # the kind of text and the layout's version
        lambda path: flip(path, 100),  # where tables are found
        lambda path: flip(path, 104, 500),
        lambda path: Path(f"{path}-wal").write_bytes(b"\x37\x7f\x06\x82" + b"x" * 5000),  # a broken WAL
    ],
)
async def test_reports_are_saved_from_a_file_that_cannot_be_opened(
    tmp_path: Path, spoil: Callable[[Path], None]
) -> None:
    home, saved = tmp_path / "home", tmp_path / "saved"
    run, report = await research(home)
    file = home / "fathom.sqlite"
    spoil(file)
    before = file.read_bytes()
    done = await DeepResearcher(load_settings(home=home)).rescue_database(file, saved)
    assert file.read_bytes() == before
    assert (done.exported, done.lost) == ([run], [])
    folder = saved / "runs" / run[:8]
    assert (folder / "report.md").read_text("utf-8") == report
    for name in ("report.json", "quotes.md"):
        assert (folder / name).stat().st_size > 500
    # The new database can be worked with.
    line = await DeepResearcher(load_settings(home=saved)).run(run)
    assert line.question == QUESTION


async def test_rows_around_a_broken_page_are_saved(tmp_path: Path) -> None:
    damaged, saved = tmp_path / "x.sqlite", tmp_path / "saved.sqlite"
    await research(tmp_path / "home")
    (tmp_path / "home" / "fathom.sqlite").rename(damaged)
    with closing(sqlite3.connect(damaged)) as connection:
        words = "insert into signals (run, word, text, at) values ('r', 'add', ?, '')"
        connection.executemany(words, [(f"{n} {'x' * 200}",) for n in range(400)])
        connection.commit()
        connection.execute("pragma wal_checkpoint(truncate)").fetchall()
    body = damaged.read_bytes()
    flip(damaged, body.index(b"200 xxxx") // 4096 * 4096, 16)  # the page that has the 200th
    done = salvage_rows(damaged, saved)
    assert "signals" in done.damaged
    assert 350 < done.rows["signals"] < 400
    with closing(sqlite3.connect(saved)) as connection:
        texts = {int(text.split()[0]) for (text,) in connection.execute("select text from signals")}
    assert {0, 399} <= texts


def test_nothing_to_save_and_no_room_are_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="There is no database"):
        salvage_rows(tmp_path / "none.sqlite", tmp_path / "new.sqlite")
    (tmp_path / "noise").write_bytes(b"\xff" * 20_000)
    with pytest.raises(BadInput, match="Nothing in that file"):
        salvage_rows(tmp_path / "noise", tmp_path / "new.sqlite")
    assert not (tmp_path / "new.sqlite").exists()
    with pytest.raises(BadInput, match="is there already"):
        salvage_rows(tmp_path / "noise", tmp_path / "noise")
