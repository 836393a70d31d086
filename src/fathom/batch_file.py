"""A file of questions: one a line, or a line of JSON with settings of its own; and which run works on which.

Does not know how questions are worked on.
"""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fathom.errors import BadInput, RunStopped
from fathom.request import ResearchRequest, field_of
from fathom.state import short_hash

NOTES = "batch.json"
_FORMAT = 1


@dataclass(frozen=True)
class Asked:
    """One question of the file: its line, what is asked, and a name that stays while it is asked the same."""

    number: int
    request: ResearchRequest
    key: str


def read_questions(text: str, words: Mapping[str, Any]) -> list[Asked]:
    """The questions in a file; `words` hold for all that do not say otherwise.

    Blank lines and lines that begin with # are left out. A bad line is refused with its number.
    """
    asked: list[Asked] = []
    bad: list[tuple[int, str]] = []
    seen: Counter[str] = Counter()
    words = {field_of(name): value for name, value in words.items()}
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            request = ResearchRequest(**{**words, **_words(line.strip())})
        except BadInput as error:
            bad.append((number, str(error)))
            continue
        said = json.dumps({"query": request.query, **request.said}, ensure_ascii=False, separators=(",", ":"))
        seen[said] += 1
        asked.append(Asked(number, request, short_hash("question", said, str(seen[said]))))
    refuse_bad(bad)
    if not asked:
        raise BadInput("There is no question in the file.")
    return asked


def refuse_bad(bad: list[tuple[int, str]]) -> None:
    """One sentence about the first bad line, and how many more there are."""
    if bad:
        number, why = bad[0]
        more = f" {len(bad) - 1} more lines are bad." if len(bad) > 2 else " One more line is bad."
        raise BadInput(f"Line {number}: {why}{more if len(bad) > 1 else ''}")


def _words(line: str) -> dict[str, Any]:
    if not line.startswith("{"):
        return {"query": line}
    try:
        given = json.loads(line)
    except ValueError as error:
        raise BadInput(f"It begins like JSON and is none ({error}).") from None
    words = {field_of(str(name)): value for name, value in given.items()}
    if "base_url" in words:
        # Whoever wrote the file need not be who holds the key.
        raise BadInput("A model's server is named on the command line or in the settings, not in the file.")
    if "query" not in words:
        raise BadInput("There is no question in it.")
    return words


@dataclass(frozen=True)
class Notes:
    """Which run works on which question: a small file, replaced whole, so that a batch can go on later."""

    path: Path

    def entries(self) -> dict[str, dict[str, Any]]:
        """What is known of each question, by its key; nothing if there is no file yet."""
        try:
            told = json.loads(self.path.read_text("utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError):
            told = None
        questions = told.get("questions") if isinstance(told, dict) else None
        if not isinstance(questions, dict) or not all(_is_entry(one) for one in questions.values()):
            raise BadInput(f"{self.path} is no file of a batch; move it, or name another --out.")
        return questions

    def write(self, entries: Mapping[str, Mapping[str, Any]]) -> None:
        """All that is known of each question, by its key."""
        part = self.path.with_suffix(".part")
        words = json.dumps({"format": _FORMAT, "questions": entries}, ensure_ascii=False, indent=2)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            part.write_text(words + "\n", "utf-8")
            part.replace(self.path)
        except OSError as error:
            raise RunStopped(f"{self.path} cannot be written: {error.strerror}.") from error


def _is_entry(one: object) -> bool:
    return isinstance(one, dict) and isinstance(one.get("run_id"), str)
