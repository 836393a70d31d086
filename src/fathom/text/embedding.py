"""Texts as vectors, by the static English word vectors that the wordllama wheel carries.

Never touches the network: wordllama 0.4.0 looks for its tokenizer in a folder its wheel does not have and
would download it, so it is told where the file is. Does not know Korean, Chinese or Japanese: ask
`is_embeddable`.
"""

import logging
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fathom.text.tokens import has_paired_script, tokens

Vectors = NDArray[np.float32]

_WIDTH = 256
_MAX_CHARS = 4000
_loading = Lock()


@cache
def _load() -> Any:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    from wordllama import WordLlama  # half a second of imports, paid only by those who embed

    # Importing it sets up logging for the whole process, which is not a library's to do.
    root.handlers[:] = handlers
    root.setLevel(level)

    spec = find_spec("wordllama")
    assert spec is not None
    assert spec.origin is not None
    return WordLlama.load(cache_dir=Path(spec.origin).parent, disable_download=True)


def is_embeddable(text: str) -> bool:
    """Whether the vectors mean anything for this text."""
    return not has_paired_script(text)


def embed(texts: Sequence[str]) -> Vectors:
    """One unit vector a text (its first 4,000 characters); a dot product is a cosine, no words are zeros."""
    with _loading:
        model = _load()
    if not texts:
        return np.zeros((0, _WIDTH), dtype=np.float32)
    # A batch is padded to its longest text, so one book among sentences would cost gigabytes.
    vectors: Vectors = model.embed([text[:_MAX_CHARS] or " " for text in texts])
    vectors[[not tokens(text[:_MAX_CHARS]) for text in texts]] = 0
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Vectors = (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)
    return unit
