"""Very many runs at once in one process, on one SQLite file: none locked, none lost, and memory flat.

    python bench/load.py [DATA] [--runs N] [--waves N] [--depth D] [--model-s S]

Every wave is so many runs at once through one researcher. A run is lost if it did not end with a report, or
if the database does not list it. Memory is read before the first wave, in the middle and after each, and must
not grow from wave to wave. Ends with 1 if anything went wrong; the last line is one JSON object.
"""

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from pathlib import Path

from library import docs_of, questions_of
from running import settings_for
from wall import many
from world import Manners, World

from fathom import DeepResearcher, ResearchRequest
from fathom.concurrency import run_in_new_loop, tune_garbage_collector

_PAGE_MB = os.sysconf("SC_PAGE_SIZE") / 1_000_000
_GROWTH = 1.15  # of memory from the first wave's end to the last's


def rss_mb() -> float:
    """What this process holds in memory now."""
    return round(int(Path("/proc/self/statm").read_text("ascii").split()[1]) * _PAGE_MB, 1)


async def wave(deep: DeepResearcher, questions: list[str], depth: str) -> tuple[list[str], float]:
    """All questions at once; what went wrong, and the memory when half of them had ended."""
    ended, middle_mb = 0, 0.0

    async def one(question: str) -> str:
        nonlocal ended, middle_mb
        request = ResearchRequest.model_validate(
            {"query": question, "providers": ["searxng"], "depth": depth, "reuse": False}
        )
        result = await deep.research(request)
        ended += 1
        if ended == (len(questions) + 1) // 2:
            middle_mb = rss_mb()
        return "" if result.status == "complete" else f"{result.status} {result.errors[:1]}"

    told = await asyncio.gather(*(one(question) for question in questions), return_exceptions=True)
    return [str(fault) for fault in told if fault], middle_mb


async def measured(given: argparse.Namespace) -> dict[str, object]:
    """All figures, after one run that warms the process."""
    count = given.runs * given.waves
    questions = many(questions_of(given.data), count + 1)
    with World(docs_of(given.data), Manners(given.model_s)) as world, tempfile.TemporaryDirectory() as home:
        deep = DeepResearcher(settings_for(world, Path(home), "load"))
        async with deep:
            faults, _ = await wave(deep, questions[:1], given.depth)
            began, memory = time.monotonic(), [rss_mb()]
            print(f"start: {memory[0]} MB", flush=True)
            for number in range(given.waves):
                some = questions[1 + number * given.runs :][: given.runs]
                found, middle_mb = await wave(deep, some, given.depth)
                faults += found
                memory += [middle_mb, rss_mb()]
                since = time.monotonic() - began
                print(
                    f"wave {number + 1}: {since:.0f} s, middle {middle_mb} MB, end {memory[-1]} MB",
                    flush=True,
                )
            kept = await deep.runs(count + 1)
        calls = sum(row.kind.endswith("Answer") for row in world.told())
    return {
        "runs_at_once": given.runs, "waves": given.waves, "seconds": round(time.monotonic() - began, 1),
        "calls": calls, "memory_mb": memory, "locked": sum("locked" in fault for fault in faults),
        "lost": count + 1 - sum(line.status == "complete" for line in kept), "faults": faults[:5],
        "grown": round(memory[-1] / memory[2], 3),
    }  # fmt: skip


def main() -> int:
    """Measure; 1 if a run was lost or locked out, or memory grew."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("data", type=Path, nargs="?", help="a folder of documents, or a file of questions")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--waves", type=int, default=3)
    parser.add_argument("--depth", default="quick")
    parser.add_argument("--model-s", type=float, default=1.0)
    given = parser.parse_args()
    if given.data is not None and not given.data.exists():
        parser.error(f"there is no {given.data}")
    tune_garbage_collector()
    found = run_in_new_loop(measured(given))
    print(json.dumps(found))
    grown = found["grown"]
    assert isinstance(grown, float)
    return 1 if found["faults"] or found["lost"] or grown > _GROWTH else 0


if __name__ == "__main__":
    sys.exit(main())
