"""Who works on a run: one at a time, in this process and in all others.

Does not know runs' insides, or how a storage locks.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from fathom.errors import BadInput
from fathom.ids import short_id
from fathom.storage import Storage

_LEAVING: set[tuple[str, str]] = set()  # runs whose holder in this process has left and is tidying up
_PATIENCE_S = 30.0
_LOOK_S = 0.02


@asynccontextmanager
async def held(storage: Storage, run_id: str) -> AsyncIterator[None]:
    """Hold the run, or BadInput at once."""
    lock = await storage.locks.acquire(run_id)
    if lock is None:
        raise _busy(run_id)
    try:
        yield
    finally:
        await lock.release()


@asynccontextmanager
async def held_in_turn(storage: Storage, run_id: str) -> AsyncIterator[None]:
    """Hold the run; whoever just stopped listening to it in this process is waited for."""
    place, give_up_at = (storage.name, run_id), time.monotonic() + _PATIENCE_S
    is_leaving = place in _LEAVING  # asked before the try: the holder may be gone right after it
    while (lock := await storage.locks.acquire(run_id)) is None:
        if not is_leaving or time.monotonic() > give_up_at:
            raise _busy(run_id)
        await asyncio.sleep(_LOOK_S)
        is_leaving = place in _LEAVING
    try:
        yield
    finally:
        await lock.release()
        _LEAVING.discard(place)


@contextmanager
def told_when_left(storage: Storage, run_id: str) -> Iterator[None]:
    """Whoever leaves this block before its end is about to give the run back."""
    is_at_its_end = False
    try:
        yield
        is_at_its_end = True
    finally:
        if not is_at_its_end:
            _LEAVING.add((storage.name, run_id))


def _busy(run_id: str) -> BadInput:
    return BadInput(f"Run {short_id(run_id)} is being worked on by another process.")
