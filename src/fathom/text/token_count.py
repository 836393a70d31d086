"""Estimate the tokens of a text for any model: a guess, and bounds.

ASCII text is counted with the vocabulary of the wordllama wheel: 32,000 tokens, fewer than current models
have, so it rarely counts too few. Other scripts use a rule per script; characters divided by four would be
2.5 times too low for Korean.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

from fathom.text.normalization import shorten_line


def wordllama_folder() -> Path:
    """Return the folder of the wheel's files."""
    spec = find_spec("wordllama")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


@cache
def shared_tokenizer() -> Any:
    """Return the tokenizer; the first call takes a tenth of a second."""
    from tokenizers import Tokenizer

    return Tokenizer.from_file(str(wordllama_folder() / "tokenizers" / "l2_supercat_tokenizer_config.json"))


_HANGUL = re.compile("[\uac00-\ud7a3\u1100-\u11ff\u3130-\u318f]+")
_IDEOGRAPHS = re.compile("[\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]+")
_PICTURES = re.compile("[\u2600-\u27bf\ufe0f\u200d\U00010000-\U0010ffff]+")
_BEYOND = re.compile("[^\x00-\x7f]+")

# Tokens never span a space after another character, and a line end is a token: count word by word.
_WORDS = re.compile(r" +[\x00-\x09\x0b-\x1f!-\x7f]*|[\x00-\x09\x0b-\x1f!-\x7f]+")

# A row of dashes is one token in one vocabulary and fifty in another.
_REPEATED = re.compile(r"([\x00-\x7f])\1{3,}")

# Tokens of large current vocabularies per token of ours, and of the worst; measured in docs/log.md.
_USUAL = 0.93
_WORST_TENTHS = 12
_SLACK = 8

# Split long words: tokenizing is slower than linear.
_PART = 4_000

# Most words of a prompt occur in others too; a longer one may be anything.
_KEPT_CHARS = 64


@dataclass(frozen=True)
class TokenMeasure:
    """Token counts of a text, ASCII and the rest apart: the usual count, and the worst case."""

    plain: float
    beyond: float
    worst_plain: int
    worst_beyond: int

    @property
    def usual(self) -> int:
        """Return the guess for the whole text."""
        return math.ceil(self.plain + self.beyond)

    def __add__(self, other: "TokenMeasure") -> "TokenMeasure":
        """Return the sum of both texts."""
        return TokenMeasure(
            self.plain + other.plain,
            self.beyond + other.beyond,
            self.worst_plain + other.worst_plain,
            self.worst_beyond + other.worst_beyond,
        )


def count_tokens(text: str) -> int:
    """Return about as many tokens as current models count: within a fifth for prose, code and Korean."""
    return measure_tokens(text).usual


def count_tokens_at_worst(text: str) -> int:
    """Return an upper bound for any tokenizer; half too high for prose.

    Beyond ASCII a tokenizer may spell out every byte; none does worse.
    """
    found = measure_tokens(text)
    return min(found.worst_plain + found.worst_beyond + _SLACK, bound_tokens(text))


def count_tokens_at_least(text: str) -> int:
    """Return a lower bound for any current tokenizer: half of the guess.

    A server cannot have counted less than this.
    """
    return measure_tokens(text).usual // 2


def bound_tokens(text: str) -> int:
    """Return a quick upper bound of both guess and worst case: one token per byte, plus a margin.

    A text that fits by this measure need not be counted.
    """
    return _bytes(text) + 2


@lru_cache(maxsize=64)
def measure_tokens(text: str) -> TokenMeasure:
    """Count the tokens of a text in every way."""
    pieces = text.count("\n")
    tenths = _WORST_TENTHS * pieces
    for word, times in Counter(_WORDS.findall(f" {text}") if text else ()).items():
        found, worst = _count_kept_word(word) if len(word) <= _KEPT_CHARS else _count_word(word)
        pieces += times * found
        tenths += times * worst
    beyond = "".join(_BEYOND.findall(text))
    return TokenMeasure(_USUAL * pieces, _guess_beyond_ascii(beyond), math.ceil(tenths / 10), _bytes(beyond))


def _guess_beyond_ascii(text: str) -> float:
    """Guess the tokens of non-ASCII text, by script."""
    scripts = (_HANGUL, _IDEOGRAPHS, _PICTURES)
    hangul, ideographs, pictures = (sum(map(len, script.findall(text))) for script in scripts)
    others = len(text) - hangul - ideographs - pictures
    return hangul / 1.35 + ideographs / 1.25 + pictures / 0.55 + others / 2.6


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _count_word(word: str) -> tuple[int, int]:
    """Return the tokens of an ASCII word, and the worst case in tenths."""
    pieces = _count_pieces(word)
    if not _REPEATED.search(word):
        return pieces, _WORST_TENTHS * pieces
    repeated = sum(len(found.group()) for found in _REPEATED.finditer(word))
    return pieces, _WORST_TENTHS * _count_pieces(_REPEATED.sub("\n", word)) + 10 * repeated


_count_kept_word = lru_cache(maxsize=50_000)(_count_word)


def _count_pieces(word: str) -> int:
    spelt, tokenize = word.replace(" ", "▁"), _tokenize()
    if len(spelt) <= _PART:
        return len(tokenize(spelt))
    return sum(len(tokenize(spelt[start : start + _PART])) for start in range(0, len(spelt), _PART))


@cache
def _tokenize() -> Callable[[str], list[object]]:
    # Without special tokens: "<s>" is three characters.
    made: Callable[[str], list[object]] = shared_tokenizer().model.tokenize
    return made


K = TypeVar("K")
CountTokens = Callable[[str], int]


def fit_lines(lines: Iterable[str], max_tokens: int) -> list[str]:
    """Return the first lines that fit together; at least one."""
    shown = [shorten_line(line) for line in lines]
    if sum(map(bound_tokens, shown)) <= max_tokens:
        return shown
    kept: list[str] = []
    room = max_tokens
    for line in shown:
        room -= count_tokens(line)
        if room < 0 and kept:
            break
        kept.append(line)
    return kept


def fit_entries(lines: Mapping[K, str], max_tokens: int) -> dict[K, str]:
    """Return the first keyed lines that fit together."""
    return dict(zip(lines, fit_lines(lines.values(), max_tokens), strict=False))


def truncate_to_tokens(text: str, max_tokens: int, count: CountTokens) -> str:
    """Return the beginning that fits, cut between words if possible."""
    room = max(0, max_tokens)
    whole = text
    while text and (cost := count(text)) > room:
        text = text[: min(len(text) - 1, len(text) * room // cost)]
    if text == whole or not text:
        return text
    last = text.rfind(" ")
    return text[:last] if last > len(text) // 2 else text
