"""Files that the guides name are there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NAMED = re.compile(r"`([\w./*-]+/[\w.*-]*|[\w*-]+\.(?:py|toml))`")
MADE_BY_RUNS = re.compile(r"prices\.toml|fathom\.toml|NAME")


def missing_files(text: str) -> list[str]:
    """Paths in backticks that lead nowhere, from the root or from the package."""
    named = [name for name in NAMED.findall(text) if not MADE_BY_RUNS.search(name)]
    return [n for n in named if not any(list(top.glob(n)) for top in (ROOT, ROOT / "src/fathom"))]


@pytest.mark.parametrize("guide", ["ARCHITECTURE.md", "CONTRIBUTING.md", "docs/glossary.md"])
def test_every_file_that_a_guide_names_is_there(guide: str) -> None:
    assert missing_files((ROOT / guide).read_text("utf-8")) == []


def test_a_file_that_is_gone_is_seen() -> None:
    assert missing_files("`nodes/judge.py`, `llm/chat.py`, `nodes/gone.py`, `prompts/NAME.md`") == [
        "nodes/gone.py"
    ]
