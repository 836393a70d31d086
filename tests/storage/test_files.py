"""Files are replaced whole or not at all, and lines are whole or not there."""

from pathlib import Path

import pytest

from fathom.storage.files import append_lines, read_whole_lines, replace_file


def test_a_file_is_replaced_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    place = tmp_path / "rounds" / "001.md"
    replace_file(place, "one")
    replace_file(place, "둘")
    assert place.read_text("utf-8") == "둘"
    assert list(place.parent.iterdir()) == [place]


def test_what_cannot_be_written_leaves_what_was_there(tmp_path: Path) -> None:
    place = tmp_path / "report.md"
    (place / "a person's own").mkdir(parents=True)
    with pytest.raises(IsADirectoryError):
        replace_file(place, "two")
    assert list(tmp_path.iterdir()) == [place]


def test_half_a_line_is_cut_off_before_others_follow(tmp_path: Path) -> None:
    place = tmp_path / "events.jsonl"
    assert read_whole_lines(place) == ""
    append_lines(place, '{"a": 1}\n{"b"')
    assert read_whole_lines(place) == '{"a": 1}\n'
    append_lines(place, '{"c": 3}\n')
    assert place.read_text() == '{"a": 1}\n{"c": 3}\n'
