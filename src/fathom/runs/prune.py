"""Delete old runs and free their disk space.

Running runs and everything they may use are never touched. Research folders stay.
"""

import asyncio
import re
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from fathom.errors import BadInput
from fathom.runs import RunLine, run_times
from fathom.runs.executor import Runs, is_unfinished
from fathom.storage import STORAGE_ERRORS, Storage
from fathom.storage.files import PDF_FOLDER
from fathom.storage.records import RemovedRows

_UNITS_S = {"m": 60.0, "h": 3600.0, "d": 86400.0, "w": 7 * 86400.0}
_AGE = re.compile(r"(\d{1,6})\s*([mhdw])")
_RECENT = timedelta(hours=1)
_AT_ONCE = 100  # locks that are held together
_LOCK = "clean"


@dataclass(frozen=True)
class PruneChoice:
    """Which runs to delete, and which only stay because they are running."""

    gone: list[RunLine]
    busy: list[RunLine]
    is_idle: bool  # no run is running, including those that stay
    older_s: float | None
    at: float  # when it was made; a run may have started since


@dataclass(frozen=True)
class PruneResult:
    """What was deleted, and the size of the database and the papers before and after."""

    gone: list[RunLine]
    busy: list[RunLine]
    swept: RemovedRows
    before_bytes: int
    after_bytes: int
    why_not_shrunk: str = ""


def parse_age(said: str) -> float:
    """An age in seconds as people say it: 30d, 12h, 2w, 45m."""
    found = _AGE.fullmatch(said.strip().lower())
    if found is None:
        raise BadInput(f"An age looks like 30d, 12h, 2w or 45m, not {said!r}.")
    return int(found.group(1)) * _UNITS_S[found.group(2)]


async def choose_runs(runs: Runs, older_s: float | None, keep: int | None) -> PruneChoice:
    """Return runs whose last step is older, except the newest `keep`; without an age, all except those.

    Runs of watched reports stay.
    """
    if older_s is None and keep is None:
        raise BadInput("Say which runs may go: --older-than 30d, or --keep 10 for all but the newest ten.")
    now, is_idle = datetime.now(UTC), True
    watches = await runs.storage.watches.every()
    watched = {run for watch in watches for run in (watch.run, watch.latest, watch.updating)}
    gone: list[RunLine] = []
    busy: list[RunLine] = []
    for place, run_id in enumerate(await runs.storage.checkpoints.run_ids()):
        with suppress(BadInput):  # another process has just removed it
            _, last = await run_times(runs.storage, run_id)
            is_busy = await _is_busy(runs, run_id, now - last)
            is_idle = is_idle and not is_busy
            is_old = older_s is None or (now - last).total_seconds() >= older_s
            if is_old and place >= (keep or 0) and run_id not in watched:
                (busy if is_busy else gone).append(await runs.line(run_id))
    return PruneChoice(gone, busy, is_idle, older_s, now.timestamp())


async def clean_runs(runs: Runs, choice: PruneChoice, *, is_dry: bool = False) -> PruneResult:
    """Take the chosen runs away, and everything that no run needs any more; with `is_dry` only count."""
    papers = runs.settings.home / PDF_FOLDER
    before = await _total_bytes(runs.storage, papers)
    try:
        gone, total, why = await _prune(runs.storage, papers, choice, is_dry)
    except STORAGE_ERRORS as error:
        raise BadInput(
            f"The database {runs.settings.database} could not be cleaned: {error}; nothing is lost."
        ) from error
    after = await _total_bytes(runs.storage, papers)
    names = {line.id for line in choice.gone} - set(gone)
    late = [line for line in choice.gone if line.id in names]
    return PruneResult(
        [line for line in choice.gone if line.id in gone], [*choice.busy, *late], total, before, after, why
    )


async def _prune(
    storage: Storage, papers: Path, choice: PruneChoice, is_dry: bool
) -> tuple[list[str], RemovedRows, str]:
    """Delete runs; return them, the rows deleted with them, and why the file did not shrink, if so."""
    lock = await storage.locks.acquire(_LOCK)
    if lock is None:
        raise BadInput("Another process is cleaning up just now.")
    try:
        gone, total = await _sweep(storage, choice, is_dry)
        if is_dry:
            return gone, total, ""
        kept = await storage.pages.names()
        await asyncio.to_thread(_remove_papers, papers, kept, choice.is_idle)
        return gone, total, await _shrink(storage, choice.is_idle)
    finally:
        await lock.release()


async def _is_busy(runs: Runs, run_id: str, idle_for: timedelta) -> bool:
    """Whether a run is running: its lock is held, or a server such as `langgraph dev` may work on it."""
    lock = await runs.storage.locks.acquire(run_id)
    if lock is None:
        return True
    await lock.release()
    if idle_for > _RECENT:
        return False
    snapshot = await runs.snapshot(run_id)
    # A server notes its own run beside each step; a run of ours is known by its lock alone.
    is_of_server = isinstance(snapshot.metadata, dict) and "run_id" in snapshot.metadata
    return is_unfinished(snapshot) and not snapshot.interrupts and is_of_server


async def _sweep(storage: Storage, choice: PruneChoice, is_dry: bool) -> tuple[list[str], RemovedRows]:
    """The runs that went, batch by batch, each held by its lock while it goes."""
    remove = partial(
        storage.cleaning.remove_runs,
        is_idle=choice.is_idle,
        now=choice.at,
        older_s=choice.older_s,
        is_dry=is_dry,
    )
    ids = [line.id for line in choice.gone]
    if is_dry:
        return ids, await remove(ids)
    gone: list[str] = []
    found: list[RemovedRows] = []
    for start in range(0, max(len(ids), 1), _AT_ONCE):
        batch = ids[start : start + _AT_ONCE]
        async with AsyncExitStack() as held:
            free = [run_id for run_id in batch if await _try_to_hold(held, storage, run_id)]
            found.append(await remove(free))
        gone += free
    return gone, RemovedRows(
        rows=sum(one.rows for one in found),
        bytes=sum(one.bytes for one in found),
        pages=sum(one.pages for one in found),
        replies=sum(one.replies for one in found),
    )


async def _try_to_hold(stack: AsyncExitStack, storage: Storage, run_id: str) -> bool:
    """Hold the lock of a run to delete until the stack closes; False if it is taken."""
    lock = await storage.locks.acquire(run_id)
    if lock is None:
        return False
    stack.push_async_callback(lock.remove)
    return True


def _remove_papers(folder: Path, kept: set[str], is_idle: bool) -> None:
    """Remove PDFs whose text was deleted; while runs are running, only old ones."""
    limit = datetime.now(UTC) - (timedelta() if is_idle else _RECENT)
    for file in folder.glob("*.pdf"):
        with suppress(OSError):
            if file.stem not in kept and datetime.fromtimestamp(file.stat().st_mtime, UTC) < limit:
                file.unlink()


async def _shrink(storage: Storage, is_idle: bool) -> str:
    """Why the file could not be made smaller, or nothing."""
    if not is_idle:
        return "a run is active; its space is reused, and the file shrinks at the next clean"
    try:
        await storage.cleaning.shrink()
    except STORAGE_ERRORS as error:
        return f"the file could not be made smaller: {error}"
    return ""


async def _total_bytes(storage: Storage, papers: Path) -> int:
    of_papers = await asyncio.to_thread(lambda: sum(f.stat().st_size for f in papers.glob("*.pdf")))
    return await storage.cleaning.size_bytes() + of_papers
