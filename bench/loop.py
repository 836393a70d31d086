"""How well a whole run without a model finds the pages a question needs, round by round, and when it stops.

    python bench/loop.py FOLDER [--limit N]     with corpus.jsonl (id, title, text)
                                                and questions.jsonl (question, gold)

Every question goes through the compiled graph, twice where needed: as it stops by itself, and for three
rounds in any case. Gold is only used to count. Prints recall at 5 of the pages each round's judgement names
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

from find import lines, shelved

from fathom import store
from fathom.graph import Kit, Kits, Research, build
from fathom.minds.extractive import Extractive
from fathom.reading.reader import FileReader
from fathom.search.engines import Engines
from fathom.search.local import LocalEngine
from fathom.state import Knobs, Query

_ROUNDS = 3
_BEST = 5


@dataclass(frozen=True)
class Run:
    """What one run chose as evidence after each round, and how many searches it had made by then."""

    evidence: list[list[str]]
    searches: list[int]
    stop: str
    seconds: float


@dataclass(frozen=True)
class Asked:
    """One question, run for three rounds and as it stops by itself."""

    gold: set[str]
    always: Run
    stopping: Run

    def recall(self, run: Run, round_: int) -> float:
        """The share of what is needed among the first five; a run that had ended keeps what it had."""
        chosen = run.evidence[min(round_, len(run.evidence)) - 1][:_BEST]
        return len(self.gold & set(chosen)) / len(self.gold)


async def kits_over(folder: Path, work: Path) -> Kits:
    """The product's own parts over one folder, its index made once; no model, and a clock that stands."""
    engine = LocalEngine((folder,), work / "index")
    await engine.prepare()
    await engine(Query(id="warm", text="warm up", question="", round=1), limit=1)
    database = work / "fathom.sqlite"
    engines, pages, commons = Engines((engine,)), store.pages(database), store.Commons(database)

    def kit_for(knobs: Knobs) -> Kit:
        return Kit(
            knobs=knobs,
            mind=Extractive(),
            engines=engines,
            reader=FileReader((folder,)),
            pages=pages,
            clock=_then,
            commons=commons,
        )

    return kit_for


def _then() -> datetime:
    return datetime(2026, 1, 2, tzinfo=UTC)


async def ran(graph: Research, question: str, *, is_endless: bool) -> Run:
    """One run; without end it is held by nothing but its rounds, and reports between them are not timed."""
    knobs = Knobs(rounds=_ROUNDS, endless=is_endless)
    state: Any = {}
    writing_s, judged_at = 0.0, 0.0
    began = time.perf_counter()
    steps = graph.astream({"question": question}, context=knobs, stream_mode=["updates", "values"])
    async for mode, step in steps:
        if mode == "values":
            state = step
        elif "judge" in step:
            judged_at = time.perf_counter()
        elif "writer" in step and len(state["judgements"]) < _ROUNDS and is_endless:
            writing_s += time.perf_counter() - judged_at
    seconds = time.perf_counter() - began - writing_s
    names = {page.sha: Path(page.address).stem for page in state.get("pages", [])}
    judged = state["judgements"]
    return Run(
        evidence=[[names[sha] for sha in judgement.evidence] for judgement in judged],
        searches=[sum(q.round <= judgement.round for q in state["asked"]) for judgement in judged],
        stop=str(judged[-1].stop),
        seconds=seconds,
    )


async def answered(graph: Research, question: str, gold: Sequence[object]) -> Asked:
    """Both runs of a question; one that did not stop early is both."""
    stopping = await ran(graph, question, is_endless=False)
    is_whole = len(stopping.evidence) == _ROUNDS
    always = stopping if is_whole else await ran(graph, question, is_endless=True)
    return Asked({str(name) for name in gold}, always, stopping)


def figures(all_asked: Sequence[Asked]) -> dict[str, float]:
    """Means over all questions: recall in points, searches and seconds a question, shares in percent."""
    count = len(all_asked)
    recall = {
        f"recall_{n}": sum(a.recall(a.always, n) for a in all_asked) / count for n in range(1, _ROUNDS + 1)
    }
    stopped = sum(a.recall(a.stopping, _ROUNDS) for a in all_asked) / count
    searches = sum(a.always.searches[-1] for a in all_asked)
    asked = sum(a.stopping.searches[-1] for a in all_asked)
    return {
        "questions": count,
        **{name: round(100 * value, 1) for name, value in recall.items()},
        "searches": round(searches / count, 2),
        "s_per_question": round(sum(a.always.seconds for a in all_asked) / count, 3),
        "recall_stopping": round(100 * stopped, 1),
        "searches_stopping": round(asked / count, 2),
        "s_per_question_stopping": round(sum(a.stopping.seconds for a in all_asked) / count, 3),
        "saved": round(100 * (1 - asked / searches), 1) if searches else 0.0,
        "lost": round(100 * (recall[f"recall_{_ROUNDS}"] - stopped), 2),
    }


async def measured(data: Path, work: Path, limit: int | None = None) -> tuple[dict[str, float], list[Asked]]:
    """All figures of a folder's questions, or of `limit` of them spread over the file."""
    folder = work / "corpus"
    folder.mkdir()
    shelved(data, folder)
    graph = build(await kits_over(folder, work))
    questions = list(lines(data / "questions.jsonl"))
    if limit is not None and limit < len(questions):
        questions = [questions[n * len(questions) // limit] for n in range(limit)]
    done = [await answered(graph, q["question"], q["gold"]) for q in questions]
    return figures(done), done


def main() -> None:
    """Measure the folder named on the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, help="with corpus.jsonl and questions.jsonl")
    parser.add_argument("--limit", type=int, help="only so many questions, spread over the file")
    given = parser.parse_args()
    if not (given.folder / "corpus.jsonl").is_file():
        parser.error(f"{given.folder} has no corpus.jsonl")
    with tempfile.TemporaryDirectory() as work:
        found, done = asyncio.run(measured(given.folder, Path(work), given.limit))
    for name, value in found.items():
        print(f"{name:24} {value}")
    rules = [(len(a.stopping.evidence), a.stopping.stop) for a in done]
    for rounds, rule in sorted(set(rules)):
        print(f"stopped after {rounds}: {rule:20} {rules.count((rounds, rule))}")
    print(json.dumps(found))


if __name__ == "__main__":
    main()
