"""Tags that people put on runs, in one small file of the page's home that is replaced whole.

Does not know runs. Tags of a run that is gone do no harm.
"""

import json
from pathlib import Path
from threading import Lock
from typing import Any

from fathom.errors import BadInput
from fathom.text.normalization import one_line

MOST_TAGS, _LONGEST = 20, 40


class RunTags:
    """The tags of every run, by its full id."""

    def __init__(self, path: Path) -> None:
        self._path, self._lock = path, Lock()

    def read(self) -> dict[str, list[str]]:
        """Return all tags; a file that somebody else wrote counts as none."""
        try:
            told: Any = json.loads(self._path.read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        given = told if isinstance(told, dict) else {}
        return {run: [str(tag) for tag in tags] for run, tags in given.items() if isinstance(tags, list)}

    def write(self, run: str, tags: object) -> list[str]:
        """Replace the tags of one run; return them as they are kept."""
        if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
            raise BadInput("Tags are a list of words.")
        kept = list(dict.fromkeys(word for tag in tags if (word := one_line(tag).strip(" #,"))))
        if len(kept) > MOST_TAGS or any(len(tag) > _LONGEST for tag in kept):
            raise BadInput(f"A run has at most {MOST_TAGS} tags of at most {_LONGEST} letters.")
        with self._lock:
            every = {**self.read(), run: kept}
            part = self._path.with_suffix(".part")
            self._path.parent.mkdir(parents=True, exist_ok=True)
            part.write_text(
                json.dumps({run: tags for run, tags in every.items() if tags}, ensure_ascii=False)
            )
            part.replace(self._path)
        return kept
