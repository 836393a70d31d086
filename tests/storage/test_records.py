"""Checkpoints of earlier versions are still read."""

import zlib

from fathom.storage.records import deflate, inflate

BODY = b"a checkpoint of some length " * 100


def test_what_was_compressed_comes_back() -> None:
    kind, packed = deflate("msgpack", BODY)
    assert len(packed) < len(BODY) / 4
    assert inflate(kind, packed) == ("msgpack", BODY)


def test_short_bytes_stay_as_they_are() -> None:
    assert deflate("msgpack", b"short") == ("msgpack", b"short")


def test_a_checkpoint_compressed_with_zlib_is_still_read() -> None:
    assert inflate("msgpack+z", zlib.compress(BODY)) == ("msgpack", BODY)
