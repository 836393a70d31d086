"""How texts and checkpoints are compressed.

Does not know what is in them.
"""

import zlib

_MARK = "+z"
_SHORT_BYTES = 512  # compressing less than this saves nothing
_LEVEL = 6


def pack_text(text: str) -> bytes:
    """Return a text as compressed bytes; half a character becomes a question mark."""
    return zlib.compress(text.encode("utf-8", "replace"), _LEVEL)


def unpack_text(body: bytes) -> str:
    """Return the text of compressed bytes."""
    return zlib.decompress(body).decode()


def deflate(kind: str, body: bytes) -> tuple[str, bytes]:
    """Return typed bytes compressed, and the type marked, unless they are short."""
    return (kind + _MARK, zlib.compress(body, _LEVEL)) if len(body) > _SHORT_BYTES else (kind, body)


def inflate(kind: str, body: bytes) -> tuple[str, bytes]:
    """Return typed bytes as they were before `deflate`."""
    return (kind.removesuffix(_MARK), zlib.decompress(body)) if kind.endswith(_MARK) else (kind, body)
