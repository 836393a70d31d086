"""How much later a run ends when its model answers 429 for a while, and when it never stops doing so.

    python bench/overload.py [DATA] [--depth D] [--model-s S] [--full-s S] [--outage-s S]

A usual run is timed first. Then the model is full for `--full-s` seconds from the start, from a third and
from two thirds of a usual run on; at last from a third on and for ever, with `--outage-s` of patience. Prints
how much later each run ended; the last line is one JSON object.
"""

import argparse
import json
import tempfile
import time
from pathlib import Path

from library import docs_of, questions_of
from running import ran, settings_for
from world import Manners, World

from fathom.concurrency import run_in_new_loop, tune_garbage_collector


async def timed(data: Path | None, manners: Manners, depth: str, outage_s: float) -> tuple[float, str, int]:
    """One run in a world of its own: how long it took, how it ended, and how often the model said 429."""
    with World(docs_of(data), manners) as world, tempfile.TemporaryDirectory() as home:
        settings = settings_for(world, Path(home), "run").model_copy(update={"outage_s": outage_s})
        began = time.monotonic()
        result = await ran(settings, questions_of(data)[0], depth=depth)
        taken_s = time.monotonic() - began
        return taken_s, result.status, sum(row.kind == "full" for row in world.told())


async def measured(given: argparse.Namespace) -> dict[str, float]:
    """All figures; the first run warms the process."""
    usual = Manners(given.model_s, 0.3)
    await timed(given.data, usual, given.depth, given.outage_s)
    usual_s, _, _ = await timed(given.data, usual, given.depth, given.outage_s)
    found = {"usual_s": round(usual_s, 2), "full_s": given.full_s}
    for name, share in (("start", 0.0), ("third", 1 / 3), ("two_thirds", 2 / 3)):
        manners = Manners(given.model_s, 0.3, full_after_s=usual_s * share, full_s=given.full_s)
        taken_s, status, refused = await timed(given.data, manners, given.depth, given.outage_s)
        found[f"{name}_later_s"] = round(taken_s - usual_s, 2)
        found[f"{name}_refused"] = refused
        print(f"full from the {name}: {taken_s:.1f} s, {status}, {refused} refusals", flush=True)
    manners = Manners(given.model_s, 0.3, full_after_s=usual_s / 3, full_s=1e6)
    taken_s, status, refused = await timed(given.data, manners, given.depth, given.outage_s)
    found |= {"outage_s": given.outage_s, "endless_s": round(taken_s, 2), "endless_refused": refused}
    print(f"full for ever from the third: {taken_s:.1f} s, {status}, {refused} refusals", flush=True)
    return found


def main() -> None:
    """Measure what is named on the command line, or documents of our own."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("data", type=Path, nargs="?", help="a folder of documents, or a file of questions")
    parser.add_argument("--depth", default="standard")
    parser.add_argument("--model-s", type=float, default=1.0)
    parser.add_argument("--full-s", type=float, default=10.0)
    parser.add_argument("--outage-s", type=float, default=20.0)
    given = parser.parse_args()
    if given.data is not None and not given.data.exists():
        parser.error(f"there is no {given.data}")
    tune_garbage_collector()
    print(json.dumps(run_in_new_loop(measured(given))))


if __name__ == "__main__":
    main()
