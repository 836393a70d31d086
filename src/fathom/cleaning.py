"""Old runs taken away, and the room they took given back.

Does not know the command line. A run that somebody works on is never touched, nor what it may be about to
use; research folders are people's own and stay.
"""

import asyncio
import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from filelock import FileLock, Timeout

from fathom.errors import BadInput
from fathom.history import RunLine, run_ids, run_times
from fathom.reading.web import ORIGINALS
from fathom.runs import Runs, is_unfinished
from fathom.storage.remove_runs import Removed, remove_runs, shrink, stored_pages

_UNITS_S = {"m": 60.0, "h": 3600.0, "d": 86400.0, "w": 7 * 86400.0}
_AGE = re.compile(r"(\d{1,6})\s*([mhdw])")
_LATELY = timedelta(hours=1)
_AT_ONCE = 100  # locks that are held together
_LOCK = "clean.lock"


@dataclass(frozen=True)
class Choice:
    """Which runs go, and which would if they were not at work."""

    gone: list[RunLine]
    busy: list[RunLine]
    is_idle: bool  # nobody works on any run, also not on one that stays
    older_s: float | None
    at: float  # when it was made; a run may have begun since


@dataclass(frozen=True)
class Cleaned:
    """What was taken away, and what the database and the papers beside it took before and take now."""

    gone: list[RunLine]
    busy: list[RunLine]
    swept: Removed
    before_bytes: int
    after_bytes: int
    why_not_shrunk: str = ""


def age_of(said: str) -> float:
    """An age in seconds as people say it: 30d, 12h, 2w, 45m."""
    found = _AGE.fullmatch(said.strip().lower())
    if found is None:
        raise BadInput(f"An age looks like 30d, 12h, 2w or 45m, not {said!r}.")
    return int(found.group(1)) * _UNITS_S[found.group(2)]


async def chosen(runs: Runs, older_s: float | None, keep: int | None) -> Choice:
    """The runs whose last step is older than that, but the newest `keep`; without an age, all but those."""
    if older_s is None and keep is None:
        raise BadInput("Say which runs may go: --older-than 30d, or --keep 10 for all but the newest ten.")
    now, is_idle = datetime.now(UTC), True
    gone: list[RunLine] = []
    busy: list[RunLine] = []
    for place, run_id in enumerate(await run_ids(runs.storage)):
        with suppress(BadInput):  # somebody else removed it just now
            _, last = await run_times(runs.storage, run_id)
            is_busy = await _is_busy(runs, run_id, now - last)
            is_idle = is_idle and not is_busy
            is_old = older_s is None or (now - last).total_seconds() >= older_s
            if is_old and place >= (keep or 0):
                (busy if is_busy else gone).append(await runs.line(run_id))
    return Choice(gone, busy, is_idle, older_s, now.timestamp())


async def cleaned(runs: Runs, choice: Choice, *, is_dry: bool = False) -> Cleaned:
    """Take the chosen runs away, and everything that no run needs any more; with `is_dry` only count."""
    home, database = runs.settings.home, runs.settings.database
    before = await asyncio.to_thread(_size, home, database)
    try:
        gone, total, why = await asyncio.to_thread(_clean, home, database, choice, is_dry)
    except sqlite3.Error as error:
        raise BadInput(f"The database {database} could not be cleaned: {error}; nothing is lost.") from error
    after = await asyncio.to_thread(_size, home, database)
    names = {line.id for line in choice.gone} - set(gone)
    late = [line for line in choice.gone if line.id in names]
    return Cleaned(
        [line for line in choice.gone if line.id in gone], [*choice.busy, *late], total, before, after, why
    )


def _clean(home: Path, database: Path, choice: Choice, is_dry: bool) -> tuple[list[str], Removed, str]:
    """The runs that went, what went with them, and why the file did not shrink, if it did not."""
    with _alone(home):
        gone, total = _swept(home, database, choice, is_dry)
        if is_dry:
            return gone, total, ""
        _forget_papers(home / ORIGINALS, database, choice.is_idle)
        return gone, total, _shrunk(database, choice.is_idle)


async def _is_busy(runs: Runs, run_id: str, idle_for: timedelta) -> bool:
    """Whether somebody works on a run: holds its lock, or may do so elsewhere, as `langgraph dev` does."""
    if await asyncio.to_thread(_is_held, runs.settings.home, run_id):
        return True
    if idle_for > _LATELY:
        return False
    snapshot = await runs.snapshot(run_id)
    return is_unfinished(snapshot) and not snapshot.interrupts and _is_from_a_server(snapshot.metadata)


def _is_from_a_server(metadata: object) -> bool:
    """A server notes its own run beside each step; a run of ours is known by its lock alone."""
    return isinstance(metadata, dict) and "run_id" in metadata


def _is_held(home: Path, run_id: str) -> bool:
    lock = _lock(home, run_id)
    try:
        lock.acquire()
    except Timeout:
        return True
    lock.release()
    return False


def _lock(home: Path, run_id: str) -> FileLock:
    """The lock that whoever works on a run holds."""
    folder = home / "locks"
    folder.mkdir(parents=True, exist_ok=True)
    return FileLock(folder / f"{run_id}.lock", timeout=0)


@contextmanager
def _alone(home: Path) -> Iterator[None]:
    """One clean-up at a time."""
    (home / "locks").mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(home / "locks" / _LOCK, timeout=0):
            yield
    except Timeout:
        raise BadInput("Another process is cleaning up just now.") from None


def _swept(home: Path, database: Path, choice: Choice, is_dry: bool) -> tuple[list[str], Removed]:
    """The runs that went, batch by batch, each held by its lock while it goes."""
    ids = [line.id for line in choice.gone]
    if is_dry:
        return ids, _out(database, choice, ids, is_dry=True)
    gone: list[str] = []
    total = Removed()
    for start in range(0, max(len(ids), 1), _AT_ONCE):
        with ExitStack() as held:
            free = [run_id for run_id in ids[start : start + _AT_ONCE] if _held(held, home, run_id)]
            found = _out(database, choice, free)
            for run_id in free:
                with suppress(OSError):
                    (home / "locks" / f"{run_id}.lock").unlink()
        gone += free
        total = Removed(
            total.rows + found.rows,
            total.bytes + found.bytes,
            total.pages + found.pages,
            total.replies + found.replies,
        )
    return gone, total


def _held(stack: ExitStack, home: Path, run_id: str) -> bool:
    """Hold a run's lock for as long as the stack stands; False when somebody was quicker."""
    try:
        stack.enter_context(_lock(home, run_id))
    except Timeout:
        return False
    return True


def _out(database: Path, choice: Choice, gone: list[str], *, is_dry: bool = False) -> Removed:
    return remove_runs(
        database, gone, is_idle=choice.is_idle, now=choice.at, older_s=choice.older_s, is_dry=is_dry
    )


def _forget_papers(folder: Path, database: Path, is_idle: bool) -> None:
    """The papers as they came whose text is gone; while somebody works, no young one."""
    kept = stored_pages(database)
    limit = datetime.now(UTC) - (timedelta() if is_idle else _LATELY)
    for file in folder.glob("*.pdf"):
        with suppress(OSError):
            if file.stem not in kept and datetime.fromtimestamp(file.stat().st_mtime, UTC) < limit:
                file.unlink()


def _shrunk(database: Path, is_idle: bool) -> str:
    """Why the file could not be made smaller, or nothing."""
    if not is_idle:
        return "a run is at work; its room is used again, and the file shrinks with the next clean"
    try:
        shrink(database)
    except sqlite3.Error as error:
        return f"the file could not be made smaller: {error}"
    return ""


def _size(home: Path, database: Path) -> int:
    files: Sequence[Path] = [*home.glob(f"{database.name}*"), *(home / ORIGINALS).glob("*.pdf")]
    return sum(file.stat().st_size for file in files if file.is_file())
