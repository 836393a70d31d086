"""What a run costs at each depth: calls to a model one after another and in all, tokens, USD.

    python bench/cost.py [DATA] [--model-s S] [--search-s S] [--questions N] [--depths D ...]

DATA is a folder of documents, with `questions.jsonl` if there are questions, or a file of questions; without
it, a survey question over pages of our own. The stand-in model delays and charges (the prices of gpt-4.1 and
gpt-4.1-mini). Every depth is run with a judge who has enough after one round, after three, and, for the most
that a run can cost, never. `forecast` is what was expected before. The last line is one JSON object.
"""

import argparse
import asyncio
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import mean

from library import Doc, docs_of, questions_of
from running import chain, ran, settings_for
from world import Manners, World

DEPTHS = ("quick", "standard", "comprehensive")
PRICES = """
[models]
"gpt-4.1" = { input = 2.0, output = 8.0, cached = 0.5 }
"gpt-4.1-mini" = { input = 0.4, output = 1.6, cached = 0.1 }
"""
Figures = dict[str, float]


JUDGES = {"enough after 1": 1, "enough after 3": 3, "never enough": 1000}


async def spent(world: World, home: Path, question: str, depth: str) -> Figures:
    """One run and what it took; every run has a home of its own, so that none finds another one's answers."""
    result = await ran(settings_for(world, home, home.name), question, depth=depth, budget_usd=100.0)
    told = [row for row in world.told() if row.who == home.name]
    numbers, forecast = result.metadata, result.metadata.forecast
    assert forecast
    return {
        "rounds": numbers.rounds,
        "sources": numbers.sources,
        "in_a_row": sum(step != "search" for step in chain(told)),
        "calls": len(told),
        "tokens_in": sum(row.tokens_in for row in told),
        "tokens_out": sum(row.tokens_out for row in told),
        "tokens": sum(row.tokens_in + row.tokens_out for row in told),
        "usd": numbers.cost_usd,
        "forecast": forecast.expected_usd,
        "forecast_calls": forecast.calls,
    }


def _home(place: Path) -> Path:
    place.mkdir()
    (place / "prices.toml").write_text(PRICES, "utf-8")
    return place


def together(runs: Sequence[Figures]) -> Figures:
    """Means over the questions, but of calls in a row and of tokens also the most."""
    means = {name: round(mean(run[name] for run in runs), 4) for name in runs[0]}
    most = {f"most_{name}": max(run[name] for run in runs) for name in ("in_a_row", "tokens")}
    return {**means, **most}


async def measured(
    docs: Sequence[Doc], questions: Sequence[str], manners: Manners, depths: Sequence[str], work: Path
) -> dict[str, Figures]:
    """The figures of every depth, for one kind of judge."""
    found: dict[str, Figures] = {}
    with World(docs, manners) as world:
        for depth in depths:
            homes = [_home(work / f"{depth}-{manners.rounds}-{n}") for n in range(len(questions))]
            runs = [await spent(world, h, q, depth) for h, q in zip(homes, questions, strict=True)]
            found[depth] = together(runs)
    return found


def table(found: dict[str, dict[str, Figures]]) -> list[str]:
    """The figures for people."""
    names = ("rounds", "sources", "in_a_row", "calls", "tokens_in", "tokens_out", "usd", "forecast",
             "forecast_calls")  # fmt: skip
    lines = [f"{'':30}" + "".join(f"{name:>12}" for name in names)]
    for judge, depths in found.items():
        for depth, row in depths.items():
            lines.append(f"{depth + ', ' + judge:30}" + "".join(f"{row[name]:>12g}" for name in names))
    return lines


def main() -> None:
    """Measure what is named on the command line, or pages of our own."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("data", type=Path, nargs="?", help="a folder of documents, or a file of questions")
    parser.add_argument("--model-s", type=float, default=0.2)
    parser.add_argument("--search-s", type=float, default=0.05)
    parser.add_argument("--questions", type=int, default=2, help="the first so many questions")
    parser.add_argument("--depths", nargs="+", choices=DEPTHS, default=DEPTHS)
    given = parser.parse_args()
    if given.data is not None and not given.data.exists():
        parser.error(f"there is no {given.data}")
    docs, questions = docs_of(given.data), questions_of(given.data)[: given.questions]
    found: dict[str, dict[str, Figures]] = {}
    with tempfile.TemporaryDirectory() as work:
        for judge, rounds in JUDGES.items():
            manners = Manners(given.model_s, given.search_s, rounds)
            found[judge] = asyncio.run(measured(docs, questions, manners, given.depths, Path(work)))
    print("\n".join(table(found)))
    print(json.dumps({"questions": len(questions), **found}))


if __name__ == "__main__":
    main()
