"""How well one search of the local engine finds the paragraphs a question needs.

    python bench/find.py [FOLDER]     with corpus.jsonl (id, title, text) and questions.jsonl (question, gold)

Without a folder it makes a small one of its own, which says little. Prints recall at 5 and 10, time a query
and paragraphs indexed a second; the last line is one JSON object.
"""

import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import samples

from fathom.search.engines.local import LocalEngine
from fathom.state import Query


def lines(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a file, one a line."""
    with path.open(encoding="utf-8") as file:
        yield from (json.loads(line) for line in file if line.strip())


def shelved(data: Path, folder: Path) -> int:
    """Every paragraph as a file of its own; how many there are."""
    paragraphs = list(lines(data / "corpus.jsonl"))
    for paragraph in paragraphs:
        text = f"# {paragraph['title']}\n\n{paragraph['text']}\n"
        (folder / f"{paragraph['id']}.md").write_text(text, "utf-8")
    return len(paragraphs)


async def measured(data: Path, work: Path) -> dict[str, float]:
    """All figures of one run."""
    folder = work / "corpus"
    folder.mkdir()
    count = shelved(data, folder)
    engine = LocalEngine((folder,), work / "index")
    began = time.perf_counter()
    await engine.prepare()
    indexing_s = time.perf_counter() - began
    await engine(Query(id="warm", text="warm up", question="", round=1), limit=1)
    at_5 = at_10 = 0.0
    questions = list(lines(data / "questions.jsonl"))
    began = time.perf_counter()
    for asked in questions:
        hits = await engine(Query(id="q", text=asked["question"], question="", round=1), limit=10)
        found = [Path(hit.address).stem for hit in hits]
        gold = {str(name) for name in asked["gold"]}
        at_5 += len(gold & set(found[:5])) / len(gold)
        at_10 += len(gold & set(found)) / len(gold)
    searching_s = time.perf_counter() - began
    return {
        "paragraphs": count,
        "questions": len(questions),
        "recall_5": round(100 * at_5 / len(questions), 1),
        "recall_10": round(100 * at_10 / len(questions), 1),
        "ms_per_query": round(1000 * searching_s / len(questions), 1),
        "paragraphs_per_s": round(count / indexing_s),
    }


def main() -> None:
    """Measure the folder named on the command line."""
    given = sys.argv[1:]
    if given and not (Path(given[0]) / "corpus.jsonl").is_file():
        sys.exit("usage: python bench/find.py [FOLDER], a folder with corpus.jsonl and questions.jsonl")
    with tempfile.TemporaryDirectory() as work:
        data = Path(given[0]) if given else samples.corpus(Path(work))
        figures = asyncio.run(measured(data, Path(work)))
    for name, value in figures.items():
        print(f"{name:18} {value}")
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
