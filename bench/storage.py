"""How large a database gets: whole runs through the facade, without a model, over pages of 20 KB.

    python bench/storage.py [--rounds 5 10 20] [--pages-a-round 10]

Ten new pages a round, every round written down as a run without an end does. Prints the size of the database
with its log after each number of rounds, what its tables hold, and how the second half of the rounds grew
against the first; the last line is one JSON object.
"""

import argparse
import asyncio
import json
import random
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from fathom import DeepResearcher, ResearchRequest
from fathom.settings import load_settings

_PAGE_CHARS = 20_000
_WORDS = 4_000  # as many as prose has, so that a page compresses like prose
_TABLES = {"checkpoints": "checkpoint", "writes": "value", "pages": "body", "replies": "reply"}


def write_pages(folder: Path, count: int) -> None:
    """Write pages that all bear on the question, each in its own words."""
    chance = random.Random(1)  # noqa: S311 - the same pages every time
    letters = "abcdefghijklmnoprstuvw"
    words = ["".join(chance.choices(letters, k=chance.randint(3, 9))) for _ in range(_WORDS)]
    folder.mkdir()
    for number in range(count):
        lines = [f"# Tidal power report {number}\n"]
        while sum(map(len, lines)) < _PAGE_CHARS:
            said = " ".join(chance.choices(words, k=10))
            cost = chance.randint(50, 500)
            lines.append(f"Tidal power station {said} costs {cost} euros for each megawatt hour.\n")
        (folder / f"{number:03}.md").write_text("\n".join(lines), "utf-8")


def measure(home: Path, docs: Path, rounds: int, sources: int) -> dict[str, int]:
    """Return the bytes on disk after a run, and those that each table holds."""
    settings = load_settings(home=home, model=None)
    request = ResearchRequest.model_validate(
        {
            "query": "How much does tidal power cost?",
            "docs": [str(docs)],
            "max_rounds": rounds,
            "max_sources": sources,
            "endless": True,
        }
    )
    asyncio.run(DeepResearcher(settings).research(request))
    files = home.glob("fathom.sqlite*")
    sizes = {"bytes": sum(file.stat().st_size for file in files)}
    with closing(sqlite3.connect(settings.home / "fathom.sqlite")) as connection:
        for table, column in _TABLES.items():
            words = f"select count(*), coalesce(sum(length({column})), 0) from {table}"  # noqa: S608 - our own
            count, size = connection.execute(words).fetchone()
            sizes |= {f"{table} rows": count, f"{table} bytes": size}
    return sizes


def main() -> None:
    """Measure and tell."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, nargs="+", default=[5, 10, 20])
    parser.add_argument("--pages-a-round", type=int, default=10)
    given = parser.parse_args()
    found: dict[int, dict[str, int]] = {}
    with tempfile.TemporaryDirectory() as place:
        write_pages(Path(place) / "docs", max(given.rounds) * given.pages_a_round)
        for rounds in given.rounds:
            home = Path(place) / str(rounds)
            home.mkdir()
            found[rounds] = measure(home, Path(place) / "docs", rounds, given.pages_a_round)
            print(f"{rounds} rounds: {found[rounds]}")
    print(json.dumps({str(rounds): sizes["bytes"] for rounds, sizes in found.items()}))


if __name__ == "__main__":
    main()
