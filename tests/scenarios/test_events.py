"""What runs tell: every kind of event, in an order that a small grammar allows, whatever happens to them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from checks.event_order import find_order_faults
from fakes.run_parts import Library, ScriptedModel, make_dependencies
from langgraph.types import Command
from standins.documents import TIDES, written
from standins.prose import page

from fathom.errors import FathomError, RunStopped, Unavailable
from fathom.events import EVENT_KINDS, Failed, Progress, ReportChunk, ReportWritten, SearchCompleted, Spent
from fathom.graph import ResearchGraph, build_graph
from fathom.llm.protocol import ResearchModel
from fathom.request import ResearchRequest
from fathom.runs.event_stream import RunRecorder, RunSegment, StopSwitch, graph_config, stream_events
from fathom.runs.executor import open_runs
from fathom.settings import load_settings
from fathom.state import ResearchState, RunConfig
from fathom.state.model_io import Assessment, JudgeInput, ModelResult
from fathom.storage.checkpoints import checkpointer

QUESTION = "How do barrages compare with turbines?"
SHELF = {f"https://shelf{n}.example/book": page(n, 600) for n in range(24)}
APPROVED = Command(resume={"action": "approve"})  # type: ignore[var-annotated]


@dataclass(frozen=True)
class Ailing(ScriptedModel):
    """A clerk who is ill the first time that he is to judge."""

    judged: list[str] = field(default_factory=list)

    async def judge(self, judge_input: JudgeInput) -> ModelResult[Assessment]:
        """Refuses once."""
        self.judged.append(judge_input.question)
        if len(self.judged) == 1:
            raise Unavailable("the judge is ill")
        return await super().judge(judge_input)


@asynccontextmanager
async def machine(home: Path, mind: ResearchModel, library: Library) -> AsyncIterator[ResearchGraph]:
    async with checkpointer(home / "fathom.sqlite") as saver:
        yield build_graph(make_dependencies(home, library, mind), saver)


async def segment(
    graph: ResearchGraph, given: Any, run_config: RunConfig, keeper: RunRecorder | None = None
) -> list[Progress]:
    """One stretch of a run; what stops it is told by its last event."""
    before: Any = None if isinstance(given, dict) else (await graph.aget_state(graph_config("run"))).values
    events: list[Progress] = []
    try:
        async for event in stream_events(graph, RunSegment("run", given, run_config, before, keeper=keeper)):
            events.append(event)  # noqa: PERF401 - what was told before it stopped is wanted too
    except RunStopped as error:
        assert isinstance(events[-1].payload, Failed)
        assert events[-1].payload.error == str(error)
        behind = error.__cause__ if isinstance(error.__cause__, FathomError) else error
        assert events[-1].payload.code == behind.code
    return events


async def test_every_kind_of_event_is_told_in_one_run_while_branches_fail(tmp_path: Path) -> None:
    """Shown a plan, left by its judge, and gone on with to its end; some searches and some pages are lost."""
    library = Library(SHELF, lost_queries=["2, shelf 1"], lost_books=["https://shelf1.example/book"])
    run_config = RunConfig(review="plan", strategy="rollouts", branches=3, levels=2, sources=4, threshold=1.0)
    start: Any = {"question": QUESTION}
    async with machine(tmp_path, Ailing(quotes=2, usd_a_call=0.001), library) as graph:
        shown = await segment(graph, start, run_config)
        assert shown[-1].kind == "checkpoint"
        failed = await segment(graph, APPROVED, run_config)
        assert failed[-1].kind == "failed"
        ended = await segment(graph, None, run_config)
    assert ended[-1].kind == "completed"
    events = [*shown, *failed, *ended]
    assert {event.kind for event in events} == set(EVENT_KINDS)
    assert find_order_faults(events) == []
    assert {event.branch for event in events} == {"", "b1", "b2", "b3"}
    assert any(isinstance(e.payload, SearchCompleted) and e.payload.lost for e in events)
    assert events[-1].spent.usd > failed[-1].spent.usd > 0
    assert events[-1].spent.calls == round(events[-1].spent.usd / 0.001)
    for event in events:
        if event.kind not in {"report kept", "completed"}:  # whose results are in no line
            assert Progress.model_validate_json(event.model_dump_json()) == event


async def test_drafts_come_first_then_checked_sections_then_the_report(tmp_path: Path) -> None:
    start: Any = {"question": QUESTION}
    async with machine(tmp_path, ScriptedModel(quotes=2), Library(SHELF)) as graph:
        events = await segment(graph, start, RunConfig(rounds=1, sources=2))
    kinds = [e.kind for e in events if e.kind in {"draft", "report chunk", "report written"}]
    assert kinds == ["draft", "report chunk", "report written"]
    (chunk,) = [e.payload.text for e in events if isinstance(e.payload, ReportChunk)]
    (report,) = [e.payload.markdown for e in events if isinstance(e.payload, ReportWritten)]
    assert all(line.split(". ")[0] in report for line in chunk.splitlines() if line)


@pytest.mark.parametrize(
    "run_config",
    [
        {"rounds": 2},
        {"rounds": 3, "endless": True},
        {"strategy": "rollouts", "branches": 3, "levels": 2},
        {"strategy": "tree", "levels": 2, "branches": 2},
        {"strategy": "rollouts", "branches": 2, "levels": 1, "orchestration": "handoff"},
    ],
)
@pytest.mark.parametrize("lost", [(), tuple(SHELF)[:20]])
async def test_the_order_is_legal_whatever_kind_of_run_it_is(
    tmp_path: Path, run_config: dict[str, Any], lost: tuple[str, ...]
) -> None:
    settings = RunConfig(sources=4, threshold=1.0, **run_config)
    async with machine(tmp_path, ScriptedModel(quotes=2), Library(SHELF, lost_books=lost)) as graph:
        events = await segment(graph, {"question": QUESTION}, settings)
    assert find_order_faults(events) == []
    assert events[-1].kind == "completed"


async def test_updates_and_follow_ups_are_told_in_the_same_order(tmp_path: Path) -> None:
    docs = written(tmp_path / "docs", TIDES)
    async with open_runs(load_settings(home=tmp_path)) as runs:
        request = ResearchRequest(query="How much does tidal power cost?", docs=[docs], max_rounds=1)
        run_id, _ = await runs.prepare_run(request)
        events = [event async for event in runs.work(run_id, request)]
        written(tmp_path / "docs", {"lagoon.md": "# Swale\n\nTidal power at Swale costs 99 euros.\n"})
        update_id, update = await runs.update(run_id)
        updated = [event async for event in runs.work(update_id, update)]
        later = ResearchRequest(query="What do fishermen at Merrow say?")
        later_id, follow_up = await runs.follow_up(run_id, later)
        followed = [event async for event in runs.work(later_id, follow_up)]
    assert [find_order_faults(one) for one in (events, updated, followed)] == [[], [], []]
    assert {one[-1].kind for one in (events, updated, followed)} == {"completed"}


async def test_every_search_lost_is_a_legal_run_with_nothing_in_it(tmp_path: Path) -> None:
    settings = RunConfig(rounds=2)
    async with machine(tmp_path, ScriptedModel(), Library(SHELF, lost_queries=[""])) as graph:
        events = await segment(graph, {"question": QUESTION}, settings)
    assert find_order_faults(events) == []
    assert events[-1].model_dump()["payload"]["status"] == "failed"


async def test_a_run_that_is_halted_in_the_middle_is_told_on_without_a_gap(tmp_path: Path) -> None:
    settings = RunConfig(rounds=2, sources=4, threshold=1.0, strategy="tree", levels=2, branches=2)
    start: Any = {"question": QUESTION}
    for kind in ("effort sized", "search started", "content extracted", "round completed", "report section"):
        home = tmp_path / kind.replace(" ", "-")
        home.mkdir()
        events: list[Progress] = []
        async with machine(home, ScriptedModel(quotes=2), Library(SHELF)) as graph:
            halt, stretch = StopSwitch(), RunSegment("run", start, settings)
            async with halt.over(stretch.control):
                async for event in stream_events(graph, stretch):
                    events.append(event)
                    if event.kind == kind:
                        halt.request()
            assert event.model_dump()["payload"]["why"] == "stopped"
            events += await segment(graph, None, settings)
        assert find_order_faults(events) == [], kind
        assert events[-1].kind == "completed"
        started = [e.payload.model_dump() for e in events if e.kind == "started"]
        assert [one["is_resumed"] for one in started] == [False, True]


@dataclass
class Notes:
    """A keeper that remembers; its disk may be full."""

    told: list[Progress] = field(default_factory=list)
    kept: list[tuple[int, bool, Spent]] = field(default_factory=list)
    full_at: str = ""

    async def tell(self, event: Progress) -> None:
        """Remember it."""
        if event.kind == self.full_at:
            raise OSError(28, "No space left on device")
        self.told.append(event)

    async def keep(self, state: ResearchState, spent: Spent) -> None:
        """Remember how far it is."""
        self.kept.append((len(state["judgements"]), "report" in state, spent))


async def test_a_keeper_hears_everything_and_is_shown_the_state_after_rounds_and_reports(
    tmp_path: Path,
) -> None:
    settings = RunConfig(rounds=2, sources=3, threshold=1.0)
    notes = Notes()
    async with machine(tmp_path, ScriptedModel(quotes=2, usd_a_call=0.001), Library(SHELF)) as graph:
        events = await segment(graph, {"question": QUESTION}, settings, notes)
    assert notes.told == events
    assert [(rounds, has_report) for rounds, has_report, _ in notes.kept] == [
        (1, False),
        (2, False),
        (2, True),
    ]
    spent = [one.usd for _, _, one in notes.kept]
    assert spent == sorted(spent)
    assert spent[0] > 0


async def test_a_keeper_without_a_disk_stops_the_run_and_loses_nothing(tmp_path: Path) -> None:
    settings = RunConfig(rounds=2, sources=3, threshold=1.0)
    notes = Notes(full_at="sufficiency evaluated")
    async with machine(tmp_path, ScriptedModel(quotes=2), Library(SHELF)) as graph:
        events = await segment(graph, {"question": QUESTION}, settings, notes)
        assert events[-1].model_dump()["payload"]["error"].endswith("No space left on device.")
        events += await segment(graph, None, settings, replace(notes, full_at=""))
    assert find_order_faults(events) == []
    assert events[-1].kind == "completed"


def test_a_result_of_a_run_stays_out_of_the_events_of_another(tmp_path: Path) -> None:
    """Two runs of one machine at once: nothing that one tells names the other."""

    async def two() -> list[list[Progress]]:
        async with machine(tmp_path, ScriptedModel(quotes=2), Library(SHELF)) as graph:

            async def one(name: str) -> list[Progress]:
                run_config = RunConfig(rounds=1, sources=2)
                given = {"question": f"{QUESTION} {name}"}
                return [event async for event in stream_events(graph, RunSegment(name, given, run_config))]

            return list(await asyncio.gather(one("run-one"), one("run-two")))

    left, right = asyncio.run(two())
    assert {event.run_id for event in left} == {"run-one"}
    assert all("run-two" not in event.model_dump_json() for event in left)
    assert all("run-one" not in event.model_dump_json() for event in right)
    kept = [e.payload.model_dump() for e in left if e.kind == "report kept"]
    assert kept == [{}]


def broken(events: list[Progress], place: int) -> list[Progress]:
    return [*events[:place], *events[place + 1 :]]


async def test_the_grammar_bites(tmp_path: Path) -> None:
    """A run with any one of its events taken out or told twice is complained about, with few exceptions."""
    settings = RunConfig(rounds=1, sources=1, queries=1)
    async with machine(tmp_path, ScriptedModel(quotes=2), Library(SHELF)) as graph:
        events = await segment(graph, {"question": QUESTION}, settings)
    assert find_order_faults(events) == []
    unmissed = {e.kind for place, e in enumerate(events) if not find_order_faults(broken(events, place))}
    assert unmissed <= {"effort sized", "draft", "report section", "report chunk", "report kept"}
    assert find_order_faults(events[:-1]) == ["ends with 'report kept'"]
    assert find_order_faults([*events, events[-1]])
    assert find_order_faults(list(reversed(events)))
    other = [e.model_copy(update={"run_id": "another"}) if e.kind == "search started" else e for e in events]
    assert find_order_faults(other) == ["'search started' of run another"]
