"""What runs on this machine took, read from the book of payments.

Does not know forecasts. A run that never came to write its report says nothing about a whole one.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from fathom.budget.cost_log import CostLog
from fathom.storage.records import CostLine

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
    await cost_log.remember_shape(run, shape)


async def past_runs(cost_log: CostLog) -> list[Past]:
    """The latest runs that wrote a report, the newest first."""
    shapes = await cost_log.shapes()
    lines = await cost_log.lines_of_latest(_MOST_RUNS)
    whole = {run: own for run, own in lines.items() if _WRITING & {line.role for line in own}}
    return [_past(shapes.get(run.rpartition("/")[2], ""), own) for run, own in whole.items()]


def _past(shape: str, lines: Sequence[CostLine]) -> Past:
    work: dict[tuple[str, str], Work] = {}
    for line in lines:
        before = work.get((line.role, line.model), Work())
        work[line.role, line.model] = Work(
            before.calls + 1, before.tokens_in + line.tokens_in, before.tokens_out + line.tokens_out
        )
    times = (time for line in lines for time in (line.reserved_at, line.settled_at))
    return Past(shape, _worked_s(times), work)


def _worked_s(times: Iterable[float]) -> float:
    return sum(min(after - before, _IDLE_S) for before, after in pairwise(sorted(times)))
