"""The tokenizer of the very small local model, read out of its file: a real one that needs no server.

Does not know the weights. GGUF: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

import struct
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from standins.localmodel import weights

_NUMBERS = {
    0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d",
}  # fmt: skip
_STRING, _LIST = 8, 9


@cache
def small_vocabulary() -> Tokenizer:
    """49,152 pieces, nearly all of them English; every digit is one, and what it does not know it spells."""
    path = weights()
    assert path is not None
    told = _header(path)
    pieces: list[str] = told["tokenizer.ggml.tokens"]
    merges = [tuple(pair.split(" ", 1)) for pair in told["tokenizer.ggml.merges"]]
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def small_count(text: str) -> int:
    """How many tokens the small model makes of a text."""
    return len(small_vocabulary().encode(text, add_special_tokens=False).ids)


def _header(path: Path) -> dict[str, Any]:
    with path.open("rb") as file:
        assert file.read(4) == b"GGUF"
        _, _, count = (_number(file, kind) for kind in (4, 10, 10))
        return {_string(file): _value(file, _number(file, 4)) for _ in range(count)}


def _value(file: BinaryIO, kind: int) -> Any:
    if kind == _STRING:
        return _string(file)
    if kind == _LIST:
        inner, count = _number(file, 4), _number(file, 10)
        return [_value(file, inner) for _ in range(count)]
    return _number(file, kind)


def _number(file: BinaryIO, kind: int) -> Any:
    form = _NUMBERS[kind]
    return struct.unpack(form, file.read(struct.calcsize(form)))[0]


def _string(file: BinaryIO) -> str:
    return file.read(_number(file, 10)).decode("utf-8", "surrogateescape")
