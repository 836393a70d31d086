"""Text measured in cells, as a terminal shows it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from fathom.cli.text import cut, pad, plain, tail, wrap

TEXTS = st.text(alphabet="abc 조력발전소é…👩‍👧ｱ\u0301", max_size=60)


@pytest.mark.parametrize(
    ("text", "cells", "shown"),
    [
        ("조력 발전소", 11, "조력 발전소"),
        ("조력 발전소", 10, "조력 발전…"),
        ("조력 발전소", 9, "조력 발…"),  # half a syllable is none
        ("조력 발전소", 4, "조…"),
        ("조력", 1, "…"),
        ("조력", 0, ""),
        ("tides", 4, "tid…"),
    ],
)
def test_text_is_cut_between_characters_and_says_so(text: str, cells: int, shown: str) -> None:
    assert cut(text, cells) == shown


@given(TEXTS, st.integers(0, 40))
def test_a_column_is_exactly_as_wide_as_it_is(text: str, cells: int) -> None:
    shown = plain(text)
    assert cell_len(pad(shown, cells)) == cells
    assert cell_len(cut(shown, cells)) <= cells
    assert cell_len(tail(shown, cells)) <= cells


@given(TEXTS, st.integers(8, 40))
def test_wrapped_lines_fit_and_lose_nothing(text: str, cells: int) -> None:
    lines = wrap(text, cells, "  1  ")
    assert max(map(cell_len, lines)) <= cells
    assert lines[0].startswith("  1  ")
    assert "".join("".join(lines).removeprefix("  1  ").split()) == "".join(plain(text).split())


@pytest.mark.parametrize(
    "text",
    [
        "\x1b[2J\x1b[31mWind\x1b[0m at sea",
        "Wind\r\nat\tsea",
        "Wind\x07 at\x9b2J sea",
        "\x1b]0;title\x07Wind at sea",
        "\u202eWind at\u2066 sea\u2028",
    ],
)
def test_what_a_page_calls_itself_moves_no_cursor(text: str) -> None:
    assert plain(text) == "Wind at sea"


def test_half_a_character_is_shown_as_a_question_mark() -> None:
    assert plain("tidal \udcff").encode() == b"tidal ?"
