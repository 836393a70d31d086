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


@asynccontextmanager
async def held(home: Path, run_id: str) -> AsyncIterator[Path]:
    """Hold the run, or BadInput at once."""
    lock = await _acquired(home, run_id)
    if lock is None:
        raise _busy(run_id)
    try:
        yield Path(lock.lock_file)
    finally:
        await asyncio.shield(asyncio.to_thread(lock.release))


@asynccontextmanager
async def held_in_turn(home: Path, run_id: str) -> AsyncIterator[Path]:
    """Hold the run; whoever just stopped listening to it in this process is waited for."""
    place, give_up_at = _place(home, run_id), time.monotonic() + _PATIENCE_S
    is_leaving = place in _LEAVING  # asked before the try: the holder may be gone right after it
    while (lock := await _acquired(home, run_id)) is None:
        if not is_leaving or time.monotonic() > give_up_at:
            raise _busy(run_id)
        await asyncio.sleep(_LOOK_S)
        is_leaving = place in _LEAVING
    try:
        yield place
    finally:
        await asyncio.shield(asyncio.to_thread(lock.release))
        _LEAVING.discard(place)


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


def _place(home: Path, run_id: str) -> Path:
    return home / "locks" / f"{run_id}.lock"


async def _acquired(home: Path, run_id: str) -> FileLock | None:
    """Return the run's lock, held, or None when somebody else holds it."""
    taking = asyncio.ensure_future(asyncio.to_thread(_acquire, _place(home, run_id)))
    try:
        return await asyncio.shield(taking)
    except asyncio.CancelledError:
        taking.add_done_callback(_give_back)  # nobody would ever release it
        raise


def _acquire(place: Path) -> FileLock | None:
    place.parent.mkdir(parents=True, exist_ok=True)
    # Taken and given back in different threads.
    lock = FileLock(place, timeout=0, thread_local=False)
    try:
        lock.acquire()
    except Timeout:
        return None
    return lock


def _give_back(taking: "asyncio.Future[FileLock | None]") -> None:
    lock = None if taking.cancelled() or taking.exception() else taking.result()
    if lock is not None:
        asyncio.get_running_loop().run_in_executor(None, lock.release)


def _busy(run_id: str) -> BadInput:
    return BadInput(f"Run {short_id(run_id)} is being worked on by another process.")
