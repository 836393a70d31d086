"""Text as it is compared: one form of Unicode, one kind of white space, and a way back to positions.

Does not know why two texts are compared.
"""

import re
import unicodedata
from dataclasses import dataclass

_SAME = str.maketrans(
    {"‘": "'", "’": "'", "“": '"', "”": '"', "–": "-", "—": "-", "−": "-", "\u00a0": " ", "\u00ad": None}
)
_UNSEEN = dict.fromkeys(map(ord, "\u200b\u200c\u200d\u2060\ufeff"))


@dataclass(frozen=True)
class Folded:
    """A text folded for comparison; `origin[i]` is where its character i stood in the original."""

    text: str
    origin: list[int]
    length: int

    def original_span(self, start: int, end: int) -> tuple[int, int]:
        """The span of the original text that a span of the folded one came from."""
        after = self.origin[end] if end < len(self.origin) else self.length
        last = self.origin[end - 1]
        return self.origin[start], min(after, last + 1) if after > last else last + 1


def folded(text: str) -> Folded:
    """Fold case, Unicode forms, quotation marks, dashes and runs of white space."""
    kept: list[str] = []
    origin: list[int] = []
    for position, character in enumerate(text):
        for part in _fold_character(character):
            if part == " " and (not kept or kept[-1] == " "):
                continue
            kept.append(part)
            origin.append(position)
    if kept and kept[-1] == " ":
        kept.pop()
        origin.pop()
    return Folded("".join(kept), origin, len(text))


def _fold_character(character: str) -> str:
    if character.isascii():
        return " " if character.isspace() else character.lower()
    part = unicodedata.normalize("NFKC", character.translate(_SAME).translate(_UNSEEN)).lower()
    return " " if part.isspace() and part else part


def one_line(text: str) -> str:
    """The text with every run of white space as one space."""
    return re.sub(r"\s+", " ", text).strip()


def is_korean(text: str) -> bool:
    """Whether the text is mainly in Hangul."""
    letters = [c for c in text if c.isalpha()]
    return bool(letters) and sum("\uac00" <= c <= "\ud7a3" for c in letters) * 3 >= len(letters)
