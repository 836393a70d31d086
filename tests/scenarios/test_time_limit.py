"""Runs whose time is limited: they stop looking, say so, and still have their report."""

import asyncio
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from fakes.run_parts import Library, make_dependencies
from standins.documents import TIDES, written
from standins.model import Model, ModelRequest
from standins.prose import page
from standins.replies import Reply
from standins.rows import rows_of
from standins.server import closed_port
from standins.working_model import form_of, never_satisfied, researcher, scripted

from fathom import DeepResearcher, ResearchRequest, RunStopped
from fathom.graph import CustomDependencies, build_graph
from fathom.llm.factory import make_research_model
from fathom.runs.executor import open_runs
from fathom.settings import load_settings
from fathom.state import ReviewAnswer, RunConfig
from fathom.text.similarity import embed

QUESTION = "How much does tidal power cost?"
BOOKS = {f"https://shelf{n}.example/book": page(n, 1200) for n in range(40)}
LIMIT_S = 2.0
ENDLESS_RUN = RunConfig(rounds=10, sources=3, threshold=1.0, model="stand-in", time_limit_s=LIMIT_S)


@pytest.fixture(autouse=True, scope="module")
def word_vectors() -> None:
    """The vectors are in memory: what is limited here is the time of the run, not that of reading a file."""
    embed(["tidal power"])


class Busy:
    """Answers at once, but from so many pages on it is reading until the time of the run is over."""

    def __init__(self, limit_s: float, pages: int) -> None:
        self.over = float("inf")
        self._limit_s, self._pages = limit_s, pages
        self._answer = scripted(judge=never_satisfied)
        self._guard, self._read = threading.Lock(), 0

    def __call__(self, request: ModelRequest) -> Reply:
        with self._guard:
            if self.over == float("inf"):  # the time of the run had begun; a second for what was on its way
                self.over = time.monotonic() + self._limit_s + 1.0
            self._read += form_of(request) == "read"
            is_reading = form_of(request) == "read" and self._read > self._pages
        reply = self._answer(request)
        return reply.after(max(0.0, self.over - time.monotonic())) if is_reading else reply


async def test_when_the_time_is_used_up_nothing_new_is_looked_for_and_the_report_is_written(
    tmp_path: Path,
) -> None:
    busy = Busy(LIMIT_S, pages=4)
    library = Library(BOOKS)
    with Model(busy) as model:
        settings = load_settings(home=tmp_path, base_url=model.base_url)
        graph = build_graph(
            make_dependencies(tmp_path, library, lambda own: make_research_model(settings, own))
        )
        began = time.monotonic()
        state = await graph.ainvoke({"question": QUESTION}, context=ENDLESS_RUN)
        taken = time.monotonic() - began
        late = [
            form_of(request)
            for seen, request in zip(model.calls, model.requests, strict=True)
            if seen.arrived > busy.over
        ]
    last = state["judgements"][-1]
    assert last.stop == "time used up"
    assert last.because.endswith("of 2 s")
    assert 1 <= last.round < 10
    assert late  # the report
    assert "read" not in late
    assert "plan" not in late
    assert taken < 30
    assert state["report"].status == "partial"
    assert "the time ran out" in state["report"].markdown
    assert state["report"].citations


async def test_the_result_names_the_rule(tmp_path: Path) -> None:
    docs = written(tmp_path / "docs", TIDES)
    with Model(lambda request: researcher(request).after(0.1)) as model:
        settings = load_settings(home=tmp_path, base_url=model.base_url)
        request = ResearchRequest(query=QUESTION, docs=[docs], model="stand-in", time_limit_s=0.15)
        result = await DeepResearcher(settings).research(request)
    assert result.metadata.stop == "time used up"
    assert result.settings.time_limit_s == 0.15


async def test_time_in_which_a_person_looks_at_the_plan_does_not_count(tmp_path: Path) -> None:
    docs = written(tmp_path / "docs", TIDES)
    with Model(researcher) as model:
        settings = load_settings(home=tmp_path, base_url=model.base_url)
        request = ResearchRequest(
            query=QUESTION, docs=[docs], model="stand-in", time_limit_s=30.0, review="plan"
        )
        began = time.monotonic()
        with pytest.raises(RunStopped):
            await DeepResearcher(settings).research(request)
        async with open_runs(settings) as runs:
            run_id = await runs.find(None)
        await asyncio.sleep(1.0)
        result = await DeepResearcher(settings).resume(run_id, ReviewAnswer(action="approve"))
    assert 0 < _worked(tmp_path) < time.monotonic() - began - 1.0
    assert result.metadata.stop != "time used up"
    assert len(result.sources) == len(TIDES)


def _worked(home: Path) -> float:
    return _number(home, "select max(worked_s) from run_times")


def _number(home: Path, words: str) -> float:
    return float(rows_of(home / "fathom.sqlite", words)[0][0])


async def test_a_model_that_hangs_while_writing_is_left_and_the_report_is_made_of_quotes(
    tmp_path: Path,
) -> None:
    def answer(request: ModelRequest) -> Reply:
        if form_of(request) in {"outline", "write", "check"}:
            return Reply.hang()
        return never_satisfied(request) if form_of(request) == "judge" else researcher(request)

    (tmp_path / "prices.toml").write_text("[models.stand-in]\ninput = 1\noutput = 1\n")
    with Model(answer) as model:
        settings = load_settings(home=tmp_path, base_url=model.base_url)
        made = make_dependencies(tmp_path, Library(BOOKS), lambda own: make_research_model(settings, own))
        hurried = CustomDependencies(lambda own: replace(made(own), grace_s=1.0), made.run_configs())
        began = time.monotonic()
        state = await build_graph(hurried).ainvoke({"question": QUESTION}, context=ENDLESS_RUN)
    assert time.monotonic() - began < 20
    assert state["report"].status == "partial"
    assert state["report"].citations
    assert "done without the model" in state["report"].markdown
    nano = _number(tmp_path, "select sum(nano) from payments")
    # What was cut off may have been answered, and is told as what it may have cost.
    assert {"write", "outline"} & {cost.role for cost in state["costs"]}
    assert sum(cost.usd for cost in state["costs"]) == pytest.approx(nano / 1e9)


async def test_a_model_that_hangs_from_the_start_costs_the_prose_and_not_the_run(tmp_path: Path) -> None:
    with Model(lambda _: Reply.hang()) as model:
        settings = load_settings(home=tmp_path, base_url=model.base_url)
        made = make_dependencies(tmp_path, Library(BOOKS), lambda own: make_research_model(settings, own))
        hurried = CustomDependencies(lambda own: replace(made(own), grace_s=1.0), made.run_configs())
        began = time.monotonic()
        own = ENDLESS_RUN.model_copy(update={"time_limit_s": 2 * LIMIT_S})
        state = await build_graph(hurried).ainvoke({"question": QUESTION}, context=own)
    assert time.monotonic() - began < 20
    assert state["judgements"][-1].stop == "time used up"
    assert state["report"].status == "partial"
    assert state["report"].citations
    assert "There was no plan when half of the time left was over" in state["report"].markdown
    assert {seen.status for seen in model.calls} == {None}


async def test_nobody_at_the_address_is_told_at_once_however_little_time_there_is(tmp_path: Path) -> None:
    docs = written(tmp_path / "docs", TIDES)
    settings = load_settings(home=tmp_path, base_url=f"http://127.0.0.1:{closed_port()}/v1", outage_s=0.5)
    request = ResearchRequest(query=QUESTION, docs=[docs], model="stand-in", time_limit_s=60.0)
    with pytest.raises(RunStopped, match="cannot be reached"):
        await DeepResearcher(settings).research(request)
