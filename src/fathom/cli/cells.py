"""Text as a terminal shows it: measured in cells, cut and filled to them, and with nothing hidden in it.

Does not know what the text says. A Korean syllable takes two cells, a combining mark none.
"""

import re
import unicodedata

from rich.cells import cell_len, set_cell_size

MORE = "…"
# What tells a terminal to do something: a control sequence, or a title or link with its text.
_ORDERS = re.compile(r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?")
_SELECTORS = "\ufe0e\ufe0f"  # which of two widths a sign has: terminals do not agree on it


def plain(text: str) -> str:
    """One line without control characters: what a page calls itself must not move anybody's cursor."""
    return " ".join("".join(map(_shown, _ORDERS.sub(" ", text))).split())


def _shown(letter: str) -> str:
    kind = unicodedata.category(letter)
    if kind in {"Cc", "Zl", "Zp"}:
        return " "
    if kind == "Cs":  # half a character, which no encoding takes
        return "?"
    return "" if kind == "Cf" or letter in _SELECTORS else letter


def cut(text: str, cells: int) -> str:
    """At most so many cells, with a mark where something is missing."""
    if cell_len(text) <= cells:
        return text
    return set_cell_size(text, cells - 1).rstrip() + MORE if cells > 0 else ""


def filled(text: str, cells: int) -> str:
    """Exactly so many cells."""
    shown = cut(text, cells)
    return shown + " " * (cells - cell_len(shown))


def tail(text: str, cells: int) -> str:
    """The end of a text that is being typed, in at most so many cells."""
    while cell_len(text) > cells:
        text = text[1:]
    return text


def wrapped(text: str, cells: int, first: str = "") -> list[str]:
    """Lines of at most so many cells, broken between words; below the first one's indent there is space."""
    below = " " * cell_len(first)
    lines: list[str] = []
    line, is_empty = first, True
    for word in plain(text).split(" "):
        if not is_empty and cell_len(line) + 1 + cell_len(word) > cells:
            lines, line, is_empty = [*lines, line], below, True
        room = max(2, cells - cell_len(below))
        *full, rest = _pieces(word, room) if is_empty else [f" {word}"]
        for part in full:  # a word that no line can hold
            lines, line = [*lines, line + part], below
        line, is_empty = line + rest, False
    return [*lines, line]


def _pieces(word: str, cells: int) -> list[str]:
    pieces = [""]
    for letter in word:
        if cell_len(pieces[-1] + letter) > cells:
            pieces.append("")
        pieces[-1] += letter
    return pieces
