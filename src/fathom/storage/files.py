"""Atomic replacement of files, appending of whole lines, locks on files, and the folder of PDFs.

A reader never sees half a file, whatever kills the writer; the old content stays when the disk is full.
"""

import asyncio
import os
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

if TYPE_CHECKING:
    from fathom.storage.postgres_server import PaperTable

PDF_FOLDER = "papers"


def replace_file(path: Path, body: str | bytes) -> None:
    """Replace a file atomically; after the return it survives a power cut."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            file.write(body.encode("utf-8", "replace") if isinstance(body, str) else body)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError:
        with suppress(OSError):
            part.unlink()
        raise


def append_lines(path: Path, lines: str) -> None:
    """Append lines to a file: all of them, or none if the disk is full."""
    left = memoryview(lines.encode("utf-8", "replace"))
    with path.open("ab", buffering=0) as file:
        length = file.seek(0, os.SEEK_END)
        try:
            while left:
                left = left[file.write(left) :]
        except OSError:
            with suppress(OSError):
                file.truncate(length)
            raise


def read_whole_lines(path: Path) -> str:
    """Return the complete lines of a file; an incomplete last line, left by a killed writer, is removed."""
    try:
        body = path.read_bytes()
    except FileNotFoundError:
        return ""
    whole = body[: body.rfind(b"\n") + 1]
    if whole != body:
        with path.open("r+b") as file:
            file.truncate(len(whole))
    return whole.decode("utf-8", "replace")


@dataclass(frozen=True)
class HeldFile:
    """A lock that this process holds."""

    lock: FileLock

    async def release(self) -> None:
        """Release the lock, even if the caller is cancelled."""
        await asyncio.shield(asyncio.to_thread(self.lock.release))

    async def remove(self) -> None:
        """Release the lock and delete its file: nobody will take it again."""

        def remove() -> None:
            with suppress(OSError):
                Path(self.lock.lock_file).unlink()
            self.lock.release()

        await asyncio.shield(asyncio.to_thread(remove))


@dataclass(frozen=True)
class FileLocks:
    """Locks by name, a file each, with one holder in all processes; a killed process holds none."""

    folder: Path

    async def acquire(self, name: str) -> HeldFile | None:
        """Take the lock and return it, or None if it is taken."""
        taking = asyncio.ensure_future(asyncio.to_thread(self._acquire, name))
        try:
            return await asyncio.shield(taking)
        except asyncio.CancelledError:
            taking.add_done_callback(_give_back)  # else it would never be released
            raise

    async def is_held(self, name: str) -> bool:
        """Whether anybody holds the lock."""
        held = await self.acquire(name)
        if held:
            await held.release()
        return held is None

    async def lost(self) -> set[str]:
        """Return the lost locks: none, since a file stays locked for as long as its process lives."""
        return set()

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


@dataclass(frozen=True)
class PdfStore:
    """A folder of PDFs by the hash of their text; keeping one again changes nothing."""

    folder: Path
    shared: "PaperTable | None" = None  # for other machines, which have no such folder

    async def keep(self, text: str, body: bytes) -> None:
        """Keep a PDF under the hash of the text that was read out of it."""
        sha = sha256(text.encode("utf-8", "replace")).hexdigest()
        await asyncio.to_thread(self._keep, sha, body)
        if self.shared:
            await self.shared.put(sha, body)

    async def find(self, sha: str) -> Path | None:
        """Return the PDF whose text has that hash, if this or another machine stored it."""
        place = self._place(sha)
        if await asyncio.to_thread(place.is_file):
            return place
        body = await self.shared.get(sha) if self.shared else None
        if body is None:
            return None
        await asyncio.to_thread(self._keep, sha, body)
        return place

    def _keep(self, sha: str, body: bytes) -> None:
        place = self._place(sha)
        if not place.exists():
            replace_file(place, body)

    def _place(self, sha: str) -> Path:
        return self.folder / f"{sha}.pdf"
