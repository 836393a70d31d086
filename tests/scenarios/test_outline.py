"""Whole runs in which search and structure shape each other: plans, gaps, and an outline that lives."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fakes.run_parts import Library, make_dependencies
from standins.documents import TIDES, written
from standins.model import Model, ModelRequest
from standins.prose import page
from standins.replies import Reply
from standins.working_model import fenced, form_of, never_satisfied, scripted, value

from fathom import DeepResearcher, ResearchRequest
from fathom.events import RoundCompleted
from fathom.graph import build_graph
from fathom.llm.extractive import ExtractiveModel
from fathom.llm.factory import make_research_model
from fathom.settings import load_settings
from fathom.state import ReviewAnswer, RunConfig

pytestmark = pytest.mark.whole

QUESTION = "How much does tidal power cost?"
SHELF = {f"https://shelf{n}.example/book": page(n, 900) for n in range(24)}
SILT = "Dredging the silt behind the barrage takes 4 million crowns each winter."


def missing(query: str = "", priority: str = "high", description: str = "The price of dredging.") -> Any:
    gap = {"question": "Q1", "description": description, "priority": priority}
    given = {**gap, "suggested_query": query or "dredging silt barrage price", "reason": "not found"}

    def judge(request: ModelRequest) -> Reply:
        return Reply.give({**value(request), "gaps": [given]})

    return judge


async def ran(
    home: Path, library: Library, answer: Callable[[ModelRequest], Reply], **words: Any
) -> tuple[dict[str, Any], list[ModelRequest]]:
    """The last state of a run with the stand-in model, and what the model was asked."""
    run_config = RunConfig(**{"sources": 2, "threshold": 1.0, "depth": "standard", **words}, model="stand-in")
    with Model(answer) as model:
        settings = load_settings(home=home, base_url=model.base_url)
        graph = build_graph(make_dependencies(home, library, lambda own: make_research_model(settings, own)))
        state = await graph.ainvoke({"question": QUESTION}, context=run_config)
        return state, model.requests


def of(form: str, requests: list[ModelRequest]) -> list[str]:
    return [request.user_text for request in requests if form_of(request) == form]


async def test_the_planner_is_asked_in_every_round_with_what_is_missing(tmp_path: Path) -> None:
    state, requests = await ran(tmp_path, Library(SHELF), scripted(judge=never_satisfied), rounds=3)
    plans = of("plan", requests)
    assert len(plans) == len(state["judgements"]) == 3
    assert all("Today is 2026-01-02." in plan for plan in plans)
    assert "2 more may follow" in plans[0]
    assert "this is the last round" in plans[2]
    for plan, judgement in zip(plans[1:], state["judgements"], strict=False):
        assert judgement.gaps[0].description in fenced("gaps", plan)
        assert "What is known" in fenced("parts", plan)


async def test_queries_are_asked_in_the_planners_order(tmp_path: Path) -> None:
    own = [f"{word} of tidal power" for word in ("turbines", "prices", "gates", "locks", "nets", "cables")]

    def plan(request: ModelRequest) -> Reply:
        queries = [{"question": "Q2" if n % 2 else "Q1", "text": text} for n, text in enumerate(own)]
        return Reply.give({**value(request), "queries": queries})

    state, _ = await ran(tmp_path, Library(SHELF), scripted(plan=plan), rounds=1, queries=4)
    assert [query.text for query in state["asked"] if query.id != "scout"] == own[:4]


async def test_an_important_gap_keeps_a_run_going_until_two_rounds_could_not_close_it(tmp_path: Path) -> None:
    state, requests = await ran(tmp_path, Library(SHELF), scripted(judge=missing()), rounds=8, threshold=0.1)
    judgements = state["judgements"]
    assert [j.stop for j in judgements] == [None, None, "gaps given up"]
    assert [j.held for j in judgements] == ["sufficient", "sufficient", None]
    assert [(j.gaps[0].priority, j.gaps[0].tried) for j in judgements] == [
        ("high", 0),
        ("high", 1),
        ("medium", 2),
    ]
    assert judgements[-1].gaps[0].importance == "high"
    assert "not closed by 1 rounds" in of("plan", requests)[2]
    # It is still told to the reader, and the report is not called complete.
    assert "The price of dredging." in state["report"].markdown
    assert state["report"].status == "unsure"


async def test_a_quick_run_stays_quick(tmp_path: Path) -> None:
    state, _ = await ran(
        tmp_path, Library(SHELF), scripted(judge=never_satisfied), depth="quick", threshold=0.1
    )
    assert [j.stop for j in state["judgements"]] == [None, "gaps given up"]


async def test_limits_come_before_an_open_gap(tmp_path: Path) -> None:
    state, _ = await ran(tmp_path, Library(SHELF), scripted(judge=missing()), rounds=1, threshold=0.1)
    assert state["judgements"][-1].stop == "rounds used up"
    assert len(state["judgements"]) == 1


async def test_the_outline_is_kept_from_round_to_round_and_the_report_is_written_from_it(
    tmp_path: Path,
) -> None:
    def judge(request: ModelRequest) -> Reply:
        given = value(request)
        thin = {**given["parts"][1], "lacks": "What fishermen lose.", "priority": "high", "claims": []}
        opened = {**thin, "id": "", "title": "Other risks", "question": "Q2"}
        return Reply.give({**given, "parts": [*given["parts"], opened], "gaps": []})

    state, requests = await ran(tmp_path, Library(SHELF), scripted(judge=judge), rounds=3)
    judged = of("judge", requests)
    assert "(none)" in fenced("outline", judged[0])
    assert re.search(r"S1 \(high\) What is known: .*rests on E\d", fenced("outline", judged[1]))
    # A part that rests on nothing is a gap; it is dropped when it stays so.
    first = state["judgements"][0]
    assert [(gap.description, gap.priority) for gap in first.gaps] == [("What fishermen lose.", "high")]
    assert first.stop is None
    parts = state["outline"].headings
    assert [(part.id, part.title) for part in parts] == [
        ("S1", "What is known"),
        ("S2", "What speaks against it"),
    ]
    sections = state["report"].sections
    assert [section.kind for section in sections] == ["summary", "body", "body"]
    assert [section.title for section in sections[1:]] == [part.title for part in parts]
    assert of("outline", requests) == []
    placed = {claim for part in parts for claim in part.claims}
    assert {claim.id for claim in state["claims"] if claim.relevance >= 0.5} <= placed


async def test_the_outline_is_in_the_events_the_review_and_the_folder(tmp_path: Path) -> None:
    docs = written(tmp_path / "docs", TIDES)
    with Model(scripted(judge=missing())) as model:
        settings = load_settings(home=tmp_path, base_url=model.base_url)
        request = ResearchRequest(
            query=QUESTION, docs=[docs], model="stand-in", max_rounds=2, max_sources=2, review="rounds"
        )
        session = await DeepResearcher(settings).start(request)
        first = await session.checkpoint()
        assert first
        assert first.shown["outline"] == []
        table = await session.go_on(ReviewAnswer(action="approve"))
        assert table
        assert "What is known" in table.shown["outline"][0]
        events = [
            event
            async for event in DeepResearcher(settings).stream(request.model_copy(update={"review": "off"}))
        ]
    over = [event.payload for event in events if isinstance(event.payload, RoundCompleted)]
    assert over[0].outline[0].title == "What is known"
    assert over[0].outline[0].claims > 0


def long_page() -> str:
    """A page of which a reader is shown a part, and whose answer to a gap stands in what it is not shown."""
    costs = "\n\n".join(
        f"Tidal power costs {n} euros at plant {n}, as tidal power does." for n in range(40, 1400)
    )
    birds = " ".join(f"Gulls nest on rock {n} of the bay, herons on the next." for n in range(60))
    return f"# Tidal power\n\n{costs}\n\n## The bay\n\n{birds} {SILT} {birds}\n"


async def test_a_page_at_hand_is_read_again_for_a_gap(tmp_path: Path) -> None:
    library = Library({"https://long.example/book": long_page(), **SHELF})

    def read(request: ModelRequest) -> Reply:
        if SILT not in fenced("passages", request.user_text):
            return Reply.give(value(request))
        found = {"question": "Q1", "quote": SILT, "statement": SILT, "relevance": 0.9}
        return Reply.give({**value(request), "claims": [found]})

    judge = missing("dredging silt behind the barrage each winter")
    state, requests = await ran(tmp_path, library, scripted(judge=judge, read=read), rounds=2)
    reads = of("read", requests)
    assert not any(SILT in shown for shown in reads[:2])
    assert SILT in [claim.statement for claim in state["claims"]]
    assert library.read.count("https://long.example/book") == 1
    assert [reread.round for reread in state["rereads"]] == [2]
    assert "dredging silt" in fenced("rereads", of("plan", requests)[1])


async def test_without_a_model_no_page_is_read_twice_and_no_judge_makes_an_outline(tmp_path: Path) -> None:
    library = Library({"https://long.example/book": long_page(), **SHELF})
    graph = build_graph(make_dependencies(tmp_path, library, ExtractiveModel()))
    question = "Why does the silt behind the barrage cost so much, and who invented the zeppelin?"
    async for update in graph.astream(
        {"question": question}, context=RunConfig(rounds=3, sources=2), stream_mode="updates"
    ):
        if judged := update.get("judge"):
            assert "outline" not in judged
            assert not judged.get("rereads")
