"""Which sources of read pages are offered to be read next."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fakes.records import claim, clock, gap, hit, known, page, query, question, quote
from fakes.services import FakePageLeases, FakePages, FakeSignals
from standins.web import Web, html

from fathom.graph.routes import route_after_branch_planner, route_after_planner
from fathom.nodes.extractor import extractor
from fathom.nodes.selector import selector
from fathom.planning.effort import apply_effort, estimate_effort
from fathom.planning.reading_list import (
    add_recall_round,
    add_thread,
    has_unread_origins,
    is_at_hand,
    keep_queries_for_gaps,
    origin_hits,
)
from fathom.reading.readers import open_web
from fathom.state import Claim, Origin, Page, ResearchState, RunConfig
from fathom.state.model_io import PlanInput
from fathom.storage import open_storage

LINK = "https://inst.example/r"


def citing(name: str = "news", link: str = LINK, address: str = "https://news.example/a") -> Page:
    return page(name, address, origins=[Origin(address=link, words="according to", start=0, end=200)])


def drawn(name: str = "news", **words: Any) -> Claim:
    return claim(name=f"c-{name}", quotes=[quote(of=name)], **words)


def state(*pages: Page, **words: Any) -> ResearchState:
    known: ResearchState = {
        "question": "What?",
        "pages": list(pages),
        "claims": [drawn("news", relevance=0.9)],
        "asked": [query(name="r1q1"), query(name="r1q2", about="Q2")],
    }
    return {**known, **words}  # type: ignore[typeddict-item]


def test_an_origin_is_a_hit_of_the_query_it_serves() -> None:
    [found] = origin_hits(state(citing()), RunConfig())
    assert (found.address, found.engine, found.query) == (LINK, "origin", "r1q1")
    assert found.snippet == drawn().quotes[0].text


@pytest.mark.parametrize(
    ("changed", "config"),
    [
        ({"visited": [LINK]}, {}),
        ({"pages": [citing(), page("own", LINK)]}, {}),
        ({"pages": [citing(address="file:///notes/a.md")]}, {}),
        ({"claims": [drawn(relevance=0.2)]}, {}),
        ({"claims": []}, {}),
        ({}, {"exclude_domains": ["inst.example"]}),
        ({}, {"include_domains": ["news.example"]}),
    ],
)
def test_what_is_read_or_small_or_a_files_or_outside_of_the_runs_limits_is_not_offered(
    changed: dict[str, Any], config: dict[str, Any]
) -> None:
    assert origin_hits(state(citing(), **changed), RunConfig(**config)) == []


def test_a_round_is_offered_few_and_first_what_most_claims_lead_to() -> None:
    pages = [citing(f"p{n}", f"https://inst{n % 6}.example/", f"https://news{n}.example/") for n in range(9)]
    claims = [drawn(f"p{n}", relevance=0.9) for n in range(9)]
    found = origin_hits(state(*pages, claims=claims), RunConfig(sources=20))
    assert [one.address for one in found] == [f"https://inst{n}.example/" for n in range(3)]
    assert len(origin_hits(state(*pages, claims=claims), RunConfig(sources=2))) == 1


async def test_the_selector_prefers_an_origin_to_what_was_found() -> None:
    hits = [hit(f"https://other{n}.example/", rank=1, query="r2q1") for n in range(5)]
    update = await selector(
        state(citing(), hits=hits),
        run_config=RunConfig(sources=3),
        page_leases=FakePageLeases(),
        signals=FakeSignals(),
        pages=FakePages(),
    )
    assert update["chosen"][0].address == LINK
    assert len(update["chosen"]) == 3


def test_origins_are_read_also_when_there_is_nothing_left_to_ask() -> None:
    assert has_unread_origins(state(citing()))
    assert route_after_planner(state(citing(), queries=[])) == "selector"
    assert route_after_branch_planner(state(citing(), queries=[])) == "selector"
    assert route_after_planner(state(citing(), queries=[query()])) == "review"
    assert route_after_planner(state(citing(), queries=[], visited=[LINK])) == "review"
    assert route_after_branch_planner(state(page("news"), queries=[])) == "judge"


async def test_an_origin_at_a_private_address_is_refused_by_the_guard(tmp_path: Path) -> None:
    with Web({"/secret": html("<p>Nobody may read this from outside.</p>")}) as inside:
        [found] = origin_hits(state(citing(link=f"{inside.url}/secret")), RunConfig())
        reader = open_web(open_storage(tmp_path / "pages.sqlite"), tmp_path / "papers").reader()
        update = await extractor({"hit": found}, reader=reader, pages=FakePages(), clock=clock)
        assert inside.records == []
    assert "pages" not in update
    assert [failure.what for failure in update["failures"]] == [f"{inside.url}/secret"]


BRIEF = PlanInput(
    question="What is it?",
    round=2,
    limit=5,
    questions=[question(1), question(2)],
    gaps=[gap("high"), gap("low"), gap("medium").model_copy(update={"question": "Q2"})],
    findings=[claim()],
    leads=["Merrow tides"],
)
RECALLED = known(pages=[], claims=[], is_recalled=True)


def test_a_run_that_follows_nothing_is_planned_as_ever() -> None:
    assert add_thread(BRIEF, None) is BRIEF
    assert keep_queries_for_gaps([query()], BRIEF, None) == [query()]
    assert not is_at_hand(None)


def test_at_first_the_thread_and_what_it_found_are_known() -> None:
    brief = add_thread(replace(BRIEF, round=1, findings=[]), known("One?", "Two?"))
    assert [turn.question for turn in brief.thread] == ["One?", "Two?"]
    assert [(c.statement, c.question) for c in brief.findings] == [(claim().statement, "")]
    assert is_at_hand(known())


def test_then_only_what_has_no_good_answer_is_a_gap_and_leads_wait() -> None:
    brief = add_thread(BRIEF, RECALLED)
    assert [g.question for g in brief.gaps] == ["Q2"]
    assert brief.leads == []
    assert add_thread(replace(BRIEF, round=3), RECALLED).leads == ["Merrow tides"]
    queries = [query("a", "r2q1", "Q1"), query("b", "r2q2", "Q2")]
    assert keep_queries_for_gaps(queries, brief, RECALLED) == queries[1:]


def test_when_all_is_answered_what_matters_is_left_and_then_all_of_it() -> None:
    mattering = add_thread(replace(BRIEF, gaps=[gap("high"), gap("low")]), RECALLED)
    assert [g.priority for g in mattering.gaps] == ["high"]
    minor = add_thread(replace(BRIEF, gaps=[gap("low")]), RECALLED)
    assert [g.priority for g in minor.gaps] == ["low"]
    nothing = replace(BRIEF, gaps=[])
    assert keep_queries_for_gaps([query()], add_thread(nothing, RECALLED), RECALLED) == [query()]


def test_a_thread_without_evidence_is_only_told() -> None:
    brief = add_thread(BRIEF, known(pages=[], claims=[]))
    assert (brief.thread, brief.gaps) == (known().turns, BRIEF.gaps)


def test_what_is_at_hand_takes_a_round_of_its_own() -> None:
    worth = add_recall_round(estimate_effort("How high is it?", "quick"))
    assert apply_effort(RunConfig(), worth).rounds == 4
    assert apply_effort(RunConfig(rounds=2), worth).rounds == 2
