"""The log of costs: one line a call, written before it is sent and corrected when it is answered.

Does not know budgets' sizes or who waits. What a killed process left open stays in the sum. Amounts are whole
billionths of a dollar, rounded up, so that many small ones add up to exactly what they are.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from fathom.storage import Storage
from fathom.storage.records import Balance, CostLine, PaidCall
from fathom.storage.run_tables import CostTable

NANO = 1_000_000_000


def to_nano(usd: float) -> int:
    """Whole billionths, rounded up; the dust of floating point is no billionth."""
    return math.ceil(round(usd * NANO, 4))


@dataclass(frozen=True)
class CostLog:
    """The payments of all runs of a database; every call is its own short transaction."""

    storage: Storage
    clock: Callable[[], float] = time.time

    @property
    def _costs(self) -> CostTable:
        return self.storage.costs

    async def hold(
        self, run: str, call: PaidCall, most: int, least: int, limit: int
    ) -> tuple[int, int] | int:
        """Set `most` aside if it fits below the limit, else what fits, if that is `least` or more.

        Gives the line's number and its amount, or, when it does not fit, what the run has spent so far.
        """
        return await self._costs.reserve(run, call, most, least, limit, self.clock())

    async def settle(self, line: int, amount: int, tokens_in: int, tokens_out: int) -> None:
        """The line as it was really paid."""
        await self._costs.settle(line, amount, tokens_in, tokens_out, self.clock())

    async def overspend(self, run: str, model: str, amount: int, held: int) -> None:
        """Remember who took more than was set aside."""
        await self._costs.mark_overspent(run, model, amount, held)

    async def overspent(self, run: str) -> dict[str, tuple[int, int]]:
        """Who took more in a run than was set aside: by model or engine, how much, and what was set aside."""
        return await self._costs.overspent(run)

    async def note(self, run: str, call: PaidCall, amount: int, tokens_in: int, tokens_out: int) -> None:
        """A line for a call that nothing had to be set aside for."""
        await self._costs.add(run, call, amount, tokens_in, tokens_out, self.clock())

    async def release(self, line: int) -> None:
        """Strike the line out: the call was refused, and nobody is paid for a refusal."""
        await self._costs.release(line)

    async def out(self, run: str) -> None:
        """Remember that something did not fit."""
        await self._costs.mark_out(run)

    async def balance(self, run: str) -> Balance:
        """Where a run stands."""
        return await self._costs.balance(run)

    async def spent_usd(self, thread: str) -> float:
        """What all that was begun in a thread has spent or set aside."""
        return await self._costs.spent(thread) / NANO

    async def payments(self, run: str) -> dict[PaidCall, int]:
        """All that a run has paid, or may have paid, by call, the latest first."""
        return await self._costs.paid_by_call(run)

    async def paid(self, run: str, call: str) -> int | None:
        """All that a run has paid, or may have paid, for one call; None when it has no line."""
        return await self._costs.paid(run, call)

    async def close(self, run: str, call: str, amount: int, tokens_in: int, tokens_out: int) -> None:
        """Settle what a crash left open for a call whose answer turns out to be known."""
        await self._costs.settle_open(run, call, amount, tokens_in, tokens_out, self.clock())

    async def lines_of_latest(self, most_runs: int) -> dict[str, list[CostLine]]:
        """All lines of the runs that paid last, the newest run first."""
        return await self._costs.lines_of_latest(most_runs)

    async def remember_shape(self, run: str, shape: str) -> None:
        """Remember of what kind a run is, for forecasts."""
        await self.storage.runs.remember_shape(run, shape)

    async def shapes(self) -> dict[str, str]:
        """Of what kind the runs were."""
        return await self.storage.runs.shapes()
