"""The rows that storage takes and returns, as plain records, and how texts and checkpoints are compressed.

Amounts are whole billionths of a dollar. Pages, which are written once, are compressed with zlib. Checkpoints
are compressed on the event loop after every step, with zstd, which is two to four times as quick; zlib is
still read there, for earlier versions used it.
"""

import math
import sqlite3
import zlib
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import zstandard

SignalWord = Literal["pause", "go", "stop", "add"]
SIGNAL_WORDS: tuple[SignalWord, ...] = get_args(SignalWord)
NANO = 1_000_000_000
_MARK = "+zstd"
_ZLIB_MARK = "+z"  # how versions before 0.3 marked checkpoints
_ZSTD_LEVEL = 3
_SHORT_BYTES = 512  # compressing less than this saves nothing
_LEVEL = 6


def to_nano(usd: float) -> int:
    """Return whole billionths, rounded up; rounding noise of floats adds nothing."""
    return math.ceil(round(usd * NANO, 4))


class PaidCall(NamedTuple):
    """A call that costs money: its name, the role that asks, and the model or engine."""

    name: str
    role: str
    model: str


class Balance(NamedTuple):
    """What a run has spent or reserved, and whether a call was ever refused for lack of money."""

    nano: int
    is_out: bool


class CostLine(NamedTuple):
    """One payment, with the times of its reservation and of its settlement."""

    role: str
    model: str
    tokens_in: int
    tokens_out: int
    reserved_at: float
    settled_at: float


@dataclass(frozen=True)
class StoredReply:
    """A reply, the run it is stored for, and whether that run sent the call itself."""

    text: str
    run: str
    at: float
    is_own: bool


@dataclass(frozen=True)
class WebPage:
    """A parsed page as JSON, and its server's cache headers; times are seconds since the epoch."""

    document: str
    checked: float
    fresh_s: float
    fetched: str
    etag: str | None
    modified: str | None
    content_type: str | None
    sha: str


@dataclass(frozen=True)
class Signal:
    """One control signal for one run; `round` is the round that took it, 0 for none."""

    number: int
    word: SignalWord
    text: str
    at: str
    round: int


@dataclass(frozen=True)
class RunRecord:
    """One run as a list shows it; `started` is a time of ISO 8601, links are ids of other runs."""

    run: str
    question: str
    status: str
    started: str
    rounds: int = 0
    cost_usd: float = 0.0
    updates: str = ""
    follows: str = ""
    forks: str = ""
    last_step: str = ""  # the checkpoint it was made from; a later checkpoint makes it outdated


@dataclass(frozen=True)
class Watch:
    """A report that is updated at intervals; times are in seconds."""

    run: str  # the run that is watched
    latest: str  # its latest update, or itself
    every_s: float
    due: float  # when the next update is due, since the epoch
    webhook: str = ""
    problem: str = ""  # why the last update failed
    updating: str = ""  # the update that has started and not ended


@dataclass(frozen=True)
class RemovedRows:
    """What was removed, in rows and in bytes."""

    rows: int = 0
    bytes: int = 0
    pages: int = 0
    replies: int = 0


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
