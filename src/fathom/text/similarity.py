"""How much alike texts are: in meaning, by word vectors, and in wording, by the runs of words they share.

The vectors are static English ones, of the wordllama wheel. It never uses the network: wordllama 0.4.0 looks
for its tokenizer in a missing folder and would download it, so the path is passed. Korean, Chinese and
Japanese are not covered: see `is_embeddable`.

For copies a text is the set of its runs of five words; for Korean, Chinese and Japanese of five characters,
since spacing varies. The runs with the smallest hashes represent it (a bottom-k sketch), small enough to
store with a page.
"""

import asyncio
import logging
import math
import re
import unicodedata
from collections.abc import Sequence
from functools import cache, lru_cache
from threading import Lock
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from fathom.text.token_count import shared_tokenizer, wordllama_folder
from fathom.text.tokens import has_cjk, tokens

Vectors = NDArray[np.float32]
_DIMENSIONS = 256
_MAX_CHARS = 4000
_load_lock = Lock()


@cache
def _load() -> Any:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    from wordllama import WordLlama  # half a second of imports

    # Importing it configures the root logger; undo that.
    root.handlers[:] = handlers
    root.setLevel(level)

    class Sharing(WordLlama):  # type: ignore[misc]  # it has no types
        @staticmethod
        def load_tokenizer(*_: object, **__: object) -> Any:
            """Return the tokenizer shared with token counting; loading it is slow."""
            return shared_tokenizer()

    return Sharing.load(cache_dir=wordllama_folder(), disable_download=True)


def is_embeddable(text: str) -> bool:
    """Tell whether the vectors are meaningful for this text."""
    return not has_cjk(text)


def embed(texts: Sequence[str]) -> Vectors:
    """Return one unit vector per text (its first 4,000 characters); zeros for a text without words."""
    if not texts:
        return np.zeros((0, _DIMENSIONS), dtype=np.float32)
    cut = [text[:_MAX_CHARS] or " " for text in texts]
    with _load_lock:
        model = _load()
    # A batch is padded to its longest text: one book among sentences would take gigabytes.
    vectors: Vectors = model.embed(cut)
    vectors[[not tokens(text) for text in cut]] = 0
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    # Rounded, so that a vector does not depend on its batch.
    unit: Vectors = (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32).round(6)
    return unit


@lru_cache(maxsize=16384)
def word_rarity(word: str) -> float:
    """Return how unusual an English word is, by its tokens' ranks in a vocabulary sorted by frequency."""
    with _load_lock:
        model = _load()
    pieces = model.tokenizer.encode(f" {word}", add_special_tokens=False).ids
    return math.log(1 + max(pieces, default=0)) + 1.5 * max(0, len(pieces) - 1)


_WIDTH = 5
_MOST = 48
_SAME = 0.8
_TELLING = 6  # hashes of the smaller text needed for a meaningful share
_SHORT_CHARS = 20_000
_BY_CHARACTER = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7a3"
_UNIT = re.compile(rf"[{_BY_CHARACTER}]|[^\W_{_BY_CHARACTER}]+")
_PLAIN = bytes(ord(letter.lower()) if letter.isalnum() else 32 for letter in map(chr, range(128))).ljust(256)
_BASE = np.uint64(0x9E3779B97F4A7C15)
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


def make_sketch(text: str) -> str:
    """Return the smallest hashes in ascending order, eight letters each; the same on every machine."""
    upper = _hash_runs(text)[:_MOST] >> np.uint64(32)
    return upper.astype(">u4").tobytes().hex()


async def make_sketch_async(text: str) -> str:
    """Return the sketch; computed in a thread if the text is long."""
    return make_sketch(text) if len(text) <= _SHORT_CHARS else await asyncio.to_thread(make_sketch, text)


def is_copy(a: str, b: str) -> bool:
    """Tell whether two sketches are of one text, ignoring menus and dates."""
    left, right = _split_sketch(a), _split_sketch(b)
    shared, most = left & right, max(len(left), len(right))
    if not shared or len(shared) / most < _SAME:  # the usual case
        return False
    smallest = sorted(left | right)[:most]
    return len(shared.intersection(smallest)) / most >= _SAME


def measure_containment(a: str, b: str) -> float:
    """Return how much of the smaller text the larger one contains, 0 to 1; 0 if the sketches are too small.

    Hashes up to the largest that both sketches could hold are a fair sample of either text.
    """
    left, right = _split_sketch(a), _split_sketch(b)
    bound = min((max(side) for side in (left, right) if len(side) == _MOST), default="g")
    one, two = ({value for value in side if value <= bound} for side in (left, right))
    fewer = min(len(one), len(two))
    return len(one & two) / fewer if fewer >= _TELLING else 0.0


def measure_shared_wording(a: str, b: str) -> float:
    """Return the share of the shorter text's runs that the other has, 0 to 1; for single sentences."""
    one, two = _hash_runs(a), _hash_runs(b)
    fewer = min(len(one), len(two))
    return len(np.intersect1d(one, two, assume_unique=True)) / fewer if fewer else 0.0


def _hash_runs(text: str) -> NDArray[np.uint64]:
    """Return the distinct hashes of all runs in ascending order."""
    units = _units(text)
    if not units:
        return np.empty(0, np.uint64)
    numbers = np.fromiter(map(crc32, units), np.uint64, len(units))
    width = min(_WIDTH, len(numbers))
    hashes = np.zeros(len(numbers) - width + 1, np.uint64)
    for at in range(width):
        hashes = hashes * _BASE + numbers[at : at + len(hashes)]
    ordered = np.sort(_mix_hashes(hashes))
    distinct: NDArray[np.uint64] = ordered[np.append(True, ordered[1:] != ordered[:-1])]
    return distinct  # np.unique is ten times slower


def _units(text: str) -> list[bytes]:
    if text.isascii():
        return text.encode("ascii").translate(_PLAIN).split()
    found = _UNIT.findall(unicodedata.normalize("NFKC", text).casefold())
    return [unit.encode("utf-8", "replace") for unit in found]


def _mix_hashes(hashes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Spread hashes evenly, so that the smallest of them are a fair sample."""
    for factor, shift in zip(_MIX, (30, 27), strict=True):
        hashes = (hashes ^ (hashes >> np.uint64(shift))) * factor
    return hashes ^ (hashes >> np.uint64(31))


@lru_cache(maxsize=128)  # each page of a run is compared with others
def _split_sketch(sketched: str) -> frozenset[str]:
    return frozenset(sketched[at : at + 8] for at in range(0, len(sketched), 8))
