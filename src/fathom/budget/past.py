"""What runs on this machine took, read from the book of payments.

Does not know forecasts. A run that never came to write its report says nothing about a whole one.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from fathom.budget.cost_log import CostLog
from fathom.database import looked_up, opened, written

_MOST_RUNS = 30
_IDLE_S = 300.0  # a longer pause was a person's, or a night's
_WRITING = {"outline", "write"}


@dataclass(frozen=True)
class Work:
    """What one role of one model did."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0


@dataclass(frozen=True)
class Past:
    """One run that is over: what kind it was, how long it worked, and who did what."""

    shape: str
    seconds: float
    work: dict[tuple[str, str], Work] = field(default_factory=dict)  # by role and model


async def shaped(cost_log: CostLog, run: str, shape: str) -> None:
    """Remember of what kind a run is."""
    await written(cost_log.database, _shaped, cost_log, run, shape)


async def past_runs(cost_log: CostLog) -> list[Past]:
    """The latest runs that wrote a report, the newest first."""
    return await looked_up(cost_log.database, _past_runs, cost_log)


_Row = tuple[str, str, str, int, int, float, float]


def _shaped(cost_log: CostLog, run: str, shape: str) -> None:
    with opened(cost_log.database) as connection:
        connection.execute("insert or replace into shapes values (?, ?)", (run, shape))


def _past_runs(cost_log: CostLog) -> list[Past]:
    latest = "select run from payments group by run order by max(id) desc limit ?"
    lines = (
        "select run, role, model, tokens_in, tokens_out, held, coalesce(settled, held) from payments"
        " where run = ? order by id"
    )
    with opened(cost_log.database) as connection:
        shapes = dict(connection.execute("select run, shape from shapes").fetchall())
        runs = [run for (run,) in connection.execute(latest, (_MOST_RUNS,))]
        rows: dict[str, list[_Row]] = {run: connection.execute(lines, (run,)).fetchall() for run in runs}
    whole = {run: own for run, own in rows.items() if _WRITING & {role for _, role, *_ in own}}
    return [_past(shapes.get(run.rpartition("/")[2], ""), own) for run, own in whole.items()]


def _past(shape: str, rows: Sequence[_Row]) -> Past:
    work: dict[tuple[str, str], Work] = {}
    for _, role, model, tokens_in, tokens_out, _, _ in rows:
        before = work.get((role, model), Work())
        work[role, model] = Work(
            before.calls + 1, before.tokens_in + tokens_in, before.tokens_out + tokens_out
        )
    return Past(shape, _worked_s(time for row in rows for time in row[5:]), work)


def _worked_s(times: Iterable[float]) -> float:
    return sum(min(after - before, _IDLE_S) for before, after in pairwise(sorted(times)))
