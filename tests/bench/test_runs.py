"""The benches of whole runs, on a few pages and with a quick stand-in; and every bench without data."""

import asyncio
import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

BENCH = Path(__file__).parents[2] / "bench"
sys.path.insert(0, str(BENCH))
cost: Any = import_module("cost")  # scripts, no part of the package
library: Any = import_module("library")
running: Any = import_module("running")
wall: Any = import_module("wall")
world: Any = import_module("world")
pytestmark = pytest.mark.whole
QUICK = world.Manners(0.05, 0.02, 2)


def told(kind: str, began: float) -> Any:
    return world.Told("run", kind, began, began + 0.5)


def test_what_is_sent_back_makes_a_chain_longer_and_what_is_checked_beside_it_does_not() -> None:
    rows = [told("PlanAnswer", 1), told("ReadAnswer", 2), told("VerifyAnswer", 3), told("RetryAnswer", 4)]
    rows += [told("VerifyAnswer", 5), told("JudgeAnswer", 6), told("WriteAnswer", 7)]
    rows += [told("CheckAnswer", 8), told("CheckAnswer", 9), told("EditAnswer", 10), told("CheckAnswer", 11)]
    assert running.chain(rows) == [
        "search", "PlanAnswer", "search", "ReadAnswer", "VerifyAnswer", "RetryAnswer", "VerifyAnswer",
        "JudgeAnswer", "WriteAnswer", "CheckAnswer", "EditAnswer", "CheckAnswer",
    ]  # fmt: skip


def test_a_chain_is_what_needs_each_other_and_not_what_happened_to_come_later() -> None:
    rows = [told("PlanAnswer", 1), *(told("ReadAnswer", 2 + n) for n in range(5))]
    rows += [told("VerifyAnswer", 8), told("JudgeAnswer", 9), told("OutlineAnswer", 10)]
    rows += [told("WriteAnswer", 11), told("WriteAnswer", 12), told("CheckAnswer", 13)]
    steps = running.chain(rows)
    assert steps == [
        "search", "PlanAnswer", "search", "ReadAnswer", "VerifyAnswer", "JudgeAnswer", "OutlineAnswer",
        "WriteAnswer", "CheckAnswer",
    ]  # fmt: skip
    assert running.seconds(steps, 1.0, 0.3) == pytest.approx(7.6)


async def test_the_bench_of_costs_counts_what_was_sent(tmp_path: Path) -> None:
    docs = library.made_docs(8)
    questions = library.questions_of(None)[:1]
    (figures,) = (await cost.measured(docs, questions, QUICK, ["standard"], tmp_path)).values()
    assert figures["rounds"] == 2
    assert figures["in_a_row"] == 12
    assert figures["calls"] > 10
    assert figures["tokens"] == figures["tokens_in"] + figures["tokens_out"] == figures["most_tokens"]
    assert 0 < figures["usd"] < 1


@pytest.mark.parametrize("takes", [["tool", "words"], ["words"]])
async def test_a_run_goes_down_the_ladder_of_a_stand_in_that_cannot_be_asked_by_schema(
    takes: list[str], tmp_path: Path
) -> None:
    manners = world.Manners(0.0, 0.0, 1, takes)
    with world.World(library.made_docs(8), manners) as stand_in:
        settings = running.settings_for(stand_in, tmp_path, "me")
        result = await running.ran(settings, library.questions_of(None)[0], depth="quick")
        answered = [row for row in stand_in.told() if row.who == "me"]
    assert result.status in {"complete", "unsure"}
    assert result.metadata.strategies == {takes[0]: len(answered)}


async def test_cost_and_calls_are_half_to_twice_what_was_forecast_whatever_the_depth_and_the_judge(
    tmp_path: Path,
) -> None:
    """A judge who has enough at once, and one who never has: all others cost something in between."""
    docs, questions = library.docs_of(None), library.questions_of(None)[:1]

    async def of(rounds: int) -> dict[str, Any]:
        folder = tmp_path / str(rounds)
        folder.mkdir()
        found = await cost.measured(docs, questions, world.Manners(0.0, 0.0, rounds), cost.DEPTHS, folder)
        pairs = (("forecast", "usd"), ("forecast_calls", "calls"))
        return {
            f"{depth}, {rounds}, {real}": row[expected] / row[real]
            for depth, row in found.items()
            for expected, real in pairs
        }

    one, never = await asyncio.gather(of(1), of(1000))
    found = {**one, **never}
    assert len(found) == 12
    assert all(0.5 < ratio < 2.0 for ratio in found.values()), found


async def test_the_bench_of_wall_clock_runs_many_at_once(tmp_path: Path) -> None:
    question = {"question": "What are the costs and risks of heat pumps?"}
    (tmp_path / "questions.jsonl").write_text(json.dumps(question), "utf-8")
    for number, doc in enumerate(library.made_docs(3)):
        (tmp_path / f"{number}.md").write_text(f"# {doc.title}\n\n{doc.text}\n", "utf-8")
    figures = await wall.measured(tmp_path, world.Manners(0.05, 0.02), "quick", 2)
    assert figures["runs"] == figures["complete"] == 2
    assert figures["chain_calls"] == 10
    assert figures["one_s"] >= figures["chain_s"]


def test_documents_and_questions_come_from_where_they_are_said_to_be(tmp_path: Path) -> None:
    (tmp_path / "one.md").write_text("# Tides\n\nThe tide turns twice a day at Swale.\n", "utf-8")
    (tmp_path / "questions.jsonl").write_text('{"question": "When?"}\n', "utf-8")
    assert next(doc.title for doc in library.docs_of(tmp_path)) == "Tides"
    assert library.questions_of(tmp_path) == ["When?"]
    assert len(set(wall.many(["A?", "B?"], 5))) == 5


@pytest.mark.parametrize("name", ["find", "loop", "claims", "weigh"])
def test_a_bench_without_data_makes_its_own_and_ends_with_one_json_object(name: str) -> None:
    words = ["--limit", "2"] if name == "loop" else []
    command = [sys.executable, str(BENCH / f"{name}.py"), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert isinstance(json.loads(done.stdout.splitlines()[-1]), dict)
