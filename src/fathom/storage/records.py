"""The rows that storage takes and returns, as plain records. Amounts are whole billionths of a dollar."""

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

SignalWord = Literal["pause", "go", "stop", "add"]
SIGNAL_WORDS: tuple[SignalWord, ...] = get_args(SignalWord)
NANO = 1_000_000_000


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
