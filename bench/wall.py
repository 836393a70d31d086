"""How long a run takes beyond the calls that had to be made one after another; and twenty runs at once.

    python bench/wall.py [DATA] [--depth D] [--runs N] [--model-s S] [--search-s S]

DATA is a folder of documents, with `questions.jsonl` if there are questions, or a file of questions. The
model takes a second, a search 0.3 s; event loop and garbage collector are set as the command line sets them.
Prints the ratio of wall-clock to the longest chain of calls that need each other, and of many runs at once in
one process to one run; the last line is one JSON object.
"""

import argparse
import asyncio
import json
import resource
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from library import docs_of, questions_of
from running import chain, ran, seconds, settings_for
from world import Manners, World

from fathom.concurrency import run_in_new_loop, tune_garbage_collector


@dataclass(frozen=True)
class Timed:
    """Some runs at once: wall-clock, processor time of this process, and each run's chain."""

    wall_s: float
    cpu_s: float
    chains: list[list[str]]
    statuses: list[str]


async def timed(world: World, home: Path, questions: list[str], depth: str) -> Timed:
    """All questions at once in this process, with the product's own limits on calls at once."""
    before = len(world.told())
    cpu, began = _cpu_s(), time.monotonic()
    results = await asyncio.gather(
        *(
            ran(settings_for(world, home, f"run-{before}-{n}"), question, depth=depth)
            for n, question in enumerate(questions)
        )
    )
    wall_s, cpu_s = time.monotonic() - began, _cpu_s() - cpu
    told = world.told()[before:]
    chains = [chain([row for row in told if row.who == f"run-{before}-{n}"]) for n in range(len(questions))]
    return Timed(wall_s, cpu_s, chains, [result.status for result in results])


def _cpu_s() -> float:
    own = resource.getrusage(resource.RUSAGE_SELF)
    return own.ru_utime + own.ru_stime


def many(questions: list[str], count: int) -> list[str]:
    """So many questions that all differ, so that no run finds what another one was answered."""
    return [
        question if n < len(questions) else f"{question} (case {n})"
        for n in range(count)
        for question in [questions[n % len(questions)]]
    ]


async def measured(data: Path | None, manners: Manners, depth: str, runs: int) -> dict[str, float]:
    """All figures; the process is warm when they are taken."""
    docs, questions = docs_of(data), many(questions_of(data), runs + 2)
    with World(docs, manners) as world, tempfile.TemporaryDirectory() as home:
        await timed(world, Path(home) / "warm", questions[:1], depth)
        one = await timed(world, Path(home) / "one", questions[1:2], depth)
        all_runs = await timed(world, Path(home) / "many", questions[2:], depth) if runs > 1 else one
    needed = seconds(one.chains[0], manners.model_s, manners.search_s)
    longest = max(seconds(steps, manners.model_s, manners.search_s) for steps in all_runs.chains)
    return {
        "chain_calls": len(one.chains[0]),
        "chain_s": round(needed, 2),
        "one_s": round(one.wall_s, 2),
        "one_cpu_s": round(one.cpu_s, 2),
        "ratio": round(one.wall_s / needed, 3),
        "runs": len(all_runs.chains),
        "complete": sum(status in {"complete", "unsure"} for status in all_runs.statuses),
        "longest_chain_s": round(longest, 2),
        "many_s": round(all_runs.wall_s, 2),
        "many_cpu_s": round(all_runs.cpu_s, 2),
        "many_ratio": round(all_runs.wall_s / one.wall_s, 3),
        "many_to_chain": round(all_runs.wall_s / longest, 3),
    }


def main() -> None:
    """Measure what is named on the command line, or documents of our own."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("data", type=Path, nargs="?", help="a folder of documents, or a file of questions")
    parser.add_argument("--depth", default="standard")
    parser.add_argument("--runs", type=int, default=20, help="how many runs at once")
    parser.add_argument("--model-s", type=float, default=1.0)
    parser.add_argument("--search-s", type=float, default=0.3)
    given = parser.parse_args()
    if given.data is not None and not given.data.exists():
        parser.error(f"there is no {given.data}")
    manners = Manners(given.model_s, given.search_s)
    tune_garbage_collector()
    found = run_in_new_loop(measured(given.data, manners, given.depth, given.runs))
    for name, value in found.items():
        print(f"{name:18} {value}")
    print(json.dumps(found))


if __name__ == "__main__":
    main()
