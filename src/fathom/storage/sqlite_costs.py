"""Payments in SQLite.

Does not know budgets. A reservation sums and inserts in one transaction, so that no two processes spend the
same money.
"""

import sqlite3
from dataclasses import dataclass
from typing import Any

from fathom.storage.database import Database
from fathom.storage.protocol import Balance
from fathom.storage.records import Call, CostLine

_SPENT = "select coalesce(sum(nano), 0) from payments where run = ?"


@dataclass(frozen=True)
class SqliteCosts:
    """All payments; see `CostStore`."""

    database: Database

    async def reserve(
        self, run: str, call: Call, most: int, least: int, limit: int, at: float
    ) -> tuple[int, int] | int:
        """Reserve `most` if it fits below the limit, else what fits if that is `least` or more."""

        def reserve(connection: sqlite3.Connection) -> tuple[int, int] | int:
            connection.execute("begin immediate")  # nobody else writes between the sum and the line
            spent = int(connection.execute(_SPENT, (run,)).fetchone()[0])
            amount = min(most, limit - spent)
            if amount < least:
                return spent
            words = (
                "insert into payments (run, call, role, model, nano, reserved_at) values (?, ?, ?, ?, ?, ?)"
            )
            line = connection.execute(words, (run, *call, amount, at)).lastrowid
            assert line is not None
            return line, amount

        return await self.database.write(reserve)

    async def settle(self, line: int, amount: int, tokens_in: int, tokens_out: int, at: float) -> None:
        """Replace a reservation by what was really paid."""
        words = "update payments set nano = ?, tokens_in = ?, tokens_out = ?, settled_at = ? where id = ?"
        await self._write(words, amount, tokens_in, tokens_out, at, line)

    async def settle_open(
        self, run: str, call: str, amount: int, tokens_in: int, tokens_out: int, at: float
    ) -> None:
        """Settle the last open line of a call, unless another line of the call is settled."""
        words = (
            "update payments set nano = ?3, tokens_in = ?4, tokens_out = ?5, settled_at = ?6 where id ="
            " (select max(id) from payments where run = ?1 and call = ?2 and settled_at is null) and not"
            " exists (select 1 from payments where run = ?1 and call = ?2 and settled_at is not null)"
        )
        await self._write(words, run, call, amount, tokens_in, tokens_out, at)

    async def add(
        self, run: str, call: Call, amount: int, tokens_in: int, tokens_out: int, at: float
    ) -> None:
        """Add a settled line."""
        words = (
            "insert into payments (run, call, role, model, nano, tokens_in, tokens_out, reserved_at,"
            " settled_at) values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8)"
        )
        await self._write(words, run, *call, amount, tokens_in, tokens_out, at)

    async def release(self, line: int) -> None:
        """Remove a reservation."""
        await self._write("delete from payments where id = ?", line)

    async def mark_out(self, run: str) -> None:
        """Remember that a call of the run was refused for lack of money."""
        await self._write("insert or ignore into refused_payments values (?)", run)

    async def mark_overspent(self, run: str, model: str, amount: int, reserved: int) -> None:
        """Remember the first time a model took more than was reserved."""
        await self._write("insert or ignore into overspent values (?, ?, ?, ?)", run, model, amount, reserved)

    async def overspent(self, run: str) -> dict[str, tuple[int, int]]:
        """Return amount and reservation by model."""
        words = "select model, nano, reserved from overspent where run = ?"
        rows = await self._rows(words, run)
        return {model: (nano, reserved) for model, nano, reserved in rows}

    async def balance(self, run: str) -> Balance:
        """Return where a run stands."""
        words = f"select ({_SPENT}), exists (select 1 from refused_payments where run = ?)"  # noqa: S608
        ((spent, is_out),) = await self._rows(words, run, run)
        return Balance(int(spent), bool(is_out))

    async def spent(self, thread: str) -> int:
        """Return what everything that was begun in a thread has spent or reserved."""
        words = "select coalesce(sum(nano), 0) from payments where run = ?1 or run glob ?1 || '/*'"
        ((spent,),) = await self._rows(words, thread)
        return int(spent)

    async def paid(self, run: str, call: str) -> int | None:
        """Return what a run has spent or reserved for one call; None if it has no line."""
        ((found,),) = await self._rows("select sum(nano) from payments where run = ? and call = ?", run, call)
        return None if found is None else int(found)

    async def paid_by_call(self, run: str) -> dict[Call, int]:
        """Return what a run has spent or reserved, by call, the latest first."""
        words = (
            "select call, role, model, sum(nano) from payments where run = ? group by 1 order by max(id) desc"
        )
        return {Call(*names): int(paid) for *names, paid in await self._rows(words, run)}

    async def lines_of_latest(self, most_runs: int) -> dict[str, list[CostLine]]:
        """Return all lines of the runs that paid last, the newest run first."""
        latest = "select run from payments group by run order by max(id) desc limit ?"
        lines = (
            "select role, model, tokens_in, tokens_out, reserved_at, coalesce(settled_at, reserved_at)"
            " from payments where run = ? order by id"
        )

        def find(connection: sqlite3.Connection) -> dict[str, list[CostLine]]:
            runs = [run for (run,) in connection.execute(latest, (most_runs,))]
            return {run: [CostLine(*row) for row in connection.execute(lines, (run,))] for run in runs}

        return await self.database.read(find)

    async def _write(self, words: str, *values: object) -> None:
        await self.database.write(lambda c: c.execute(words, values))

    async def _rows(self, words: str, *values: object) -> list[tuple[Any, ...]]:
        return await self.database.read(lambda c: c.execute(words, values).fetchall())
