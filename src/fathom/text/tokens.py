"""Tokenize text for search indexes: the same for documents and queries.

Korean, Chinese and Japanese runs become overlapping character bigrams, since their words have particles or no
spaces.
"""

import re
import tomllib
import unicodedata
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Any, Protocol


@cache
def load_words() -> dict[str, Any]:
    """Return the word lists of `words.toml`."""
    return tomllib.loads(files("fathom.text").joinpath("words.toml").read_text("utf-8"))


class _Place(Protocol):
    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...


class TakenSpans:
    """A set of character spans with constant-time overlap tests."""

    def __init__(self, text: str, places: Iterable[_Place] = ()) -> None:
        self._letters = bytearray(len(text))
        for place in places:
            self.add(place.start, place.end)

    def add(self, start: int, end: int) -> None:
        """Add a span."""
        self._letters[start:end] = b"\1" * (end - start)

    def has(self, start: int, end: int) -> bool:
        """Tell whether any character of a span is taken."""
        return 1 in self._letters[start:end]


_ACCENTS = re.compile("[\u0300-\u036f]")
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7a3"
_RUN = re.compile(rf"[{_CJK}]+|[^\W_{_CJK}]+")
_NO_WORD = {place: " " for place in range(128) if not chr(place).isalnum()}
_HAS_CJK = re.compile(f"[{_CJK}]")
STOP_WORDS = frozenset(word for words in load_words()["stop_words"].values() for word in words.split())


def has_cjk(text: str) -> bool:
    """Tell whether the text has Korean, Chinese or Japanese characters."""
    return not text.isascii() and _HAS_CJK.search(text) is not None


def plain_words(text: str) -> list[str]:
    """Return the words of ASCII text, in lower case."""
    return text.lower().translate(_NO_WORD).split()


def _runs(text: str) -> list[str]:
    if text.isascii():
        return plain_words(text)
    bare = unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFKD", text)))
    return _RUN.findall(bare.lower())


def _split_run(run: str) -> list[str]:
    if len(run) < 3 or not _HAS_CJK.match(run):
        return [run]
    return [run[at : at + 2] for at in range(len(run) - 1)]


def tokens(text: str) -> list[str]:
    """Return the words of a text in order, lower case and without accents."""
    if text.isascii():
        return plain_words(text)
    return [piece for run in _runs(text) for piece in _split_run(run)]


def index_text(text: str) -> str:
    """Return the words joined by spaces, for an index that splits at spaces."""
    return " ".join(tokens(text))


def query_terms(text: str) -> list[str]:
    """Return the distinct content words of a query; all words if it has only stop words."""
    runs = _runs(text)
    telling = [run for run in runs if run not in STOP_WORDS] or runs
    if text.isascii():
        return list(dict.fromkeys(telling))
    return list(dict.fromkeys(piece for run in telling for piece in _split_run(run)))
