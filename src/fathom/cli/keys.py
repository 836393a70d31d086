"""Keys pressed at a terminal, and a line that is typed with them.

Does not know what any key is for.
"""

import codecs
import re
from dataclasses import dataclass
from typing import Literal

from fathom.cli.cells import plain

_NAMES = {
    "\r": "enter",
    "\n": "enter",
    "\x7f": "backspace",
    "\b": "backspace",
    "\x15": "clear",
    "\x17": "word",
    "\x01": "home",
    "\x05": "end",
}
_SEQUENCES = {
    "[D": "left",
    "OD": "left",
    "[C": "right",
    "OC": "right",
    "[H": "home",
    "OH": "home",
    "[1~": "home",
    "[F": "end",
    "OF": "end",
    "[4~": "end",
    "[3~": "delete",
}
_ESCAPE = "\x1b"
_PASTED = re.compile(r"\x1b\[200~(.*?)\x1b\[201~", re.DOTALL)
_PASTING = "\x1b[200~"
_SEQUENCE = re.compile(r"\x1b(O[A-Za-z]|\[[0-9;?]*[A-Za-z~])")
_UNFINISHED = re.compile(r"\x1b(O|\[[0-9;?]*)?$")


@dataclass(frozen=True)
class Key:
    """A key: `text` for what is typed or pasted, else its name."""

    name: str
    text: str = ""


class Keyboard:
    """Turns a terminal's bytes into keys; an arrow is one key, not an escape and two letters."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._waiting = ""

    def feed(self, pressed: bytes) -> list[Key]:
        """The keys in these bytes; the beginning of one that is not whole yet is kept."""
        self._waiting += self._decoder.decode(pressed)
        made: list[Key] = []
        while self._waiting:
            key, used = self._first(self._waiting)
            if used == 0:
                break
            self._waiting = self._waiting[used:]
            made += [key] if key else []
        return made

    def settle(self) -> list[Key]:
        """What was kept, when nothing followed it: the escape key itself."""
        is_escape = self._waiting.startswith(_ESCAPE) and not self._waiting.startswith(_PASTING)
        self._waiting = "" if is_escape else self._waiting
        return [Key("escape")] if is_escape else []

    def _first(self, text: str) -> tuple[Key | None, int]:
        if text[0] != _ESCAPE:
            name = _NAMES.get(text[0])
            if name or not text[0].isprintable():
                return Key(name) if name else None, 1
            return Key("text", text[0]), 1
        if pasted := _PASTED.match(text):
            return Key("text", plain(pasted.group(1))), pasted.end()
        if text.startswith(_PASTING) or _UNFINISHED.match(text):
            return None, 0
        if sequence := _SEQUENCE.match(text):
            name = _SEQUENCES.get(sequence.group(1))
            return Key(name) if name else None, sequence.end()
        return Key("escape"), 1


@dataclass(frozen=True)
class Typed:
    """A line in the making, and where in it the cursor stands."""

    text: str = ""
    place: int = 0

    def after(self, key: Key) -> "Typed":
        """The line after one more key."""
        before, behind = self.text[: self.place], self.text[self.place :]
        match key.name:
            case "text":
                return Typed(before + key.text + behind, self.place + len(key.text))
            case "backspace":
                return Typed(before[:-1] + behind, max(0, self.place - 1))
            case "delete":
                return Typed(before + behind[1:], self.place)
            case "word":
                kept = re.sub(r"\S+\s*$", "", before)
                return Typed(kept + behind, len(kept))
            case "clear":
                return Typed(behind, 0)
            case "left" | "right" | "home" | "end":
                return Typed(self.text, self._moved(key.name))
            case _:
                return self

    def _moved(self, where: Literal["left", "right", "home", "end"]) -> int:
        last = len(self.text)
        return {"left": max(0, self.place - 1), "right": min(last, self.place + 1), "home": 0, "end": last}[
            where
        ]
