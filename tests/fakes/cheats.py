"""Statements that cheat, with the quote they lean on; and fair ones, that must not be taken for cheats.

Does not know who is to see through them. One JSON object a line in `tests/cases`: what the page says, what is
quoted from it, and what is then stated. Where the page is the quote, it is written once.
"""

import json
from dataclasses import dataclass
from pathlib import Path

_CASES = Path(__file__).parents[1] / "cases"


@dataclass(frozen=True)
class Cheat:
    """A statement, and the quote that does not carry it, or that is not in the page."""

    kind: str
    language: str
    page: str
    quote: str
    statement: str


def load_cheats(name: str = "cheats") -> list[Cheat]:
    """Every case of the file, in order; `language` is en, ko, or the quote's and the statement's."""
    rows = [json.loads(line) for line in (_CASES / f"{name}.jsonl").read_text("utf-8").splitlines()]
    return [Cheat(**{"page": row["quote"], **row}) for row in rows]
