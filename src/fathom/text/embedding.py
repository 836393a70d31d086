"""Embed texts with the static English word vectors of the wordllama wheel.

Never uses the network: wordllama 0.4.0 looks for its tokenizer in a missing folder and would download it, so
the path is passed. Korean, Chinese and Japanese are not covered: see `is_embeddable`.
"""

import logging
import math
from collections.abc import Sequence
from functools import cache, lru_cache
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fathom.text.token_count import shared_tokenizer, wordllama_folder
from fathom.text.tokens import has_cjk, tokens

Vectors = NDArray[np.float32]

_WIDTH = 256
_MAX_CHARS = 4000
_load_lock = Lock()
# A run compares the same passages with many queries, and tokenizing is most of the cost.
_REMEMBERED = 1024
_REMEMBERED_CHARS = 2000
_cache: dict[str, Vectors] = {}
_cache_lock = Lock()


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
    cut = [text[:_MAX_CHARS] or " " for text in texts]
    with _cache_lock:
        known = {text: _cache[text] for text in cut if text in _cache}
    if missing := [text for text in dict.fromkeys(cut) if text not in known]:
        known |= zip(missing, _embed_new(missing), strict=True)
        with _cache_lock:
            _cache.update((text, known[text]) for text in missing if len(text) <= _REMEMBERED_CHARS)
            for text in list(_cache)[:-_REMEMBERED]:
                del _cache[text]
    return np.stack([known[text] for text in cut]) if cut else np.zeros((0, _WIDTH), dtype=np.float32)


def _embed_new(texts: list[str]) -> Vectors:
    with _load_lock:
        model = _load()
    # A batch is padded to its longest text: one book among sentences would take gigabytes.
    vectors: Vectors = model.embed(texts)
    vectors[[not tokens(text) for text in texts]] = 0
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
