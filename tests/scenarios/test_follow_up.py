"""Later questions in a thread: the evidence at hand comes first, and only what is missing is looked for."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from checks.event_order import find_order_faults
from fakes.run_parts import Library, ScriptedModel, fixed_noon, make_dependencies
from standins.documents import CHEESE, HANOK, TIDES, written
from standins.killable_run import Site
from standins.model import Model, ModelRequest
from standins.replies import Reply
from standins.tavily import KEY, result
from standins.web import html
from standins.working_model import fenced, form_of, researcher, scripted, value

from fathom import BadInput, DeepResearcher, ResearchRequest, ResearchResult, RunStopped
from fathom.evidence.claims import check_stored_quote
from fathom.graph import build_graph
from fathom.report.verify import verify_report
from fathom.runs.executor import open_runs
from fathom.runs.follow_up import FinishedRun, merge_evidence
from fathom.settings import Settings, load_settings
from fathom.state import ReviewAnswer, RunConfig
from fathom.storage import open_storage

QUESTION = "How much does tidal power cost?"
AT_HAND = "Which part fails most often in the Pentle strait?"
PARTLY = "How much does tidal power at Swale cost, and how long does a hard cheese ripen?"


@pytest.fixture
def site() -> Iterator[Site]:
    made = Site()
    yield made
    made.stop()


def on_the_web(home: Path, site: Site, **words: Any) -> Settings:
    engine = {"tavily_api_key": KEY, "tavily_url": site.engine.url, "allow_private": True}
    return load_settings(home=home, **engine, **words)


def stock(site: Site, documents: dict[str, str]) -> None:
    """More pages on the web, found before all others."""
    for name, text in documents.items():
        title, *rest = text.split("\n\n")
        body = "".join(f"<p>{part}</p>" for part in rest)
        site.web.pages[f"/{name}"] = html(
            f"<title>{title.strip('# ')}</title><body><article>{body}</article></body>"
        )
        site.engine.results.insert(0, result(f"{site.web.url}/{name}", name, text[:80]))


def counted(site: Site) -> tuple[int, int]:
    """Searches and fetches so far."""
    return len(site.engine.searches), len(site.web.records)


async def assert_it_holds(found: ResearchResult, settings: Settings) -> None:
    kept = open_storage(settings.database).pages
    texts = {page.sha: await kept.get(page.sha) for page in found.sources}
    told = verify_report(found, lambda quote: check_stored_quote(quote, texts.get(quote.page)), found.report)
    assert told.is_sound, [told.faults, [s for s in told.sentences if s.standing != "supported"]]
    assert told.sentences


async def test_what_is_at_hand_is_enough_without_a_search_or_a_fetch(tmp_path: Path, site: Site) -> None:
    settings = on_the_web(tmp_path, site)
    first = await DeepResearcher(settings).research(ResearchRequest(query=QUESTION))
    before = counted(site)
    new = await DeepResearcher(settings).follow_up(first.run_id[:8], AT_HAND)
    assert counted(site) == before
    assert new.asked == []
    assert "The cable to the shore is the part that fails most often." in new.report
    assert new.status == "extracts"
    assert [turn.run for turn in new.thread] == [first.run_id]
    await assert_it_holds(new, settings)


async def test_the_events_of_a_follow_up_come_in_a_legal_order(tmp_path: Path) -> None:
    settings = load_settings(home=tmp_path)
    docs = written(tmp_path / "docs", TIDES)
    first = await DeepResearcher(settings).research(ResearchRequest(query=QUESTION, docs=[docs]))
    written(tmp_path / "docs", CHEESE)
    session = await DeepResearcher(settings).ask(first.run_id, PARTLY)
    told = [event async for event in session.events()]
    assert find_order_faults(told) == []
    assert [event.round for event in told if event.kind == "round completed"] == [1, 2]
    kinds = [event.kind for event in told]
    assert kinds.index("analysis completed") < kinds.index("round completed") < kinds.index("search started")
    assert session.is_complete


async def test_only_what_is_missing_is_searched_and_both_are_cited(tmp_path: Path, site: Site) -> None:
    settings = on_the_web(tmp_path, site)
    first = await DeepResearcher(settings).research(ResearchRequest(query=QUESTION))
    stock(site, CHEESE)
    before = counted(site)
    new = await DeepResearcher(settings).follow_up(first.run_id, PARTLY)
    assert [(query.question, "cheese" in query.text) for query in new.asked] == [("Q2", True)]
    assert counted(site)[0] - before[0] == 1
    assert set(site.fetches.values()) == {1}
    cited = {citation.address.rpartition("/")[2] for citation in new.citations}
    assert {"lagoon.md", "cheese.md"} <= cited
    assert "92 euros" in new.report
    assert "eighteen months" in new.report
    await assert_it_holds(new, settings)


async def test_a_follow_up_of_a_follow_up_knows_what_both_knew(tmp_path: Path) -> None:
    settings = load_settings(home=tmp_path)
    docs = written(tmp_path / "docs", TIDES)
    asking = DeepResearcher(settings)
    first = await asking.research(ResearchRequest(query=QUESTION, docs=[docs]))
    written(tmp_path / "docs", CHEESE)
    second = await asking.follow_up(first.run_id, "How long does a hard cheese ripen?")
    third = await asking.follow_up(second.run_id, "How often is the rind of a cheese brushed with brine?")
    fourth = await asking.follow_up(first.run_id, AT_HAND)
    assert second.asked
    assert third.asked == fourth.asked == []
    assert "brushed with brine every second week" in third.report
    assert "The cable to the shore" in fourth.report
    assert [turn.run for turn in third.thread] == [first.run_id, second.run_id]
    assert {turn.run for turn in fourth.thread} == {first.run_id, second.run_id, third.run_id}
    assert fourth.thread[-1].run == first.run_id
    await assert_it_holds(third, settings)


def two_parts(request: ModelRequest) -> Reply:
    """A planner with a sub-question that is at hand and one that is not."""
    texts = ("How much does tidal power at Swale cost?", "How long does a hard cheese ripen?")
    asked = [{"id": f"Q{n}", "text": t, "needs": [], "perspective": ""} for n, t in enumerate(texts, 1)]
    queries = [{"question": q["id"], "text": q["text"], "family": "web"} for q in asked]
    return Reply.give({**value(request), "questions": asked, "queries": queries})


def reading_for_two(request: ModelRequest) -> Reply:
    """A reader who sees which page is about what."""
    claims: Any = value(request)["claims"]
    about = "Q2" if "cheese" in fenced("passages", request.user_text) else "Q1"
    return Reply.give({"claims": [{**claim, "question": about} for claim in claims]})


def missing_cheese(request: ModelRequest) -> Reply:
    """A judge who is content as soon as there is something about cheese."""
    if "ripens" in request.user_text:
        return researcher(request)
    gap = {
        "question": "Q2",
        "description": "No cheese.",
        "priority": "high",
        "suggested_query": "cheese ages",
    }
    return Reply.give({**value(request), "gaps": [gap]})


async def test_with_a_model_too_only_what_is_missing_is_searched(tmp_path: Path, site: Site) -> None:
    thinking = scripted(plan=two_parts, read=reading_for_two, judge=missing_cheese)
    with Model(lambda request: researcher(request) if not later else thinking(request)) as model:
        later: list[str] = []
        settings = on_the_web(tmp_path, site, base_url=model.base_url)
        first = await DeepResearcher(settings).research(ResearchRequest(query=QUESTION, model="stand-in"))
        later.append(first.run_id)
        stock(site, CHEESE)
        before, sent = counted(site), len(model.calls)
        new = await DeepResearcher(settings).follow_up(first.run_id, PARTLY)
        plans = [r.user_text for r in model.requests[sent:] if form_of(r) == "plan"]
    assert {query.question for query in new.asked} == {"Q2"}
    assert counted(site)[0] - before[0] == len(new.asked)
    assert set(site.fetches.values()) == {1}
    assert len(plans) == 2  # for what is at hand, and for what that leaves open
    assert QUESTION in fenced("thread", plans[0])
    assert "92 euros" in fenced("findings", plans[0])
    cited = {citation.address.rpartition("/")[2] for citation in new.citations}
    assert {"lagoon.md", "cheese.md"} <= cited
    await assert_it_holds(new, settings)


async def test_with_a_model_what_is_at_hand_needs_no_search(tmp_path: Path) -> None:
    docs = written(tmp_path / "docs", TIDES)
    with Model(researcher) as model:
        settings = load_settings(home=tmp_path, base_url=model.base_url)
        request = ResearchRequest(query=QUESTION, model="stand-in", docs=[docs])
        first = await DeepResearcher(settings).research(request)
        new = await DeepResearcher(settings).follow_up(first.run_id, AT_HAND)
    assert new.asked == []
    assert new.settings.model == "stand-in"
    assert new.status == "complete"
    await assert_it_holds(new, settings)


async def test_the_money_of_earlier_runs_is_not_charged_again(tmp_path: Path) -> None:
    books = {name: " ".join(text.partition("\n\n")[2].split()) for name, text in TIDES.items()}
    library = Library({f"https://a.example/{name}": text for name, text in books.items()})
    graph = build_graph(make_dependencies(tmp_path, library, ScriptedModel(missing=None, usd_a_call=0.01)))
    first: Any = await graph.ainvoke({"question": QUESTION}, context=RunConfig(sources=4))
    spent = sum(cost.usd for cost in first["costs"])
    known, searched = merge_evidence([FinishedRun("a", first, fixed_noon())]), len(library.searched)
    run_config = RunConfig(budget_usd=spent, sources=4)
    new: Any = await graph.ainvoke({"question": AT_HAND, "known": known}, context=run_config)
    assert 0 < sum(cost.usd for cost in new["costs"]) < spent
    assert new["judgements"][-1].stop == "only minor gaps"
    assert len(library.searched) == searched


async def test_what_is_said_anew_holds_and_the_rest_is_as_it_was(tmp_path: Path) -> None:
    settings = load_settings(home=tmp_path)
    docs = written(tmp_path / "docs", TIDES)
    request = ResearchRequest(query=QUESTION, docs=[docs], budget_usd=0.5, max_sources=2, language="en")
    first = await DeepResearcher(settings).research(request)
    asked = ResearchRequest(query=AT_HAND, max_rounds=2, budget_usd=0.25)
    new = await DeepResearcher(settings).follow_up(first.run_id, asked)
    assert (new.settings.budget_usd, new.settings.rounds) == (0.25, 3)  # one of them for what is at hand
    assert (new.settings.docs, new.settings.language) == (first.settings.docs, "en")


async def test_it_is_understood_from_the_question_before_it(tmp_path: Path) -> None:
    settings = load_settings(home=tmp_path)
    docs = written(tmp_path / "docs", TIDES)
    first = await DeepResearcher(settings).research(
        ResearchRequest(query="What is the barrage of Ouseport?", docs=[docs])
    )
    new = await DeepResearcher(settings).follow_up(first.run_id, "And how much does it cost?")
    assert new.question == "How much does the barrage cost?"
    assert "41 euros" in new.report


async def test_a_korean_thread_goes_on_in_korean(tmp_path: Path) -> None:
    settings = load_settings(home=tmp_path)
    docs = written(tmp_path / "docs", HANOK)
    first = await DeepResearcher(settings).research(
        ResearchRequest(query="온돌은 어떻게 방을 따뜻하게 하나?", docs=[docs])
    )
    new = await DeepResearcher(settings).follow_up(first.run_id, "구들장은 방을 얼마나 따뜻하게 하나?")
    assert new.asked == []
    assert "여덟 시간" in new.report
    assert "## 출처" in new.report
    await assert_it_holds(new, settings)


async def test_a_thread_without_evidence_is_searched_like_any_question(tmp_path: Path) -> None:
    settings = load_settings(home=tmp_path)
    docs = written(tmp_path / "docs", CHEESE)
    first = await DeepResearcher(settings).research(
        ResearchRequest(query="Which comet passed Jupiter in 1994?", docs=[docs])
    )
    assert first.status == "failed"
    new = await DeepResearcher(settings).follow_up(first.run_id, "How long does a hard cheese ripen?")
    assert new.asked
    assert "eighteen months" in new.report


async def test_a_person_sees_the_first_plan_that_is_searched(tmp_path: Path) -> None:
    settings = load_settings(home=tmp_path)
    docs = written(tmp_path / "docs", TIDES | CHEESE)
    first = await DeepResearcher(settings).research(
        ResearchRequest(query=QUESTION, docs=[docs], max_sources=4)
    )
    asked = ResearchRequest(query=PARTLY, review="plan")
    with pytest.raises(RunStopped, match="waits for review"):
        await DeepResearcher(settings).follow_up(first.run_id, asked)
    async with open_runs(settings) as runs:
        waiting = await runs.find(None)
        shown = (await runs.snapshot(waiting)).interrupts[0].value
    assert (shown["round"], shown["queries"]) == (2, ["How long does a hard cheese ripen Swale"])
    new = await DeepResearcher(settings).resume(waiting, ReviewAnswer(action="approve"))
    assert "eighteen months" in new.report


async def test_what_has_not_ended_cannot_be_followed(tmp_path: Path) -> None:
    settings = load_settings(home=tmp_path)
    docs = written(tmp_path / "docs", TIDES)
    asked = ResearchRequest(query=QUESTION, docs=[docs], review="plan")
    with pytest.raises(RunStopped):
        await DeepResearcher(settings).research(asked)
    async with open_runs(settings) as runs:
        waiting = await runs.find(None)
    with pytest.raises(BadInput, match="has no report yet; go on with: fathom resume"):
        await DeepResearcher(settings).follow_up(waiting, AT_HAND)
    with pytest.raises(BadInput, match="There is no run whose id begins with 'nope'"):
        await DeepResearcher(settings).follow_up("nope", AT_HAND)
    with pytest.raises(BadInput, match="The question is empty"):
        await DeepResearcher(settings).follow_up(waiting, "  ")


@pytest.mark.parametrize("odd", [{"strategy": "tree"}, {"depth": 20}, {"endless": True}])
async def test_what_a_follow_up_cannot_be_told_is_refused(tmp_path: Path, odd: dict[str, Any]) -> None:
    settings = load_settings(home=tmp_path)
    docs = written(tmp_path / "docs", TIDES)
    first = await DeepResearcher(settings).research(ResearchRequest(query=QUESTION, docs=[docs]))
    with pytest.raises(BadInput, match="follow-up"):
        await DeepResearcher(settings).follow_up(first.run_id, ResearchRequest(query=AT_HAND, **odd))


USERS = {
    "ferrite.md": """# Ferrite

Ferrite is a library for queues. Ferrite keeps every message until it was handled, and a worker uses one
connection for all of its queues. A queue uses the disk only when memory is short.
""",
    "adopters.md": """# About Ferrite

Ferrite is used by Halden Railways and the city of Brune to run their timetables. The code is open.
""",
}


async def test_who_uses_it_is_answered_by_the_passage_that_says_so(tmp_path: Path, site: Site) -> None:
    settings = on_the_web(tmp_path, site)
    stock(site, USERS)
    first = await DeepResearcher(settings).research(ResearchRequest(query="What is Ferrite?", model="none"))
    new = await DeepResearcher(settings).follow_up(first.run_id, "Who uses it?")
    assert new.question == "Who uses Ferrite?"
    assert "Halden Railways" in new.sections[0].sentences[0].text


async def test_a_fact_that_is_not_at_hand_is_searched_for_without_a_model(tmp_path: Path, site: Site) -> None:
    settings = on_the_web(tmp_path, site)
    stock(site, {"ferrite.md": USERS["ferrite.md"]})
    request = ResearchRequest(query="What is Ferrite?", model="none", sources=1, rounds=1)
    first = await DeepResearcher(settings).research(request)
    stock(site, {"adopters.md": USERS["adopters.md"]})
    before = counted(site)
    new = await DeepResearcher(settings).follow_up(first.run_id, "Who uses it?")
    assert counted(site)[0] > before[0]
    assert "Halden Railways" in new.report


LOCKS = {
    "lock.md": """# The lock at Orla

The Orla lock is a chamber with two gates on the river Dene. Boats wait for the tide in front of it.
""",
    "eels.md": """# Eels

The Orla lock is safe for eels: nine in ten pass its gates unharmed, as a study of the river found.
""",
}


async def test_what_is_asked_and_not_at_hand_is_searched_for_though_it_is_no_fact(
    tmp_path: Path, site: Site
) -> None:
    settings = on_the_web(tmp_path, site)
    stock(site, {"lock.md": LOCKS["lock.md"]})
    request = ResearchRequest(query="What is the Orla lock?", model="none", sources=1, rounds=1)
    first = await DeepResearcher(settings).research(request)
    stock(site, {"eels.md": LOCKS["eels.md"]})
    before = counted(site)
    at_hand = await DeepResearcher(settings).follow_up(first.run_id, "Do boats wait in front of it?")
    assert counted(site) == before
    assert "Boats wait for the tide" in at_hand.report
    new = await DeepResearcher(settings).follow_up(first.run_id, "Is it safe for eels?")
    assert new.question == "Is the Orla lock safe for eels?"
    assert counted(site)[0] > before[0]
    assert "nine in ten pass its gates" in new.report
