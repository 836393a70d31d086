"""Which run a research folder belongs to; no other run writes to it.

Kept apart from `folder` because listing runs needs this and nothing of reports.
"""

import asyncio
import json
from pathlib import Path

from fathom.errors import BadInput
from fathom.ids import short_id
from fathom.storage import Storage

STATE, STATE_FORMAT = "state.json", "fathom-state/1"

REPORT_FILES = ("report.md", "report.json")

_OUR_FILES = (
    STATE,
    *REPORT_FILES,
    "events.jsonl",
    "findings.md",
    "hypotheses.md",
    "sources.md",
    "citations.md",
)


def owner_of(path: Path) -> str | None:
    """The run a folder belongs to; "" if its files are no run's, None if there is nothing of that name."""
    for name, key in ((STATE, "run"), (REPORT_FILES[1], "run_id")):
        try:
            said = json.loads((path / name).read_text("utf-8", "replace"))
        except (OSError, ValueError):
            continue
        if isinstance(said, dict) and isinstance(said.get(key), str):
            return str(said[key])
    return "" if any((path / name).exists() for name in _OUR_FILES) else None


def claim_folder(path: Path, run_id: str) -> None:
    """Make a folder a run's own, now, so that an unwritable or a foreign one is refused before the work."""
    owner = owner_of(path)
    if owner is not None and owner != run_id:
        whose = f"holds run {short_id(owner)}" if owner else "has files of that name that are no run's"
        raise BadInput(f"The folder {path} {whose}; name another one with --out.")
    try:
        path.mkdir(parents=True, exist_ok=True)
        probe = path / ".writable"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise BadInput(f"The folder {path} cannot be written: {error.strerror}.") from error
    if owner is None:
        _mark_folder(path, run_id)


def _mark_folder(path: Path, run_id: str) -> None:
    try:
        with (path / STATE).open("x", encoding="utf-8") as file:
            file.write(json.dumps({"format": STATE_FORMAT, "run": run_id}) + "\n")
    except FileExistsError:  # of two that came at once, one is first
        if owner_of(path) != run_id:
            raise BadInput(f"The folder {path} was just taken by another run.") from None
    except OSError as error:
        raise BadInput(f"The folder {path} cannot be written: {error.strerror}.") from error


async def folder_of(storage: Storage, run_id: str) -> Path | None:
    """Return the folder a run was last written to, if it is still there."""
    path = await storage.runs.folder_of(run_id)
    is_there = path and await asyncio.to_thread(owner_of, Path(path)) == run_id
    return Path(path) if path and is_there else None


async def remember_folder(storage: Storage, run_id: str, path: Path) -> None:
    """From now on this is the run's folder."""
    whole = await asyncio.to_thread(path.absolute)
    await storage.runs.remember_folder(run_id, str(whole))
