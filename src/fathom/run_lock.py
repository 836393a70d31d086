"""Who works on a run: one at a time, in this process and in all others.

Does not know runs' insides. The lock is the kernel's, so a killed process leaves nothing behind.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from fathom.errors import BadInput
from fathom.ids import short_id

_LEAVING: set[Path] = set()  # locks of this process whose holder has stopped listening and is tidying up
_PATIENCE_S = 30.0
_LOOK_S = 0.02


@contextmanager
def held(home: Path, run_id: str) -> Iterator[Path]:
    """Hold the run, or BadInput at once."""
    lock = _lock(home, run_id)
    if not _is_taken(lock):
        raise _busy(run_id)
    try:
        yield Path(lock.lock_file)
    finally:
        lock.release()


@asynccontextmanager
async def held_in_turn(home: Path, run_id: str) -> AsyncIterator[Path]:
    """Hold the run; whoever just stopped listening to it in this process is waited for."""
    lock = _lock(home, run_id)
    place, give_up_at = Path(lock.lock_file), time.monotonic() + _PATIENCE_S
    while not _is_taken(lock):
        if place not in _LEAVING or time.monotonic() > give_up_at:
            raise _busy(run_id)
        await asyncio.sleep(_LOOK_S)
    try:
        yield place
    finally:
        _LEAVING.discard(place)
        lock.release()


@contextmanager
def told_when_left(place: Path) -> Iterator[None]:
    """Whoever leaves this block before its end is about to give the run back."""
    is_at_its_end = False
    try:
        yield
        is_at_its_end = True
    finally:
        if not is_at_its_end:
            _LEAVING.add(place)


def _lock(home: Path, run_id: str) -> FileLock:
    folder = home / "locks"
    folder.mkdir(parents=True, exist_ok=True)
    return FileLock(folder / f"{run_id}.lock", timeout=0)


def _is_taken(lock: FileLock) -> bool:
    try:
        lock.acquire()
    except Timeout:
        return False
    return True


def _busy(run_id: str) -> BadInput:
    return BadInput(f"Run {short_id(run_id)} is being worked on by another process.")
