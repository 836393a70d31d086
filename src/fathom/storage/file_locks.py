"""Locks of runs as files beside a SQLite database.

Does not know runs' insides. A lock is the kernel's, so a killed process leaves nothing behind.
"""

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout


@dataclass(frozen=True)
class HeldFile:
    """A lock that is held; see `HeldLock`."""

    lock: FileLock

    async def release(self) -> None:
        """Let others have it; also when whoever waits for that is cut off."""
        await asyncio.shield(asyncio.to_thread(self.lock.release))

    async def remove(self) -> None:
        """Remove the file, and let others have the lock."""

        def remove() -> None:
            with suppress(OSError):
                Path(self.lock.lock_file).unlink()
            self.lock.release()

        await asyncio.shield(asyncio.to_thread(remove))


@dataclass(frozen=True)
class FileLocks:
    """One file a name in a folder; see `LockStore`."""

    folder: Path

    async def acquire(self, name: str) -> HeldFile | None:
        """Return the lock, held, or None when somebody else holds it."""
        taking = asyncio.ensure_future(asyncio.to_thread(self._acquire, name))
        try:
            return await asyncio.shield(taking)
        except asyncio.CancelledError:
            taking.add_done_callback(_give_back)  # nobody would ever release it
            raise

    def _acquire(self, name: str) -> HeldFile | None:
        self.folder.mkdir(parents=True, exist_ok=True)
        # Taken and given back in different threads.
        lock = FileLock(self.folder / f"{name}.lock", timeout=0, thread_local=False)
        try:
            lock.acquire()
        except Timeout:
            return None
        return HeldFile(lock)


def _give_back(taking: "asyncio.Future[HeldFile | None]") -> None:
    held = None if taking.cancelled() or taking.exception() else taking.result()
    if held is not None:
        asyncio.get_running_loop().run_in_executor(None, held.lock.release)
