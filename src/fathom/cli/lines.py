"""Lines made of styled pieces, measured in cells.

Does not know colours (painting.py) or what the lines say.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rich.cells import cell_len

from fathom.cli.cells import cut

Style = Literal["", "title", "dim", "good", "bad", "accent", "key"]


@dataclass(frozen=True)
class Piece:
    """Some text in one style."""

    text: str
    style: Style = ""


Line = tuple[Piece, ...]
BLANK: Line = ()


@dataclass(frozen=True)
class Glyphs:
    """The signs a terminal can show."""

    done: str = "✓"
    lost: str = "✗"
    open: str = "·"
    full: str = "━"
    empty: str = "─"
    mark: str = "┃"
    rule: str = "─"


ASCII = Glyphs("x", "!", ".", "#", "-", "|", "-")


def cells(line: Sequence[Piece]) -> int:
    """How wide a line is."""
    return sum(cell_len(piece.text) for piece in line)


def fitted(line: Sequence[Piece], width: int) -> Line:
    """The line in exactly so many cells: cut where it is too long, filled where it is too short."""
    made: list[Piece] = []
    left = width
    for piece in line:
        shown = cut(piece.text, left)
        made.append(Piece(shown, piece.style))
        left -= cell_len(shown)
        if shown != piece.text:
            break
    return (*made, Piece(" " * left)) if left > 0 else tuple(made)


def row(left: Sequence[Piece], right: Sequence[Piece], width: int) -> Line:
    """Two ends of a line; the right one is whole as long as it leaves the left one a third."""
    room = max(width // 3, width - cells(right) - 2)
    end = fitted(right, min(cells(right), max(0, width - room - 2)))
    return (*fitted(left, room), Piece("  "), *end) if cells(end) else fitted(left, width)


def bar(share: float, width: int, glyphs: Glyphs, mark: float | None = None, style: Style = "accent") -> Line:
    """How full something is, from 0 to 1, with a mark where enough is."""
    full = round(min(1.0, max(0.0, share)) * width)
    place = min(width - 1, max(0, round(mark * width) - 1)) if mark is not None else -1
    signs = [
        Piece(glyphs.mark, "title")
        if n == place
        else Piece(glyphs.full, style)
        if n < full
        else Piece(glyphs.empty, "dim")
        for n in range(width)
    ]
    return _joined(signs)


def _joined(pieces: Sequence[Piece]) -> Line:
    """Neighbours of one style in one piece."""
    made: list[Piece] = []
    for piece in pieces:
        if made and made[-1].style == piece.style:
            made[-1] = Piece(made[-1].text + piece.text, piece.style)
        else:
            made.append(piece)
    return tuple(made)


def beside(left: Sequence[Line], right: Sequence[Line], width: int) -> list[Line]:
    """Two columns of equally many lines."""
    half = (width - 3) // 2
    return [
        (*fitted(one, half), Piece("   "), *fitted(two, width - 3 - half))
        for one, two in zip(left, right, strict=True)
    ]


def text_of(line: Sequence[Piece]) -> str:
    """What a line says, without its styles."""
    return "".join(piece.text for piece in line)


def heading(title: str, count: str, width: int, glyphs: Glyphs) -> Line:
    """A title with a rule behind it."""
    words = f"{title} {count}".rstrip() + " "
    rest = max(0, width - cell_len(words))
    return (
        Piece(cut(f"{title} ", width), "title"),
        Piece(words[len(title) + 1 :], "dim"),
        Piece(glyphs.rule * rest, "dim"),
    )
