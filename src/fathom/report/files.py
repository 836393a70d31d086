"""Files that are replaced whole or not at all, and a text that only grows.

Does not know what is in them. A reader never sees half a file, whatever kills the writer; what was written
before stays when there is no room for the new.
"""

import os
from contextlib import suppress
from pathlib import Path


def replaced(path: Path, body: str | bytes) -> None:
    """Put a file in the place of another; when this returns, a power cut does not take it back."""
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


def appended(path: Path, lines: str) -> None:
    """Whole lines at the end of a file; where there is no room for all of them, none is left behind."""
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


def mended(path: Path) -> str:
    """The whole lines of a file; half a line, left by who was killed while writing it, is cut off."""
    try:
        body = path.read_bytes()
    except FileNotFoundError:
        return ""
    whole = body[: body.rfind(b"\n") + 1]
    if whole != body:
        with path.open("r+b") as file:
            file.truncate(len(whole))
    return whole.decode("utf-8", "replace")
