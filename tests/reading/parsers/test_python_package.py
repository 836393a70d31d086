"""Tests of reading Python files."""

import pytest

from fathom.errors import Unreadable
from fathom.reading import EmptyDocument
from fathom.reading.parsers.python_package import read_metadata, read_python

HEAD = "Metadata-Version: 2.4\nName: ocean\nVersion: 1.2\nSummary: Waves for all.\nRequires-Python: >=3.11\n"


def test_a_markdown_description_follows_name_and_summary() -> None:
    text = (
        HEAD + "Description-Content-Type: text/markdown; charset=UTF-8\n\n# Ocean\n\n**Waves**\nnow. 파도.\n"
    )
    document = read_metadata(text, name="METADATA")
    assert document.title == "ocean 1.2"
    assert document.text.split("\n\n") == [
        "# ocean 1.2",
        "Waves for all.",
        "- Requires-Python: >=3.11",
        "# Ocean",
        "Waves now. 파도.",
    ]


def test_without_a_type_the_description_is_restructured_text() -> None:
    document = read_metadata(HEAD + "\nOcean\n=====\n\nUse ``wave``.\n", name="PKG-INFO")
    assert document.text.endswith("# Ocean\n\nUse `wave`.")


def test_a_description_folded_into_a_header_is_read() -> None:
    text = (
        HEAD
        + "Description-Content-Type: text/plain\nDescription: Make waves.\n        \n        Then rest.\n"
    )
    assert read_metadata(text, name="PKG-INFO").text.endswith("Make waves.\n\nThen rest.")


def test_something_else_with_that_name_is_unreadable() -> None:
    with pytest.raises(Unreadable, match="METADATA is not package metadata"):
        read_metadata("just words\n", name="METADATA")


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
    with pytest.raises(EmptyDocument):
        read_python("x = 1\n", name="x.py")


@pytest.mark.parametrize("source", ["def f(:\n", "x = '\0'", "(" * 100_000])
def test_what_is_not_python_is_unreadable(source: str) -> None:
    with pytest.raises(Unreadable, match=r"x\.py is not valid Python"):
        read_python(source, name="x.py")


def test_a_doubtful_escape_is_no_warning() -> None:
    assert read_python('"""Sea."""\nx = "\\d"\n', name="x.py").text == "# x\n\nSea."
