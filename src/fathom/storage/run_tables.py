"""Tables by run: costs, control signals, page leases, threads, run records and watches."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from datetime import UTC, datetime
from uuid import uuid4

from fathom.errors import BadInput
from fathom.storage.records import (
    NANO,
    SIGNAL_WORDS,
    Balance,
    Connection,
    CostLine,
    PaidCall,
    RunRecord,
    Signal,
    SignalWord,
    Table,
    Watch,
    replace_row,
)

_REPLACE_RECORD = replace_row("run_records", *(field.name for field in fields(RunRecord)))
_REPLACE_WATCH = replace_row("watches", *(field.name for field in fields(Watch)))
_MOST_SIGNAL_CHARS = 400
_SPENT = "select coalesce(sum(nano), 0) from payments where run = ?"


BatchLimit = Callable[[Connection, str], int | None]


@dataclass(frozen=True)
class CostTable(Table):
    """Payments, one line per call, written before the call and settled after it.

    The reservations of a killed process stay in the sum. `left_in_batch` returns what several runs may still
    spend together.
    """

    left_in_batch: BatchLimit = lambda _connection, _run: None
    clock: Callable[[], float] = time.time

    async def reserve(
        self, run: str, call: PaidCall, most: int, least: int, limit: int
    ) -> tuple[int, int] | int:
        """Reserve `most` if it fits below the limit, else what fits if that is `least` or more.

        Sum and insert are one transaction. Returns the line and its amount, or what the run has spent.
        """

        def reserve(connection: Connection) -> tuple[int, int] | int:
            spent = int(connection.execute(_SPENT, (run,)).fetchone()[0])
            left = self.left_in_batch(connection, run)
            amount = min(most, limit - spent, most if left is None else left)
            if amount < least:
                return spent
            words = (
                "insert into payments (run, call, role, model, nano, reserved_at)"
                " values (?, ?, ?, ?, ?, ?) returning id"
            )
            return int(connection.execute(words, (run, *call, amount, self.clock())).fetchone()[0]), amount

        # Nobody else writes between the sum and the line.
        return await self.database.write(reserve, alone=run)

    async def settle(self, line: int, amount: int, tokens_in: int, tokens_out: int) -> None:
        """Replace a reservation by the real cost."""
        words = "update payments set nano = ?, tokens_in = ?, tokens_out = ?, settled_at = ? where id = ?"
        await self._write(words, amount, tokens_in, tokens_out, self.clock(), line)

    async def settle_open(self, run: str, call: str, amount: int, tokens_in: int, tokens_out: int) -> None:
        """Settle the last open line of a call, unless another line of the call is settled."""
        words = (
            "update payments set nano = ?, tokens_in = ?, tokens_out = ?, settled_at = ? where id ="
            " (select max(id) from payments where run = ? and call = ? and settled_at is null) and not"
            " exists (select 1 from payments where run = ? and call = ? and settled_at is not null)"
        )
        await self._write(words, amount, tokens_in, tokens_out, self.clock(), run, call, run, call)

    async def add(self, run: str, call: PaidCall, amount: int, tokens_in: int, tokens_out: int) -> None:
        """Add a settled line."""
        words = (
            "insert into payments (run, call, role, model, nano, tokens_in, tokens_out, reserved_at,"
            " settled_at) values (?, ?, ?, ?, ?, ?, ?, ?, ?)"
        )
        at = self.clock()
        await self._write(words, run, *call, amount, tokens_in, tokens_out, at, at)

    async def release(self, line: int) -> None:
        """Remove a reservation."""
        await self._write("delete from payments where id = ?", line)

    async def mark_out(self, run: str) -> None:
        """Note that a call of the run was refused for lack of money."""
        await self._write("insert into refused_payments values (?) on conflict do nothing", run)

    async def mark_overspent(self, run: str, model: str, amount: int, reserved: int) -> None:
        """Note the first time a model or engine cost more than was reserved."""
        words = "insert into overspent values (?, ?, ?, ?) on conflict do nothing"
        await self._write(words, run, model, amount, reserved)

    async def overspent(self, run: str) -> dict[str, tuple[int, int]]:
        """Return amount and reservation by model."""
        words = "select model, nano, reserved from overspent where run = ?"
        rows = await self._rows(words, run)
        return {model: (nano, reserved) for model, nano, reserved in rows}

    async def balance(self, run: str) -> Balance:
        """Return what a run has spent, and whether a call was refused."""
        words = f"select ({_SPENT}), exists (select 1 from refused_payments where run = ?)"  # noqa: S608
        ((spent, is_out),) = await self._rows(words, run, run)
        return Balance(int(spent), bool(is_out))

    async def spent_usd(self, thread: str) -> float:
        """Return what a run and its branches have spent or reserved."""
        # Branches are named THREAD/NAME: everything between THREAD/ and the character after the slash.
        words = "select coalesce(sum(nano), 0) from payments where run = ? or (run >= ? and run < ?)"
        ((spent,),) = await self._rows(words, thread, f"{thread}/", f"{thread}0")
        return int(spent) / NANO

    async def paid(self, run: str, call: str) -> int | None:
        """Return what a run has spent or reserved for one call; None if it has no line."""
        ((found,),) = await self._rows("select sum(nano) from payments where run = ? and call = ?", run, call)
        return None if found is None else int(found)

    async def paid_by_call(self, run: str) -> dict[PaidCall, int]:
        """Return what a run has spent or reserved, by call, the latest first."""
        words = (
            "select call, role, model, sum(nano) from payments where run = ?"
            " group by 1, 2, 3 order by max(id) desc"
        )
        return {PaidCall(*names): int(paid) for *names, paid in await self._rows(words, run)}

    async def lines_of_latest(self, most_runs: int) -> dict[str, list[CostLine]]:
        """Return all lines of the runs that paid most recently, the newest run first."""
        latest = "select run from payments group by run order by max(id) desc limit ?"
        lines = (
            "select role, model, tokens_in, tokens_out, reserved_at, coalesce(settled_at, reserved_at)"
            " from payments where run = ? order by id"
        )

        def find(connection: Connection) -> dict[str, list[CostLine]]:
            runs = [run for (run,) in connection.execute(latest, (most_runs,))]
            return {run: [CostLine(*row) for row in connection.execute(lines, (run,))] for run in runs}

        return await self.database.read(find)


class SignalTable(Table):
    """Control signals: people steer a run while it works, from another terminal or another process.

    A signal is taken once, by the first round or step that asks; asking again from there returns the same
    signal.
    """

    async def give(self, run: str, word: str, text: str = "") -> Signal:
        """Add a signal, or raise BadInput; `go` also cancels a pause that no run has taken yet."""
        known, text = _check_signal(word, " ".join(text.split()))
        at = datetime.now(UTC).isoformat(timespec="milliseconds")

        def add(connection: Connection) -> Signal:
            if known == "go":
                _take(connection, run, ["pause"], known, 0)
            words = "insert into signals (run, word, text, at) values (?, ?, ?, ?) returning number"
            number = connection.execute(words, (run, known, text, at)).fetchone()[0]
            return Signal(int(number), known, text, at, 0)

        return await self.database.write(add)

    async def pending(self, run: str) -> list[Signal]:
        """Return the signals that no run has taken yet, oldest first."""
        return await self.database.read(lambda c: _signals(c, run, ""))

    async def runs_to_pause(self) -> set[str]:
        """Return the runs with a pending pause: one query for all runs of a process."""
        words = "select distinct run from signals where taker = '' and word = 'pause'"
        return {run for (run,) in await self._rows(words)}

    async def take(self, run: str, words: Sequence[str], taker: str, number: int = 0) -> list[Signal]:
        """Take all pending signals of these kinds; return all that this taker took, now or before."""
        # Nodes ask often and there is hardly ever a signal: read first, without the write lock.
        if any(signal.word in words for signal in await self.pending(run)):
            await self.database.write(lambda c: _take(c, run, words, taker, number))
        taken = await self.database.read(lambda c: _signals(c, run, taker))
        return [signal for signal in taken if signal.word in words]

    async def resumed(self, run: str) -> None:
        """Mark pending pause signals as consumed on resume."""
        await self.take(run, ("pause", "go"), "resumed")

    async def ended(self, run: str) -> None:
        """Mark all pending signals of an ended run as consumed."""
        await self.take(run, SIGNAL_WORDS, "ended")

    def of(self, run: str | None) -> "RunSignals":
        """Return the signals of one run, for its nodes; a run that is not saved has none."""
        return RunSignals(self, run or "")


@dataclass(frozen=True)
class RunSignals:
    """The control signals of one run, as nodes see them (`fathom.nodes.ports`)."""

    table: SignalTable
    run: str

    async def added(self, number: int, place: str = "review") -> Mapping[int, str]:
        """Return the queries that were added for this round, by the numbers of their signals."""
        taken = await self._take("add", f"{place} {number}", number)
        return {signal.number: signal.text for signal in taken}

    async def waiting(self) -> list[str]:
        """Return the added queries that belong to no round yet."""
        return [signal.text for signal in await self._pending() if signal.word == "add"]

    async def is_pausing(self, place: str) -> bool:
        """Whether a pause was requested; the signal is consumed at this place."""
        return bool(await self._take("pause", place))

    async def is_stopping(self, place: str = "") -> bool:
        """Whether the search should stop; with a place, the signal is consumed there."""
        if place:
            return bool(await self._take("stop", place))
        return any(signal.word == "stop" for signal in await self._pending())

    async def _pending(self) -> list[Signal]:
        return await self.table.pending(self.run) if self.run else []

    async def _take(self, word: SignalWord, taker: str, number: int = 0) -> list[Signal]:
        return await self.table.take(self.run, (word,), taker, number) if self.run else []


def _check_signal(word: str, text: str) -> tuple[SignalWord, str]:
    """Return a known word and its text, or raise BadInput."""
    known = next((name for name in SIGNAL_WORDS if name == word), None)
    if known is None:
        raise BadInput(f"There is no order {word!r}; there are {', '.join(SIGNAL_WORDS)}.")
    if (known == "add") != bool(text):
        raise BadInput("Add needs a query." if known == "add" else f"{word.capitalize()} takes no words.")
    if len(text) > _MOST_SIGNAL_CHARS:
        raise BadInput(f"A query has at most {_MOST_SIGNAL_CHARS} characters, this one has {len(text)}.")
    return known, text


def _signals(connection: Connection, run: str, taker: str) -> list[Signal]:
    words = "select number, word, text, at, round from signals where run = ? and taker = ? order by number"
    return [Signal(*row) for row in connection.execute(words, (run, taker))]


def _take(connection: Connection, run: str, kinds: Sequence[str], taker: str, number: int) -> None:
    words = "update signals set taker = ?, round = ? where run = ? and taker = '' and word = ?"
    for kind in kinds:
        connection.execute(words, (taker, number, run, kind))


class LeaseTable(Table):
    """Which branch of a run reads which page."""

    async def begin(self) -> str:
        """Return a name for a run; the state keeps it, so that a resumed run has the same."""
        return uuid4().hex

    async def take(self, run: str, branch: str, addresses: Sequence[str], most: int) -> list[str]:
        """Return the first `most` addresses that the branch holds or can take now; idempotent."""

        def take(connection: Connection) -> list[str]:
            mine: list[str] = []
            for address in addresses:
                if len(mine) == most:
                    break
                words = "insert into page_leases values (?, ?, ?) on conflict do nothing"
                connection.execute(words, (run, address, branch))
                words = "select branch from page_leases where run = ? and address = ?"
                if connection.execute(words, (run, address)).fetchone()[0] == branch:
                    mine.append(address)
            return mine

        # One branch at a time: two that take the same pages in another order would wait for each other.
        return await self.database.write(take, alone=f"leases {run}")


class ThreadTable(Table):
    """Which runs follow which; a thread has the id of its first run."""

    async def thread_of(self, run: str) -> str:
        """Return the thread of a run; a run that follows none starts one."""
        rows = await self._rows("select thread from follow_ups where run = ?", run)
        return str(rows[0][0]) if rows else run

    async def runs_of(self, thread: str) -> list[tuple[str, str]]:
        """Return all runs of a thread in order, each with the run it follows."""
        rows = await self._rows(
            "select run, follows from follow_ups where thread = ? order by number", thread
        )
        return [(thread, ""), *((run, follows) for run, follows in rows)]

    async def follow(self, run: str, follows: str) -> None:
        """Add a follow-up to the thread of the run it follows."""
        thread = await self.thread_of(follows)
        words = "insert into follow_ups (run, thread, follows) values (?, ?, ?) on conflict do nothing"
        await self._write(words, run, thread, follows)

    async def close(self, thread: str) -> None:
        """Allow no more follow-ups."""
        await self._write("insert into closed_threads values (?) on conflict do nothing", thread)

    async def is_closed(self, thread: str) -> bool:
        """Return whether the thread was closed."""
        return bool(await self._rows("select 1 from closed_threads where thread = ?", thread))


class RunTable(Table):
    """Data of a run besides its checkpoints."""

    async def remember_config(self, run: str, config: str) -> None:
        """Store a run's configuration as JSON, replacing an earlier one."""
        await self._write(replace_row("run_configs", "run", "config"), run, config)

    async def config_of(self, run: str) -> str | None:
        """Return the configuration as JSON, or None."""
        rows = await self._rows("select config from run_configs where run = ?", run)
        return rows[0][0] if rows else None

    async def remember_folder(self, run: str, path: str) -> None:
        """Store the path of a run's report folder."""
        await self._write(replace_row("run_folders", "run", "path"), run, path)

    async def folder_of(self, run: str) -> str | None:
        """Return the last path of a run's report folder."""
        rows = await self._rows("select path from run_folders where run = ?", run)
        return rows[0][0] if rows else None

    async def remember_shape(self, run: str, shape: str) -> None:
        """Store the kind of a run, for forecasts."""
        await self._write(replace_row("run_shapes", "run", "shape"), run, shape)

    async def shapes(self) -> dict[str, str]:
        """Return the kinds of all runs."""
        return dict(await self._rows("select run, shape from run_shapes"))

    async def add_worked(self, run: str, seconds: float) -> None:
        """Raise a run's working time to this many seconds."""
        words = (
            "insert into run_times values (?, ?) on conflict (run) do update set worked_s = excluded.worked_s"
            " where excluded.worked_s > run_times.worked_s"
        )
        await self._write(words, run, seconds)

    async def worked_s(self, run: str) -> float:
        """Return a run's working time."""
        rows = await self._rows("select worked_s from run_times where run = ?", run)
        return float(rows[0][0]) if rows else 0.0

    async def remember(self, record: RunRecord) -> None:
        """Store a run's list entry, replacing an earlier one."""
        await self._write(_REPLACE_RECORD, *astuple(record))

    async def latest(self, most: int) -> list[RunRecord]:
        """Return the list entries of the newest runs, newest first."""
        rows = await self._rows("select * from run_records order by started desc limit ?", most)
        return [RunRecord(*row) for row in rows]


class WatchTable(Table):
    """Reports that are updated at intervals."""

    async def put(self, watch: Watch) -> None:
        """Store a watch, replacing an earlier one of the same run."""
        await self._write(_REPLACE_WATCH, *astuple(watch))

    async def begin(self, run: str, update: str) -> None:
        """Note which update has started, if the report is still watched."""
        await self._write("update watches set updating = ? where run = ?", update, run)

    async def settle(self, run: str, latest: str, due: float, problem: str) -> None:
        """Note how the last update ended, if the report is still watched."""
        words = "update watches set latest = ?, due = ?, problem = ?, updating = '' where run = ?"
        await self._write(words, latest, due, problem, run)

    async def drop(self, run: str) -> bool:
        """Delete a watch; return whether there was one."""
        words = "delete from watches where run = ? returning run"
        return bool(await self.database.write(lambda c: c.execute(words, (run,)).fetchall()))

    async def every(self) -> list[Watch]:
        """Return all watches, the next one due first."""
        names = ", ".join(field.name for field in fields(Watch))
        return [Watch(*row) for row in await self._rows(f"select {names} from watches order by due")]  # noqa: S608
