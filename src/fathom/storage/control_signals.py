"""Control signals: steer a run from anywhere, another terminal or another process, while it works.

A signal is taken once, by the first round or step that asks; asking again from there returns the same signal.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from fathom.errors import BadInput
from fathom.storage import Storage
from fathom.storage.records import SIGNAL_WORDS as WORDS
from fathom.storage.records import Signal as Order
from fathom.storage.records import SignalWord as Word

_MOST_CHARS = 400


@dataclass(frozen=True)
class ControlSignals:
    """All control signals of a database; every call is a short transaction, safe from any thread."""

    storage: Storage

    async def give(self, run_id: str, word: str, text: str = "") -> Order:
        """Add a signal; `go` also cancels a pause that no run has taken yet."""
        known, text = _check_signal(word, " ".join(text.split()))
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        return await self.storage.signals.add(
            run_id, known, text, at, cancels=["pause"] if known == "go" else []
        )

    async def pending(self, run_id: str) -> list[Order]:
        """Return the signals that no run has taken yet, oldest first."""
        return await self.storage.signals.pending(run_id)

    async def runs_to_pause(self) -> set[str]:
        """Return the runs with a pending pause: one query for all runs of a process."""
        return await self.storage.signals.runs_with_pending("pause")

    async def resumed(self, run_id: str) -> None:
        """Mark pending pause signals as consumed on resume."""
        await self.taken(run_id, ("pause", "go"), "resumed")

    async def ended(self, run_id: str) -> None:
        """Mark all pending signals of an ended run as consumed."""
        await self.taken(run_id, WORDS, "ended")

    def of(self, run_id: str | None) -> "RunSignals":
        """Return the signals of one run, for its nodes; a run that is not saved has none."""
        return RunSignals(self, run_id or "")

    async def taken(self, run_id: str, kinds: Sequence[Word], taker: str, number: int = 0) -> list[Order]:
        """Take the pending signals of these kinds; return all that this taker took, now or before."""
        return await self.storage.signals.take(run_id, kinds, taker, number)


def _check_signal(word: str, text: str) -> tuple[Word, str]:
    """Return a known word and its text, or BadInput."""
    known = next((name for name in WORDS if name == word), None)
    if known is None:
        raise BadInput(f"There is no order {word!r}; there are {', '.join(WORDS)}.")
    if (known == "add") != bool(text):
        raise BadInput("Add needs a query." if known == "add" else f"{word.capitalize()} takes no words.")
    if len(text) > _MOST_CHARS:
        raise BadInput(f"A query has at most {_MOST_CHARS} characters, this one has {len(text)}.")
    return known, text


@dataclass(frozen=True)
class RunSignals:
    """The control signals of one run, as nodes see them (`fathom.nodes.ports`)."""

    signals: ControlSignals
    run_id: str

    async def added(self, number: int, place: str = "review") -> Mapping[int, str]:
        """Return the queries that were added for this round, by the numbers of their signals."""
        took = await self._taken("add", f"{place} {number}", number)
        return {order.number: order.text for order in took}

    async def waiting(self) -> list[str]:
        """Return the added queries that belong to no round yet."""
        return [order.text for order in await self._pending() if order.word == "add"]

    async def is_pausing(self, place: str) -> bool:
        """Whether a pause was requested; the signal is consumed at this place."""
        return bool(await self._taken("pause", place, 0))

    async def is_stopping(self, place: str = "") -> bool:
        """Whether the search should stop; with a place, the signal is consumed there."""
        if place:
            return bool(await self._taken("stop", place, 0))
        return any(order.word == "stop" for order in await self._pending())

    async def _pending(self) -> list[Order]:
        return await self.signals.pending(self.run_id) if self.run_id else []

    async def _taken(self, word: Word, taker: str, number: int) -> list[Order]:
        if not self.run_id:
            return []
        return await self.signals.taken(self.run_id, (word,), taker, number)
