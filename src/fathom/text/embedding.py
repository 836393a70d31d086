"""Texts as vectors, by the static English word vectors that the wordllama wheel carries.

Never touches the network: wordllama 0.4.0 looks for its tokenizer in a folder its wheel does not have and
would download it, so it is told where the file is. Does not know Korean, Chinese or Japanese: ask
`is_embeddable`.
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
# A run compares the same passages with many queries, and splitting them into words costs most of it.
_REMEMBERED = 4096
_REMEMBERED_CHARS = 2000
_cache: dict[str, Vectors] = {}
_cache_lock = Lock()


@cache
def _load() -> Any:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    from wordllama import WordLlama  # half a second of imports, paid only by those who embed

    # Importing it sets up logging for the whole process, which is not a library's to do.
    root.handlers[:] = handlers
    root.setLevel(level)

    class Sharing(WordLlama):  # type: ignore[misc]  # it has no types
        @staticmethod
        def load_tokenizer(*_: object, **__: object) -> Any:
            """The one that tokens are counted with: reading it takes as long as the vectors do."""
            return shared_tokenizer()

    return Sharing.load(cache_dir=wordllama_folder(), disable_download=True)


def is_embeddable(text: str) -> bool:
    """Whether the vectors mean anything for this text."""
    return not has_cjk(text)


def embed(texts: Sequence[str]) -> Vectors:
    """One unit vector a text (its first 4,000 characters); a dot product is a cosine, no words are zeros."""
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
    # A batch is padded to its longest text, so one book among sentences would cost gigabytes.
    vectors: Vectors = model.embed(texts)
    vectors[[not tokens(text) for text in texts]] = 0
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    # Rounded, so that a text has the same vector whatever it was embedded together with.
    unit: Vectors = (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32).round(6)
    return unit


@lru_cache(maxsize=16384)
def word_rarity(word: str) -> float:
    """How unusual an English word is, by its pieces' places in a vocabulary with the commonest first."""
    with _load_lock:
        model = _load()
    pieces = model.tokenizer.encode(f" {word}", add_special_tokens=False).ids
    return math.log(1 + max(pieces, default=0)) + 1.5 * max(0, len(pieces) - 1)
