"""Tests of cutting documents into passages."""

from hypothesis import given
from hypothesis import strategies as st

from fathom.text.passages import passages


def test_a_short_document_is_one_passage() -> None:
    assert list(passages("# Title\n\nSome words.")) == ["# Title\n\nSome words."]


def test_passages_end_where_blocks_end() -> None:
    blocks = [f"Block {number} " + "word " * 60 for number in range(10)]
    cut = list(passages("\n\n".join(block.strip() for block in blocks)))
    assert len(cut) > 1
    assert all(passage.startswith("Block") and len(passage) <= 1200 for passage in cut)


def test_a_new_section_starts_a_new_passage() -> None:
    cut = list(passages("a " * 400 + "\n\n# Second\n\nmore words"))
    assert cut[1] == "# Second\n\nmore words"


@given(st.text(alphabet="ab .\n", max_size=500), st.integers(10, 50))
def test_no_word_is_lost_and_no_passage_is_too_long(text: str, limit: int) -> None:
    cut = list(passages(text, max_chars=limit))
    assert "".join("".join(cut).split()) == "".join(text.split())
    assert all(len(passage) <= limit + 2 for passage in cut)
