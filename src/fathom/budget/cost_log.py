"""The book of payments: one line a call, written before it is sent and corrected when it is answered.

Does not know budgets' sizes or who waits. What a killed process left open stays in the sum. Amounts are whole
billionths of a dollar, rounded up, so that many small ones add up to exactly what they are.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from fathom.database import looked_up, opened, written

NANO = 1_000_000_000


def nano(usd: float) -> int:
    """Whole billionths, rounded up; the dust of floating point is no billionth."""
    return math.ceil(round(usd * NANO, 4))


class Call(NamedTuple):
    """What is paid for: the name of the call, who asks, and whom."""

    name: str
    role: str
    model: str


class Balance(NamedTuple):
    """What a run has spent or set aside, and whether a search for more had to be refused."""

    nano: int
    is_out: bool


@dataclass(frozen=True)
class CostLog:
    """The payments of all runs of a database; every call is its own short transaction."""

    database: Path
    clock: Callable[[], float] = time.time

    async def hold(self, run: str, call: Call, most: int, least: int, limit: int) -> tuple[int, int] | int:
        """Set `most` aside if it fits below the limit, else what fits, if that is `least` or more.

        Gives the line's number and its amount, or, when it does not fit, what the run has spent so far.
        """
        return await written(self.database, self._hold, run, call, most, least, limit)

    async def settle(self, line: int, amount: int, tokens_in: int, tokens_out: int) -> None:
        """The line as it was really paid."""
        words = "update payments set nano = ?, tokens_in = ?, tokens_out = ?, settled = ? where id = ?"
        await written(self.database, self._write, words, (amount, tokens_in, tokens_out, self.clock(), line))

    async def overspend(self, run: str, model: str, amount: int, held: int) -> None:
        """Remember who took more than was set aside."""
        words = "insert or ignore into overspent values (?, ?, ?, ?)"
        await written(self.database, self._write, words, (run, model, amount, held))

    async def overspent(self, run: str) -> dict[str, tuple[int, int]]:
        """Who took more in a run than was set aside: by model or engine, how much, and what was set aside."""
        return await looked_up(self.database, self._overspent, run)

    async def note(self, run: str, call: Call, amount: int, tokens_in: int, tokens_out: int) -> None:
        """A line for a call that nothing had to be set aside for."""
        words = (
            "insert into payments (run, call, role, model, nano, tokens_in, tokens_out, held, settled)"
            " values (?, ?, ?, ?, ?, ?, ?, ?, ?)"
        )
        now = self.clock()
        values = (run, *call, amount, tokens_in, tokens_out, now, now)
        await written(self.database, self._write, words, values)

    async def release(self, line: int) -> None:
        """Strike the line out: the call was refused, and nobody is paid for a refusal."""
        await written(self.database, self._write, "delete from payments where id = ?", (line,))

    async def out(self, run: str) -> None:
        """Remember that something did not fit."""
        await written(self.database, self._write, "insert or ignore into spent_out values (?)", (run,))

    async def balance(self, run: str) -> Balance:
        """Where a run stands."""
        return await looked_up(self.database, self._balance, run)

    async def spent_usd(self, thread: str) -> float:
        """What all that was begun in a thread has spent or set aside."""
        return await looked_up(self.database, self._spent_usd, thread)

    async def payments(self, run: str) -> dict[Call, int]:
        """All that a run has paid, or may have paid, by call, the latest first."""
        return await looked_up(self.database, self._payments, run)

    async def paid(self, run: str, call: str) -> int | None:
        """All that a run has paid, or may have paid, for one call; None when it has no line."""
        return await looked_up(self.database, self._paid, run, call)

    async def close(self, run: str, call: str, amount: int, tokens_in: int, tokens_out: int) -> None:
        """Settle what a crash left open for a call whose answer turns out to be known."""
        words = (
            "update payments set nano = ?, tokens_in = ?, tokens_out = ?, settled = ? where id ="
            " (select max(id) from payments where run = ? and call = ? and settled is null)"
            " and not exists (select 1 from payments where run = ? and call = ? and settled is not null)"
        )
        values = (amount, tokens_in, tokens_out, self.clock(), run, call, run, call)
        await written(self.database, self._write, words, values)

    def _hold(self, run: str, call: Call, most: int, least: int, limit: int) -> tuple[int, int] | int:
        with opened(self.database) as connection:
            connection.execute("begin immediate")  # nobody else writes between the sum and the line
            spent = _sum(connection.execute(_SPENT, (run,)).fetchone())
            amount = min(most, limit - spent)
            if amount < least:
                return spent
            words = "insert into payments (run, call, role, model, nano, held) values (?, ?, ?, ?, ?, ?)"
            line = connection.execute(words, (run, *call, amount, self.clock())).lastrowid
        assert line is not None
        return line, amount

    def _write(self, words: str, values: tuple[object, ...]) -> None:
        with opened(self.database) as connection:
            connection.execute(words, values)

    def _balance(self, run: str) -> Balance:
        with opened(self.database) as connection:
            spent = _sum(connection.execute(_SPENT, (run,)).fetchone())
            is_out = connection.execute("select 1 from spent_out where run = ?", (run,)).fetchone()
        return Balance(spent, is_out is not None)

    def _overspent(self, run: str) -> dict[str, tuple[int, int]]:
        words = "select model, nano, held from overspent where run = ?"
        with opened(self.database) as connection:
            return {model: (nano, held) for model, nano, held in connection.execute(words, (run,))}

    def _spent_usd(self, thread: str) -> float:
        words = "select coalesce(sum(nano), 0) from payments where run = ?1 or run glob ?1 || '/*'"
        with opened(self.database) as connection:
            return _sum(connection.execute(words, (thread,)).fetchone()) / NANO

    def _payments(self, run: str) -> dict[Call, int]:
        words = (
            "select call, role, model, sum(nano) from payments where run = ? group by 1 order by max(id) desc"
        )
        with opened(self.database) as connection:
            return {Call(*names): int(paid) for *names, paid in connection.execute(words, (run,))}

    def _paid(self, run: str, call: str) -> int | None:
        words = "select sum(nano) from payments where run = ? and call = ?"
        with opened(self.database) as connection:
            (found,) = connection.execute(words, (run, call)).fetchone()
        return None if found is None else int(found)


_SPENT = "select coalesce(sum(nano), 0) from payments where run = ?"


def _sum(row: tuple[int]) -> int:
    return int(row[0])
