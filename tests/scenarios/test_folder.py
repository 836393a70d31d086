"""The research folder of whole runs: current after each round, also of runs that stopped and went on."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

import pytest
from checks.bibtex_reader import read_bibtex
from checks.event_order import find_order_faults
from fakes.run_parts import Library, ScriptedModel, make_dependencies
from standins.prose import page

from fathom.events import PlanGenerated, Progress, Spent
from fathom.graph import build_graph
from fathom.report.ledger import read_ledger
from fathom.report.verify import verify_report
from fathom.runs.event_stream import (
    RunRecorder,
    RunSegment,
    finished_task_ids,
    graph_config,
    state_with_costs,
    stream_events,
)
from fathom.runs.executor import Runs, open_runs
from fathom.runs.folder import open_folder
from fathom.runs.verify import stored_fates, stored_texts
from fathom.settings import load_settings
from fathom.state import RunConfig, RunState

RUN = "0a1b2c3d-0000-4000-8000-000000000000"
QUESTION = "What is known about tidal turbines?"
KNOBS = RunConfig(
    rounds=3, sources=1, threshold=1.0
)  # one thing after another, so that two runs tell the same
BEGINNINGS = {"started", "checkpoint", "completed", "failed"}


@dataclass
class Slow:
    """A keeper that takes its time over every event."""

    keeper: RunRecorder
    pause_s: float

    async def tell(self, event: Progress) -> None:
        await asyncio.sleep(self.pause_s)
        await self.keeper.tell(event)

    async def keep(self, state: RunState, spent: Spent) -> None:
        await self.keeper.keep(state, spent)


@dataclass
class Desk:
    """A run with a folder; every stretch of work opens both anew, as a new process does."""

    runs: Runs
    place: Path
    run_config: RunConfig = KNOBS
    pause_s: float = 0.0  # before an event is written down

    async def work(self, until: int | None = None) -> list[Progress]:
        """Go on with the run, to its end or until so many events were told."""
        books = {f"https://shelf{n}.example/book": page(n, 200) for n in range(8)}
        kits = make_dependencies(
            self.runs.settings.home, Library(books), ScriptedModel(quotes=2, usd_a_call=0.001)
        )
        graph = build_graph(kits, self.runs.saver)
        folder = await open_folder(self.runs.settings, RUN, self.place)
        told: list[Progress] = []
        async with aclosing(
            stream_events(graph, await self._next_segment(Slow(folder, self.pause_s)))
        ) as events:
            async for event in events:
                told.append(event)
                if len(told) == until:
                    break
        return told

    async def _next_segment(self, keeper: RunRecorder) -> RunSegment:
        stands = await build_graph(checkpointer=self.runs.saver).aget_state(graph_config(RUN), subgraphs=True)
        if not stands.values and not stands.next:
            return RunSegment(RUN, {"question": QUESTION}, self.run_config, keeper=keeper)
        return RunSegment(
            RUN, None, self.run_config, state_with_costs(stands), finished_task_ids(stands), keeper=keeper
        )

    def events(self) -> list[Progress]:
        lines = (self.place / "events.jsonl").read_text("utf-8").splitlines()
        return [Progress.model_validate_json(line) for line in lines]

    def text(self, name: str) -> str:
        return (self.place / name).read_text("utf-8")


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with open_runs(load_settings(home=tmp_path)) as runs:
        yield Desk(runs, tmp_path / "out")


def said(events: list[Progress]) -> Counter[tuple[str, int, str]]:
    """What was told, without when and without the words that every beginning says again."""
    return Counter(
        (event.kind, event.round, event.payload.model_dump_json())
        for event in events
        if event.kind not in BEGINNINGS
    )


async def test_the_folder_tells_the_whole_run_and_its_report_verifies(desk: Desk) -> None:
    told = await desk.work()
    assert [event.kind for event in desk.events()] == [event.kind for event in told]
    assert find_order_faults(desk.events()) == []
    assert sorted(path.name for path in _files(desk.place / "rounds")) == ["001.md", "002.md", "003.md"]
    state = json.loads(desk.text("state.json"))
    assert (state["rounds"], state["stop"]) == (3, "rounds used up")
    assert len(read_bibtex(desk.text("citations.bib"))) == len(state["state"]["report"]["citations"])
    ledger = read_ledger(desk.place / "report.json")
    assert ledger.report == desk.text("report.md")
    fates = stored_fates(ledger, await stored_texts(ledger, desk.runs.settings))
    assert verify_report(ledger, lambda quote: fates[quote.model_dump_json()], ledger.report).is_sound


async def test_after_every_round_the_folder_is_current(desk: Desk) -> None:
    plans = [place for place, one in enumerate(await desk.work(), 1) if one.kind == "plan generated"]
    for number, place in enumerate(plans[1:], 1):
        async with open_runs(load_settings(home=desk.place.parent / f"home{number}")) as runs:
            other = Desk(runs, desk.place.parent / f"out{number}")
            await other.work(until=place)
        state = json.loads(other.text("state.json"))
        assert state["rounds"] == number
        assert state["spent"]["usd"] > 0
        for claim in state["state"]["claims"]:
            assert claim["statement"] in other.text("findings.md")
        assert all(one["title"] in other.text("sources.md") for one in state["state"]["pages"])
        page_text = other.text(f"rounds/{number:03d}.md")
        asked = [one for one in other.events() if one.kind == "plan generated"][-1].payload
        assert isinstance(asked, PlanGenerated)
        assert all(f"- {query}" in page_text for query in asked.queries)
        assert "Cost so far: 0.0" in page_text
        assert "(clerk 0.0" in page_text
        assert not (other.place / "report.md").exists()


async def test_a_run_without_an_end_has_a_report_that_verifies_after_every_round(desk: Desk) -> None:
    desk.run_config = KNOBS.model_copy(update={"endless": True})
    kept = [place for place, one in enumerate(await desk.work(), 1) if one.kind == "report kept"]
    assert len(kept) == 3
    async with open_runs(load_settings(home=desk.place.parent / "home2")) as runs:
        other = Desk(runs, desk.place.parent / "out2", desk.run_config)
        # In the middle of the third round: more is known than the report says, and the ledger is its own.
        await other.work(until=kept[1] + 5)
        ledger = read_ledger(other.place / "report.json")
        assert ledger.metadata is not None
        assert ledger.metadata.rounds == 2
        fates = stored_fates(ledger, await stored_texts(ledger, runs.settings))
        assert verify_report(ledger, lambda quote: fates[quote.model_dump_json()], ledger.report).is_sound


@pytest.mark.parametrize("pause_s", [0.0, 0.01])
@pytest.mark.parametrize("share", [0.05, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95])
async def test_whenever_a_run_stops_its_events_have_no_gaps_and_no_repeats(
    desk: Desk, tmp_path: Path, share: float, pause_s: float
) -> None:
    desk.pause_s = pause_s
    whole = Desk(desk.runs, tmp_path / "whole")
    async with open_runs(load_settings(home=tmp_path / "other")) as runs:
        undisturbed = await Desk(runs, tmp_path / "whole").work()
    await desk.work(until=max(1, round(share * len(undisturbed))))
    await desk.work()
    missing, repeated = said(undisturbed) - said(desk.events()), said(desk.events()) - said(undisturbed)
    assert (sorted(missing), sorted(repeated)) == ([], [])
    # Who is stopped by force does not say so; all else is in its order.
    assert all(words.startswith("ends with") for words in find_order_faults(desk.events()))
    for name in ("findings.md", "sources.md", "hypotheses.md", "citations.md", "citations.bib", "report.md"):
        assert desk.text(name) == whole.text(name), name
    for number in (1, 2, 3):
        assert desk.text(f"rounds/00{number}.md") == whole.text(f"rounds/00{number}.md")


def _files(place: Path) -> list[Path]:
    return list(place.iterdir())
