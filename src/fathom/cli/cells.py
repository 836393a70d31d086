"""Text that is safe to show on a terminal, measured in cells.

Does not know what the text says. A Korean syllable takes two cells, a combining mark none.
"""

import re
import unicodedata

from rich.cells import cell_len, set_cell_size

_ESCAPE_SEQUENCE = re.compile(r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?")
_WIDTH_SELECTORS = "\ufe0e\ufe0f"  # terminals do not agree on what they do


def safe(text: str) -> str:
    """Remove what a terminal acts on: escape sequences, control and bidirectional characters. Lines stay."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_safe_character, _ESCAPE_SEQUENCE.sub(" ", text)))


def _safe_character(character: str) -> str:
    category = unicodedata.category(character)
    if character == "\n":
        return character
    if category in {"Cc", "Zl", "Zp"}:
        return " "
    if category == "Cs":  # half a character, which no encoding takes
        return "?"
    return "" if category == "Cf" or character in _WIDTH_SELECTORS else character


def plain(text: str) -> str:
    """Return the text as one safe line, with single spaces."""
    return " ".join(safe(text).split())


def cut(text: str, cells: int) -> str:
    """Return at most so many cells, with an ellipsis where something is missing."""
    if cell_len(text) <= cells:
        return text
    return set_cell_size(text, cells - 1).rstrip() + "…" if cells > 0 else ""


def filled(text: str, cells: int) -> str:
    """Return exactly so many cells."""
    return set_cell_size(cut(text, cells), cells)


def tail(text: str, cells: int) -> str:
    """Return the end of a text, in at most so many cells."""
    while cell_len(text) > cells:
        text = text[1:]
    return text


def wrapped(text: str, cells: int, first: str = "") -> list[str]:
    """Wrap at words into lines of so many cells; lines after the first are indented to match `first`."""
    from rich.console import Console  # slow to import, and only a plan is wrapped
    from rich.text import Text

    indent = cell_len(first)
    console = Console(width=cells, color_system=None)
    lines = Text(plain(text)).wrap(console, max(2, cells - indent))
    return [(" " * indent if n else first) + line.plain.rstrip() for n, line in enumerate(lines)] or [first]
