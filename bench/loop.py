"""How well a whole run without a model finds the pages a question needs, round by round, and when it stops.

    python bench/loop.py [FOLDER] [--limit N]     with corpus.jsonl (id, title, text)
                                                and questions.jsonl (question, gold)

Every question goes through the compiled graph for three rounds, without a stop, and the rule that would have
stopped it is noted. Gold is only used to count. Prints recall at 5 of the pages each round's judgement names
as evidence, searches and seconds a question; the last line is one JSON object.
"""

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import samples
from find import lines, shelved

from fathom.graph import CustomDependencies, Dependencies, DependencyFactory, ResearchGraph, build_graph
from fathom.llm.extractive import ExtractiveModel
from fathom.reading.readers import FileReader
from fathom.search.engines.local import LocalEngine
from fathom.search.federated import FederatedSearch
from fathom.state import Forecast, Query, RunConfig
from fathom.storage import open_storage

SOURCES: int | None = None  # a round; as the product has it
_ROUNDS = 3
_BEST = 5


@dataclass(frozen=True)
class Asked:
    """One question, run for three rounds: the evidence and the searches so far after each of them."""

    gold: set[str]
    evidence: list[list[str]]
    searches: list[int]
    stopped: int  # the round after which the run would have stopped by itself
    rule: str
    seconds: float

    def recall(self, after: int) -> float:
        """The share of what is needed among the first five, after so many rounds."""
        return len(self.gold & set(self.evidence[after - 1][:_BEST])) / len(self.gold)


async def kits_over(folder: Path, work: Path) -> DependencyFactory:
    """The product's own parts over one folder, its index made once; no model, and a clock that stands."""
    engine = LocalEngine((folder,), work / "index")
    await engine.prepare()
    await engine(Query(id="warm", text="warm up", question="", round=1), limit=1)
    database = work / "fathom.sqlite"
    engines, pages, page_leases = (
        FederatedSearch((engine,)),
        open_storage(database).pages,
        open_storage(database).leases,
    )

    def kit_for(run_config: RunConfig) -> Dependencies:
        return Dependencies(
            run_config=run_config,
            model=ExtractiveModel(),
            engines=engines,
            reader=FileReader((folder,)),
            pages=pages,
            clock=_then,
            page_leases=page_leases,
            run_configs=open_storage(database).runs,
            signals=open_storage(database).signals,
            storage=open_storage(database),
            forecaster=_expected,
        )

    return CustomDependencies(kit_for, open_storage(database).runs)


async def _expected(_question: str, _run: str) -> Forecast:
    figures = dict.fromkeys(("expected_usd", "worst_usd", "expected_s", "worst_s"), 0.0)
    return Forecast(**figures, calls=0, tokens_in=0, tokens_out=0, because="no model")


def _then() -> datetime:
    return datetime(2026, 1, 2, tzinfo=UTC)


async def ran(graph: ResearchGraph, question: str, gold: Sequence[object]) -> Asked:
    """One run, held by nothing but its rounds; the reports it writes between them are not timed."""
    run_config = RunConfig(rounds=_ROUNDS, endless=True, sources=SOURCES)
    state: Any = {}
    writing_s, judged_at = 0.0, 0.0
    began = time.perf_counter()
    steps = graph.astream({"question": question}, context=run_config, stream_mode=["updates", "values"])
    async for mode, step in steps:
        if mode == "values":
            state = step
        elif "judge" in step:
            judged_at = time.perf_counter()
        elif "writer" in step and len(state["judgements"]) < _ROUNDS:
            writing_s += time.perf_counter() - judged_at
    seconds = time.perf_counter() - began - writing_s
    names = {page.sha: Path(page.address).stem for page in state.get("pages", [])}
    judged = state["judgements"]
    last = next((j for j in judged if j.waived), judged[-1])
    return Asked(
        gold={str(name) for name in gold},
        evidence=[[names[sha] for sha in j.evidence] for j in judged],
        searches=[sum(q.round <= j.round for q in state["asked"]) for j in judged],
        stopped=last.round,
        rule=str(last.waived or last.stop),
        seconds=seconds,
    )


def figures(all_asked: Sequence[Asked]) -> dict[str, float]:
    """Means over all questions: recall in points, searches and seconds a question, shares in percent."""
    count = len(all_asked)
    recall = [
        sum(a.recall(min(n, len(a.evidence))) for a in all_asked) / count for n in range(1, _ROUNDS + 1)
    ]
    stopped = sum(a.recall(a.stopped) for a in all_asked) / count
    searches = sum(a.searches[-1] for a in all_asked)
    asked = sum(a.searches[a.stopped - 1] for a in all_asked)
    return {
        "questions": count,
        **{f"recall_{n}": round(100 * value, 1) for n, value in enumerate(recall, start=1)},
        "searches": round(searches / count, 2),
        "s_per_question": round(sum(a.seconds for a in all_asked) / count, 3),
        "recall_stopping": round(100 * stopped, 1),
        "searches_stopping": round(asked / count, 2),
        "saved": round(100 * (1 - asked / searches), 1) if searches else 0.0,
        "lost": round(100 * (recall[-1] - stopped), 2),
    }


def by_rule(all_asked: Sequence[Asked]) -> list[str]:
    """A line for each rule and round: how many runs it stopped, and what that lost in points of all."""
    stopped: dict[tuple[int, str], list[float]] = {}
    for a in all_asked:
        lost = a.recall(len(a.evidence)) - a.recall(a.stopped)
        stopped.setdefault((a.stopped, a.rule), []).append(lost)
    return [
        f"stopped after {after}: {rule:20} {len(lost):4}   lost {100 * sum(lost) / len(all_asked):.2f}"
        for (after, rule), lost in sorted(stopped.items())
    ]


def spread(rows: list[dict[str, Any]], limit: int | None) -> list[dict[str, Any]]:
    """At most so many of the rows, evenly from first to last."""
    if limit is None or limit >= len(rows):
        return rows
    return [rows[n * len(rows) // limit] for n in range(limit)]


async def measured(data: Path, work: Path, limit: int | None = None) -> tuple[dict[str, float], list[Asked]]:
    """All figures of a folder's questions, or of `limit` of them spread over the file."""
    folder = work / "corpus"
    folder.mkdir()
    shelved(data, folder)
    graph = build_graph(await kits_over(folder, work))
    questions = spread(list(lines(data / "questions.jsonl")), limit)
    done = [await ran(graph, q["question"], q["gold"]) for q in questions]
    return figures(done), done


def main() -> None:
    """Measure the folder named on the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, nargs="?", help="with corpus.jsonl and questions.jsonl")
    parser.add_argument("--limit", type=int, help="only so many questions, spread over the file")
    given = parser.parse_args()
    if given.folder and not (given.folder / "corpus.jsonl").is_file():
        parser.error(f"{given.folder} has no corpus.jsonl")
    with tempfile.TemporaryDirectory() as work:
        data = given.folder or samples.corpus(Path(work))
        found, done = asyncio.run(measured(data, Path(work), given.limit))
    for name, value in found.items():
        print(f"{name:24} {value}")
    for line in by_rule(done):
        print(line)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
