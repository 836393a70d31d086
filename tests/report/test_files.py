"""Files are replaced whole or not at all, and lines are whole or not there."""

from pathlib import Path

import pytest

from fathom.report.files import appended, mended, replaced


def test_a_file_is_replaced_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    place = tmp_path / "rounds" / "001.md"
    replaced(place, "one")
    replaced(place, "둘")
    assert place.read_text("utf-8") == "둘"
    assert list(place.parent.iterdir()) == [place]


def test_what_cannot_be_written_leaves_what_was_there(tmp_path: Path) -> None:
    place = tmp_path / "report.md"
    (place / "a person's own").mkdir(parents=True)
    with pytest.raises(IsADirectoryError):
        replaced(place, "two")
    assert list(tmp_path.iterdir()) == [place]


def test_half_a_line_is_cut_off_before_others_follow(tmp_path: Path) -> None:
    place = tmp_path / "events.jsonl"
    assert mended(place) == ""
    appended(place, '{"a": 1}\n{"b"')
    assert mended(place) == '{"a": 1}\n'
    appended(place, '{"c": 3}\n')
    assert place.read_text() == '{"a": 1}\n{"c": 3}\n'
