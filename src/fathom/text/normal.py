"""Text as it is compared: one form of Unicode, one kind of white space, and a way back to positions.

Does not know why two texts are compared.
"""

import re
import unicodedata
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

_SAME = str.maketrans(
    {"‘": "'", "’": "'", "“": '"', "”": '"', "–": "-", "—": "-", "−": "-", "\u00a0": " ", "\u00ad": None}
)
_WORD = re.compile(r"\S+")
_UNSEEN = dict.fromkeys(map(ord, "\u200b\u200c\u200d\u2060\ufeff"))
# A run of plain letters, one character, or a letter with what is written onto it: accents, or the parts of a
# Hangul syllable.
_WRITTEN = re.compile(
    "[!-~]+(?![\u0300-\u036f\u3099\u309a])"
    "|[\u1100-\u115f][\u1160-\u11a7][\u11a8-\u11ff]?|.[\u0300-\u036f\u3099\u309a]*",
    re.DOTALL,
)


@dataclass(frozen=True)
class Folded:
    """A text folded for comparison; its character i stood at `origin[i]:ends[i]` of the original."""

    text: str
    origin: Sequence[int]
    ends: Sequence[int]

    def original_span(self, start: int, end: int) -> tuple[int, int]:
        """The span of the original text that a span of the folded one came from."""
        return self.origin[start], self.ends[end - 1]


@lru_cache(maxsize=16)  # whoever looks into a page looks again soon
def folded(text: str) -> Folded:
    """Fold case, Unicode forms, quotation marks, dashes and runs of white space."""
    return _folded_words(text) if text.isascii() else _folded_letters(text)


def _folded_words(text: str) -> Folded:
    """Where every character is one letter, only white space is looked for."""
    origin, ends = array("L"), array("L")
    words: list[str] = []
    for word in _WORD.finditer(text):
        start, end = word.span()
        if words:  # the first of the white space before it
            origin.append(ends[-1])
            ends.append(ends[-1] + 1)
        words.append(word.group().lower())
        origin.extend(range(start, end))
        ends.extend(range(start + 1, end + 1))
    return Folded(" ".join(words), origin, ends)


def _folded_letters(text: str) -> Folded:
    kept: list[str] = []
    origin, ends = array("L"), array("L")
    for written in _WRITTEN.finditer(text):
        start, end = written.span()
        if end - start > 1 and (run := written.group()).isascii():  # nothing to decide a letter at a time
            kept += run.lower()
            origin.extend(range(start, end))
            ends.extend(range(start + 1, end + 1))
            continue
        for part in _fold_written(written.group()):
            if part == " " and (not kept or kept[-1] == " "):
                continue
            kept.append(part)
            origin.append(start)
            ends.append(end)
    if kept and kept[-1] == " ":
        del kept[-1], origin[-1], ends[-1]
    return Folded("".join(kept), origin, ends)


def _fold_written(written: str) -> str:
    if written.isascii():
        return " " if written.isspace() else written.lower()
    part = unicodedata.normalize("NFKC", written.translate(_SAME).translate(_UNSEEN)).lower()
    return " " if part.isspace() and part else part


def one_line(text: str) -> str:
    """The text with every run of white space as one space."""
    return re.sub(r"\s+", " ", text).strip()


def is_korean(text: str) -> bool:
    """Whether the text is mainly in Hangul."""
    letters = [c for c in text if c.isalpha()]
    return bool(letters) and sum("\uac00" <= c <= "\ud7a3" for c in letters) * 3 >= len(letters)
