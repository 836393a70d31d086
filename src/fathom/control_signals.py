"""Orders: how a run is steered from anywhere, another terminal or another process, while it works.

Does not know who works on the run or how an order is carried out. An order is taken once, by the round or the
step that sees it first; whoever asks again in that place is told the same.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, get_args

from fathom.database import looked_up, opened, written
from fathom.errors import BadInput

Word = Literal["pause", "go", "stop", "add"]
WORDS: tuple[Word, ...] = get_args(Word)
_MOST_CHARS = 400
_COLUMNS = "number, word, text, at, round"


@dataclass(frozen=True)
class Order:
    """One order for one run; `round` is the round that took it, 0 for none."""

    number: int
    word: Word
    text: str
    at: str
    round: int


@dataclass(frozen=True)
class ControlSignals:
    """All orders of a database; every call is its own short transaction, safe from any thread and process."""

    database: Path

    async def give(self, run_id: str, word: str, text: str = "") -> Order:
        """Leave an order; `go` also takes back a pause that nobody has seen yet."""
        return await written(self.database, self._give, run_id, word, " ".join(text.split()))

    async def pending(self, run_id: str) -> list[Order]:
        """What nobody has taken yet, oldest first."""
        return await looked_up(self.database, self._pending, run_id)

    async def pausing(self) -> set[str]:
        """The runs that somebody wants to pause: one look for all runs of a process."""
        return await looked_up(self.database, self._pausing)

    async def resumed(self, run_id: str) -> None:
        """Whoever goes on with a run has done with pauses."""
        await self.taken(run_id, ("pause", "go"), "resumed")

    async def ended(self, run_id: str) -> None:
        """A run is over; what was ordered too late means nothing any more."""
        await self.taken(run_id, WORDS, "ended")

    def of(self, run_id: str | None) -> "RunSignals":
        """The orders of one run, as its nodes ask for them; a run that is not saved has none."""
        return RunSignals(self, run_id or "")

    async def taken(self, run_id: str, kinds: Sequence[Word], taker: str, number: int = 0) -> list[Order]:
        """Every order of these kinds that this taker took, now or before."""
        return await written(self.database, self._take, run_id, kinds, taker, number)

    def _give(self, run_id: str, word: str, text: str) -> Order:
        known = next((name for name in WORDS if name == word), None)
        if known is None:
            raise BadInput(f"There is no order {word!r}; there are {', '.join(WORDS)}.")
        if (known == "add") != bool(text):
            raise BadInput("Add needs a query." if known == "add" else f"{word.capitalize()} takes no words.")
        if len(text) > _MOST_CHARS:
            raise BadInput(f"A query has at most {_MOST_CHARS} characters, this one has {len(text)}.")
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        with opened(self.database) as connection:
            if known == "go":
                connection.execute(_TAKE.format("word = 'pause'"), ("go", 0, run_id))
            words = "insert into orders (run, word, text, at) values (?, ?, ?, ?)"
            number = connection.execute(words, (run_id, known, text, at)).lastrowid or 0
        return Order(number, known, text, at, 0)

    def _pending(self, run_id: str) -> list[Order]:
        words = f"select {_COLUMNS} from orders where run = ? and taker = '' order by number"  # noqa: S608
        with opened(self.database) as connection:
            return [Order(*row) for row in connection.execute(words, (run_id,))]

    def _pausing(self) -> set[str]:
        words = "select distinct run from orders where taker = '' and word = 'pause'"
        with opened(self.database) as connection:
            return {row[0] for row in connection.execute(words)}

    def _take(self, run_id: str, kinds: Sequence[Word], taker: str, number: int) -> list[Order]:
        chosen = " or ".join(f"word = '{kind}'" for kind in kinds)
        words = f"select {_COLUMNS} from orders where run = ? and taker = ? and ({chosen}) order by number"  # noqa: S608
        if any(order.word in kinds for order in self._pending(run_id)):
            with opened(self.database) as connection:
                connection.execute(_TAKE.format(chosen), (taker, number, run_id))
        with opened(self.database) as connection:
            return [Order(*row) for row in connection.execute(words, (run_id, taker))]


_TAKE = "update orders set taker = ?, round = ? where run = ? and taker = '' and ({})"


@dataclass(frozen=True)
class RunSignals:
    """The orders of one run; see `fathom.nodes.ports.Orders`."""

    signals: ControlSignals
    run_id: str

    async def added(self, number: int, place: str = "review") -> Mapping[int, str]:
        """The queries that belong to this round, taken in this place, by the number of their order."""
        took = await self._taken("add", f"{place} {number}", number)
        return {order.number: order.text for order in took}

    async def waiting(self) -> list[str]:
        """Queries that were added and belong to no round yet."""
        return [order.text for order in await self._pending() if order.word == "add"]

    async def is_pausing(self, place: str) -> bool:
        """Whether a person wants a pause, here."""
        return bool(await self._taken("pause", place, 0))

    async def is_stopping(self, place: str = "") -> bool:
        """Whether a person wants no more to be looked for; with a place, the order is carried out there."""
        if place:
            return bool(await self._taken("stop", place, 0))
        return any(order.word == "stop" for order in await self._pending())

    async def _pending(self) -> list[Order]:
        return await self.signals.pending(self.run_id) if self.run_id else []

    async def _taken(self, word: Word, taker: str, number: int) -> list[Order]:
        if not self.run_id:
            return []
        return await self.signals.taken(self.run_id, (word,), taker, number)
