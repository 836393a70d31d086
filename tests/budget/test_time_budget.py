"""How long a run was worked on; time in which nobody works on it does not count."""

import asyncio
import time
from pathlib import Path

import pytest

from fathom.budget.time_budget import TimeBudget, grace_s
from fathom.errors import OutOfTime
from fathom.storage import open_storage


def watch(tmp_path: Path, limit_s: float = 10.0, run: str = "run") -> TimeBudget:
    return TimeBudget(open_storage(tmp_path / "fathom.sqlite"), run, limit_s, 0.4)


async def test_only_work_counts_and_it_is_kept(tmp_path: Path) -> None:
    for _ in range(2):
        async with watch(tmp_path).at_work():
            await asyncio.sleep(0.1)
        await asyncio.sleep(0.3)  # nobody works: a person looks at the plan, or the process is gone
    async with watch(tmp_path).at_work():
        assert 0.2 <= watch(tmp_path).worked_s() < 0.4
    async with watch(tmp_path, run="another").at_work():
        assert watch(tmp_path, run="another").worked_s() < 0.2


async def test_twenty_at_work_at_once_are_no_twenty_times(tmp_path: Path) -> None:
    own = watch(tmp_path)

    async def worked() -> None:
        async with own.at_work():
            await asyncio.sleep(0.2)

    began = time.monotonic()
    async with own.at_work():
        await asyncio.gather(*(worked() for _ in range(20)))
        assert 0.2 <= own.worked_s() <= time.monotonic() - began


async def test_work_that_fails_or_is_cancelled_counts_too(tmp_path: Path) -> None:
    own = watch(tmp_path)

    async def worked() -> None:
        async with own.at_work():
            await asyncio.sleep(0.15)
            raise ValueError("lost")

    with pytest.raises(ValueError, match="lost"):
        await worked()
    task = asyncio.create_task(worked())
    await asyncio.sleep(0.1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    async with own.at_work():
        assert own.worked_s() >= 0.2


async def test_what_is_under_way_may_end_and_nothing_new_begins(tmp_path: Path) -> None:
    own = watch(tmp_path, limit_s=0.2)

    async def taking(seconds: float) -> str:
        await asyncio.sleep(seconds)
        return "done"

    async with own.at_work():
        assert await own.begun(lambda: taking(0.3)) == "done"
        assert own.is_late
        with pytest.raises(OutOfTime, match=r"0\.2 s is used up"):
            await own.begun(lambda: taking(0.0))
        assert 0 <= own.left_s(is_writing=False) < own.left_s(is_writing=True) <= 0.3


async def test_what_hangs_is_cut_off_soon_after_the_end(tmp_path: Path) -> None:
    own = watch(tmp_path, limit_s=0.2)
    async with own.at_work():
        with pytest.raises(OutOfTime, match="had not ended"):
            await own.begun(lambda: asyncio.sleep(60))
        assert own.worked_s() < 2.0


def test_the_report_may_take_half_as_long_again_within_bounds() -> None:
    assert [grace_s(limit_s) for limit_s in (1, 120, 3600)] == [30.0, 60.0, 300.0]
