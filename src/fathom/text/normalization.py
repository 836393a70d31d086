"""Normalize text for comparison, with a mapping back to its positions; shorten it, and escape it in JSON.

In JSON, control and invisible characters are escaped, so that terminals and editors do not act on them; a
reader of JSON gets the very same text.
"""

import json
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

_SAME = str.maketrans(
    {"‘": "'", "’": "'", "“": '"', "”": '"', "–": "-", "—": "-", "−": "-", "\u00a0": " ", "\u00ad": None}
)
_UNSEEN = dict.fromkeys(map(ord, "\u200b\u200c\u200d\u2060\ufeff"))
_ONTO = "\u0300-\u036f\u3099\u309a"  # combining accents and kana marks
_SENTENCE = 500  # characters
_PLAIN = "[!-~À-ÿ‘’“”–—−가-힣]+"  # each folds to one letter, whatever its neighbours

# Plain words with single spaces; the parts of a Hangul syllable; a letter with combining marks.
_WRITTEN = re.compile(
    rf"(?P<plain>{_PLAIN}(?:[\t-\r\x1c-\x20]{_PLAIN})*)(?![{_ONTO}])"
    rf"|[\u1100-\u115f][\u1160-\u11a7][\u11a8-\u11ff]?|.[{_ONTO}]*",
    re.DOTALL,
)


@dataclass(frozen=True)
class FoldedText:
    """A folded text in segments, each with its origin in the original text.

    With an end, a segment came from `origins[n]:ends[n]`; without one (0) it maps letter by letter.
    """

    text: str
    places: Sequence[int] = (0,)
    origins: Sequence[int] = (0,)
    ends: Sequence[int] = (0,)

    def original_span(self, start: int, end: int) -> tuple[int, int]:
        """Return the span of the original text for a span of the folded one."""
        return self._origin_of(start)[0], self._origin_of(end - 1)[1]

    def _origin_of(self, place: int) -> tuple[int, int]:
        n = bisect_right(self.places, place) - 1
        first = self.origins[n] + (0 if self.ends[n] else place - self.places[n])
        return first, self.ends[n] or first + 1


def fold_text(text: str) -> FoldedText:
    """Fold case, Unicode forms, quotation marks, dashes and runs of white space."""
    return _fold_sentence(text) if len(text) <= _SENTENCE else _fold_page(text)


def _fold_letters(text: str) -> FoldedText:
    kept: list[str] = []
    places: list[int] = []
    origins: list[int] = []
    ends: list[int] = []
    size, is_spaced = 0, True
    for written in _WRITTEN.finditer(text):
        start, end = written.span()
        is_plain = written["plain"] is not None
        part = _fold_plain(written.group()) if is_plain else _fold_written(written.group())
        if is_spaced:  # or at the start
            part = part.removeprefix(" ")
        if not part:
            continue
        places.append(size)
        origins.append(start)
        ends.append(0 if is_plain else end)
        kept.append(part)
        size += len(part)
        is_spaced = part[-1] == " "
    return FoldedText("".join(kept).removesuffix(" "), places, origins, ends)


# Pages and quotes are looked up repeatedly.
_fold_page = lru_cache(maxsize=16)(_fold_letters)
_fold_sentence = lru_cache(maxsize=1024)(_fold_letters)


def _fold_plain(words: str) -> str:
    return one_line(words if words.isascii() else words.translate(_SAME)).lower()


def _fold_written(written: str) -> str:
    if written.isascii():
        return " " if written.isspace() else written.lower()
    part = unicodedata.normalize("NFKC", written.translate(_SAME).translate(_UNSEEN)).lower()
    return " " if part.isspace() and part else part


def one_line(text: str) -> str:
    """Collapse every run of white space into one space."""
    return " ".join(text.split())


def shorten_line(text: str, most_chars: int = 500) -> str:
    """Return the text on one line, truncated with a mark."""
    line = one_line(text)
    return line if len(line) <= most_chars else line[: most_chars - 1].rstrip() + "…"


# Control characters of the second kind, line separators, and what turns or hides text around it. JSON itself
# escapes the controls of the first kind; nothing of this stands outside of a string.
_ACTIVE = re.compile(
    "[\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)


def escape_json(text: str) -> str:
    """Return JSON with every active character as an escape."""
    return _ACTIVE.sub(lambda found: json.dumps(found.group())[1:-1], text)


def dump_json(value: Any, indent: int | None = None) -> str:
    """Return a value as JSON that people can read in any script, with active characters escaped."""
    return escape_json(json.dumps(value, ensure_ascii=False, indent=indent))
