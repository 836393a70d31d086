"""Whose folder it is: a research folder belongs to one run, and no other run writes to it.

Does not know what else is in it.
"""

import json
from pathlib import Path

from fathom.errors import BadInput
from fathom.ids import short_id

STATE, STATE_FORMAT = "state.json", "fathom-state/1"
REPORT = ("report.md", "report.json")
_OURS = (STATE, *REPORT, "events.jsonl", "findings.md", "hypotheses.md", "sources.md", "citations.md")


def owner_of(path: Path) -> str | None:
    """The run a folder belongs to; "" if its files are no run's, None if there is nothing of that name."""
    for name, key in ((STATE, "run"), (REPORT[1], "run_id")):
        try:
            said = json.loads((path / name).read_text("utf-8", "replace"))
        except (OSError, ValueError):
            continue
        if isinstance(said, dict) and isinstance(said.get(key), str):
            return str(said[key])
    return "" if any((path / name).exists() for name in _OURS) else None


def claim(path: Path, run_id: str) -> None:
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
        _mark(path, run_id)


def _mark(path: Path, run_id: str) -> None:
    try:
        with (path / STATE).open("x", encoding="utf-8") as file:
            file.write(json.dumps({"format": STATE_FORMAT, "run": run_id}) + "\n")
    except FileExistsError:  # of two that came at once, one is first
        if owner_of(path) != run_id:
            raise BadInput(f"The folder {path} was just taken by another run.") from None
    except OSError as error:
        raise BadInput(f"The folder {path} cannot be written: {error.strerror}.") from error
