"""Lines as bytes for a terminal: in its colours, and only those that changed.

Does not know what the lines say.
"""

from collections.abc import Sequence

from rich.console import Console
from rich.style import Style as Look

from fathom.cli.lines import Line, Style

_COLOURS: dict[Style, str] = {
    "": "",
    "title": "bold",
    "dim": "dim",
    "good": "green",
    "bad": "yellow",
    "accent": "cyan",
    "key": "bold reverse",
}
_WITHOUT: dict[Style, str] = {**_COLOURS, "good": "", "bad": "", "accent": "bold"}


class Painter:
    """Remembers what stands on the screen."""

    def __init__(self, console: Console) -> None:
        words = _WITHOUT if console.no_color else _COLOURS
        self._looks = {style: Look.parse(look) for style, look in words.items()}
        # Without colours there is still bold and dim, which every such terminal has.
        self._system = console._color_system
        self._shown: list[str] = []

    def forget(self) -> None:
        """The screen is not what it was: the next picture is painted whole."""
        self._shown = []

    def changes(self, lines: Sequence[Line]) -> bytes:
        """What must be sent so that the screen shows these lines."""
        made = [self._painted(line) for line in lines]
        is_new = len(made) != len(self._shown)
        before = [""] * len(made) if is_new else self._shown
        parts = ["\x1b[2J"] if is_new else []
        parts += [
            f"\x1b[{number};1H{line}\x1b[0m\x1b[K"
            for number, (line, old) in enumerate(zip(made, before, strict=True), 1)
            if line != old
        ]
        self._shown = made
        return "".join(parts).encode("utf-8", "replace")

    def _painted(self, line: Line) -> str:
        return "".join(
            self._looks[piece.style].render(piece.text, color_system=self._system) for piece in line
        ).rstrip()
