"""Tests of reading package metadata."""

import pytest

from fathom.errors import Unreadable
from fathom.reading.parsers.package_metadata import read_metadata

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
