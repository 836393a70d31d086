"""The events of a run as lines of a file, also of a run that was killed and goes on: none twice, none torn.

Does not know what an event means. What was told and not saved is done again by a resumed run, and told again:
such a line is there already, and is left out.
"""

import json
from collections import Counter
from hashlib import sha256
from pathlib import Path
from typing import Any

from fathom.events import Kind, Progress
from fathom.report.files import appended, mended

# Each of these happens again when the work goes on, and is no repetition.
_ALWAYS_NEW: frozenset[Kind] = frozenset({"started", "checkpoint", "completed", "failed"})


class Journal:
    """One file of events; what it held when it was opened is known by content."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._before: Counter[str] = Counter()
        self.last_round: Progress | None = None  # the last round that was completed, in the whole run
        for line in mended(path).splitlines():
            self._know(line)

    def add(self, event: Progress) -> bool:
        """Write an event, unless it was written by who worked on the run before; whether it is new."""
        line = event.model_dump_json()
        name = _name(json.loads(line))
        if self._before[name] > 0 and event.kind not in _ALWAYS_NEW:
            self._before[name] -= 1
            return False
        appended(self._path, line + "\n")
        self._note(event)
        return True

    def _know(self, line: str) -> None:
        try:
            self._before[_name(json.loads(line))] += 1
            if '"round completed"' in line:
                self._note(Progress.model_validate_json(line))
        except (ValueError, TypeError, KeyError):  # a line that somebody wrote by hand
            return

    def _note(self, event: Progress) -> None:
        if event.kind == "round completed" and not event.branch:
            self.last_round = event


def _name(told: dict[str, Any]) -> str:
    """What an event says, without when and after how much work it says so."""
    said = [told["kind"], told["branch"], told["round"], told["payload"]]
    return sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()
