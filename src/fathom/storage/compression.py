"""How texts and checkpoints are compressed: zlib for pages, which are written once, zstd for checkpoints.

A checkpoint is compressed on the event loop after every step, and zstd is two to four times as quick. What
earlier versions compressed with zlib is still read.
"""

import sqlite3
import zlib

import zstandard

_MARK = "+zstd"
_ZLIB_MARK = "+z"  # how versions before 0.3 marked checkpoints
_ZSTD_LEVEL = 3
_SHORT_BYTES = 512  # compressing less than this saves nothing
_LEVEL = 6


def pack_text(text: str) -> bytes:
    """Return a text as compressed bytes; half a character becomes a question mark."""
    return zlib.compress(text.encode("utf-8", "replace"), _LEVEL)


def unpack_text(body: bytes) -> str:
    """Return the text of compressed bytes."""
    try:
        return zlib.decompress(body).decode()
    except (zlib.error, ValueError, TypeError) as error:
        raise DamagedRecord(error) from error


class DamagedRecord(sqlite3.DatabaseError):
    """Raised when stored bytes are damaged."""

    def __init__(self, error: Exception) -> None:
        super().__init__(f"a stored record is damaged ({type(error).__name__})")


def deflate(kind: str, body: bytes) -> tuple[str, bytes]:
    """Return typed bytes compressed, and the type marked, unless they are short."""
    if len(body) <= _SHORT_BYTES:
        return kind, body
    return kind + _MARK, zstandard.ZstdCompressor(_ZSTD_LEVEL, write_checksum=True).compress(body)


def inflate(kind: str, body: bytes) -> tuple[str, bytes]:
    """Return typed bytes as they were before `deflate`."""
    try:
        if kind.endswith(_MARK):
            return kind.removesuffix(_MARK), zstandard.decompress(body)
        if kind.endswith(_ZLIB_MARK):
            return kind.removesuffix(_ZLIB_MARK), zlib.decompress(body)
    except (zlib.error, zstandard.ZstdError, MemoryError) as error:
        raise DamagedRecord(error) from error
    return kind, body
