"""Every requirement has a row that names where it lives and what shows it; what is named is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/mission.md"
IDS = [
    *(f"A{n}" for n in range(1, 6)),
    *(f"B{n}" for n in range(1, 15)),
    *(f"C{n}" for n in range(1, 4)),
    *(f"D{n}" for n in range(1, 4)),
    *(f"E{n}" for n in range(1, 14)),
    *(f"E14{letter}" for letter in "abcdefghij"),
    "E15",
    "E16",
    *(f"F{n}" for n in range(1, 8)),
    *(f"G{n}" for n in range(1, 19)),
]
_TEST = re.compile(r"`(tests/[\w/]+\.py)(?:::(\w+))?`")
_PLACES = (ROOT, ROOT / "src/fathom")


def rows() -> dict[str, list[str]]:
    """The cells of every row, by id."""
    lines = PAGE.read_text("utf-8").splitlines()
    cells = [
        [cell.strip() for cell in line.strip("|").split(" | ")] for line in lines if line.startswith("| ")
    ]
    return {row[0]: row[1:] for row in cells if row[0] != "id"}


def missing(text: str) -> list[str]:
    """What the text names and the tree does not have."""
    found = []
    for file, name in _TEST.findall(text):
        path = ROOT / file
        has_it = path.is_file() and (not name or f"def {name}(" in path.read_text("utf-8"))
        found += [] if has_it else [f"{file}::{name}"]
    named = re.findall(r"`([\w./-]+\.(?:py|md|toml|json|js))`", _TEST.sub("", text))
    own = {"state.json", "findings.md", "paper_index.json"}  # of a run's folder
    return found + [n for n in named if n not in own and not any((place / n).is_file() for place in _PLACES)]


def test_every_requirement_has_its_row() -> None:
    assert list(rows()) == IDS


@pytest.mark.parametrize("name", IDS)
def test_what_a_row_names_is_there(name: str) -> None:
    _, where, shown = rows()[name]
    assert missing(f"{where} {shown}") == []
    assert "`" in shown or shown.startswith(("partly", "the "))


def test_a_name_that_is_not_there_is_seen() -> None:
    assert missing("`tests/test_mission.py::test_nothing` and `no/such.py`") == [
        "tests/test_mission.py::test_nothing",
        "no/such.py",
    ]
