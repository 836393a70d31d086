"""Tests of reading Python files."""

import pytest

from fathom.errors import Unreadable
from fathom.reading.blocks import Empty
from fathom.reading.parsers.python_source import read_python

SOURCE = '''"""Tides and waves.

Computed slowly
and surely."""

import os


class Sea(dict):
    """A body of water."""

    async def wave(self, height: float = 1.0, *, is_long: bool = False) -> str:
        """Make one wave.

        Args:
            height: In metres.
        """
        return "secret code"

    def silent(self): ...


if os.name:
    def tide():
        """Moon-made."""
'''


def test_docstrings_stand_under_their_names_and_signatures() -> None:
    document = read_python(SOURCE, name="/x/lib/python3.11/site-packages/ocean/water.py")
    assert document.title == "ocean.water"
    assert document.text.split("\n\n") == [
        "# ocean.water",
        "Tides and waves.",
        "Computed slowly and surely.",
        "## class ocean.water.Sea(dict)",
        "A body of water.",
        "## async ocean.water.Sea.wave(self, height: float=1.0, *, is_long: bool=False) -> str",
        "Make one wave.",
        "Args:",
        "- height: In metres.",
        "## ocean.water.tide()",
        "Moon-made.",
    ]


def test_code_is_not_part_of_the_text() -> None:
    assert "secret" not in read_python(SOURCE, name="water.py").text


def test_a_package_is_named_after_its_folder() -> None:
    assert read_python('"""Sea."""', name="/x/src/ocean/__init__.py").title == "ocean"
    assert read_python('"""Sea."""', name="/x/ocean/__init__.py").title == "ocean"
    assert read_python('"""Sea."""', name="/x/ocean/tide.py").title == "tide"


def test_a_file_without_docstrings_is_empty_and_not_broken() -> None:
    with pytest.raises(Empty):
        read_python("x = 1\n", name="x.py")


@pytest.mark.parametrize("source", ["def f(:\n", "x = '\0'", "(" * 100_000])
def test_what_is_not_python_is_unreadable(source: str) -> None:
    with pytest.raises(Unreadable, match=r"x\.py is not valid Python"):
        read_python(source, name="x.py")


def test_a_doubtful_escape_is_no_warning() -> None:
    assert read_python('"""Sea."""\nx = "\\d"\n', name="x.py").text == "# x\n\nSea."
