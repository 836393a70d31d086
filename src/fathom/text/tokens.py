"""Tokenize text for search indexes: the same for documents and queries.

Korean, Chinese and Japanese runs become overlapping character bigrams, since their words have particles or no
spaces.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Protocol


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


def find_matches(pattern: re.Pattern[str], first: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """Yield `pattern.finditer(text)`, tried only where `first` matches; neither may match ""."""
    at = 0
    while begun := first.search(text, at):
        match = pattern.match(text, begun.start())
        at = match.end() if match else begun.start() + 1
        if match:
            yield match


_ACCENTS = re.compile("[\u0300-\u036f]")

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7a3"

_RUN = re.compile(rf"[{_CJK}]+|[^\W_{_CJK}]+")

_NO_WORD = {place: " " for place in range(128) if not chr(place).isalnum()}

_HAS_CJK = re.compile(f"[{_CJK}]")

_ENGLISH = """
a about after again all also am an and any are as at be because been before being between both but by can
could did do does doing don down during each few for from further had has have having he her here hers
him his how i if in into is isn it its itself just ll me more most my no nor not now of off on once only
or other our out over own re s same she should so some such t than that the their them then there these
they this those through to too under until up very ve was wasn we were what when where which while who
whom whose why will with would you your
"""

_KOREAN = """
그 그리고 그런 그러나 그것 는 은 이 가 을 를 의 에 와 과 도 로 및 등 또는 또한 하는 하고 있는
있다 있나 있나요 무엇 무엇인가 무엇인가요 무엇이며 무엇이고 무엇인지 무슨 어떤
어떻게 어디 언제 누구 누가 왜 얼마나 어느 대한 대해
대하여 관한 관해 위한 위해 통해 때문에 수 것 것은 것이 인가 인가요 한다 된다 되는
"""

STOP_WORDS = frozenset((_ENGLISH + " " + _KOREAN).split())


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
