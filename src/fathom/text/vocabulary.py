"""The vocabulary that the wordllama wheel carries, 32,000 pieces of words, read once a process.

Does not know what it is used for: tokens are counted with it, and texts are embedded by it.
"""

from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any


def wheel() -> Path:
    """Where the wheel's files are."""
    spec = find_spec("wordllama")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


@cache
def vocabulary() -> Any:
    """The tokenizer; whoever asks for it first waits a tenth of a second."""
    from tokenizers import Tokenizer

    return Tokenizer.from_file(str(wheel() / "tokenizers" / "l2_supercat_tokenizer_config.json"))
