"""Whole runs that go well, with a model and without one."""

import re
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from fakes.run_parts import Library, ScriptedModel, make_dependencies
from standins.documents import CHEESE, HANOK, TIDES, written
from standins.model import Model, ModelRequest
from standins.prose import page
from standins.replies import Reply
from standins.server import Seen, asked_again, longest_chain
from standins.working_model import form_of, never_satisfied, overstating, researcher, scripted, value

from fathom import DeepResearcher, ResearchRequest, ResearchResult, Settings
from fathom.graph import build_graph
from fathom.llm.factory import make_research_model
from fathom.llm.protocol import ResearchModel
from fathom.settings import load_settings
from fathom.state import RunConfig
from fathom.storage import open_storage

pytestmark = pytest.mark.whole

LOOP_QUESTION = "Which turbines are used in the estuary?"

COUNTED = "How many turbines has the estuary?"

SHELF = {f"https://shelf{n}.example/book": page(n, 600) for n in range(24)}


async def ended(
    home: Path,
    mind: ResearchModel,
    run_config: RunConfig,
    books: dict[str, str],
    question: str = LOOP_QUESTION,
) -> dict[str, Any]:
    graph = build_graph(make_dependencies(home, Library(books), mind))
    state: dict[str, Any] = await graph.ainvoke({"question": question}, context=run_config)
    return state


def stops(state: dict[str, Any]) -> list[str | None]:
    return [judgement.stop for judgement in state["judgements"]]


async def test_a_question_with_nothing_to_find_ends_with_an_honest_empty_report(tmp_path: Path) -> None:
    books = {f"https://dairy{n}.example": f"# Cheese\n\nBrine number {n} is salty." for n in range(9)}
    state = await ended(
        tmp_path, ScriptedModel(), RunConfig(rounds=2, sources=3), books, "Who invented the zeppelin?"
    )
    assert state["report"].status == "failed"
    assert state["report"].sections == []
    last = state["judgements"][-1]
    assert (last.claims, last.gain.new, last.gain.per_query) == (0, 0, 0.0)
    assert last.stop in {"rounds used up", "nothing left to ask"}


async def test_a_source_that_repeats_itself_brings_nothing_and_stops_the_run(tmp_path: Path) -> None:
    text = "# Turbines\n\nOpening words. The estuary uses bulb turbines of steel. The sea is cold."
    books = {f"https://copy{n}.example": f"{text}\n\nPrinted by copy shop number {n}." for n in range(24)}
    state = await ended(
        tmp_path, ScriptedModel(quotes=2), RunConfig(depth="quick", rounds=8, sources=3, threshold=1.0), books
    )
    assert stops(state) == [None, "saturated"]
    assert state["judgements"][-1].because == "0 new findings on 2 known"
    assert state["judgements"][-1].gain.new == 0


async def test_a_judge_who_is_never_satisfied_is_stopped_by_the_rules(tmp_path: Path) -> None:
    state = await ended(
        tmp_path, ScriptedModel(quotes=2), RunConfig(rounds=3, sources=2, threshold=1.0), SHELF
    )
    assert stops(state) == [None, None, "rounds used up"]
    gains = [judgement.gain for judgement in state["judgements"]]
    assert all(gain.new > 0 and gain.queries > 0 for gain in gains)
    assert gains[-1].known == sum(gain.new for gain in gains)


async def test_a_judge_who_is_always_satisfied_stops_after_one_round(tmp_path: Path) -> None:
    state = await ended(
        tmp_path, ScriptedModel(quotes=2, missing=None), RunConfig(rounds=8, sources=2), SHELF
    )
    assert stops(state) == ["only minor gaps"]
    assert all(check.is_passed for check in state["judgements"][0].checks)


async def test_unless_the_question_needs_what_is_not_there(tmp_path: Path) -> None:
    words = ("gulls", "divers", "storms", "whales", "ropes", "weeds", "barnacles", "silt", "kelp")
    books = {
        f"https://w{n}.example": f"# T\n\nOpening words. The turbines fear {word}."
        for n, word in enumerate(words)
    }
    mind = ScriptedModel(quotes=1, missing=None)
    state = await ended(tmp_path, mind, RunConfig(rounds=8, sources=3), books, COUNTED)
    assert [j.held for j in state["judgements"]] == ["only minor gaps", "only minor gaps", None]
    assert stops(state) == [None, None, "only minor gaps"]
    assert {c.why for j in state["judgements"] for c in j.checks} == {"no relevant claim has a number"}
    counted = {**books, "https://w0.example": "# T\n\nOpening words. The estuary has 24 turbines."}
    state = await ended(tmp_path, mind, RunConfig(rounds=8, sources=3), counted, COUNTED)
    assert stops(state) == ["only minor gaps"]


async def test_sources_that_contradict_each_other_are_both_told(tmp_path: Path) -> None:
    books = {
        "https://one.example": "# T\n\nOpening words. The estuary has 24 turbines.",
        "https://two.example": "# T\n\nOpening words. The estuary has 36 turbines.",
    }
    state = await ended(tmp_path, ScriptedModel(quotes=1), RunConfig(rounds=1, sources=2), books, COUNTED)
    assert "24 turbines" in state["report"].markdown
    assert "36 turbines" in state["report"].markdown
    assert state["judgements"][-1].gain.known == 2


@pytest.mark.parametrize(
    "run_config",
    [
        {"threshold": 0.0},
        {"threshold": 1.0},
        {"budget_usd": 0.0},
        {"sources": 1},
        {"queries": 1},
        {"rounds": 1, "sources": 1, "queries": 1, "threshold": 1.0, "budget_usd": 0.0},
        {"endless": True, "rounds": 1},
        {"endless": True, "rounds": 2, "budget_usd": 0.0},
    ],
)
async def test_no_odd_knob_costs_the_report(tmp_path: Path, run_config: dict[str, Any]) -> None:
    state = await ended(
        tmp_path, ScriptedModel(quotes=1), RunConfig(**{"rounds": 2, "sources": 2, **run_config}), SHELF
    )
    assert state["report"].status != "failed"
    assert state["report"].sections
    assert state["judgements"][-1].stop
    assert len(state["judgements"]) <= RunConfig(**{"rounds": 2, **run_config}).max_rounds


QUESTION = "How much does tidal power cost?"

DELAY_S = 0.15

UNSATISFIED = scripted(judge=never_satisfied)


async def assert_every_sentence_leads_to_a_page(result: ResearchResult, settings: Settings) -> None:
    """From each sentence over its claims to words that stand in a page that was read in this run."""
    texts = open_storage(settings.database).pages
    read = {page.sha: page for page in result.sources}
    claims = {claim.id: claim for claim in result.claims}
    assert result.citations
    for citation in result.citations:
        assert read[citation.page].address == citation.address
        for quote in citation.quotes:
            assert (await texts.get(quote.page))[quote.start : quote.end] == quote.text
    cited = {quote for citation in result.citations for quote in map(str, citation.quotes)}
    for sentence in (s for section in result.sections for s in section.sentences):
        assert sentence.status == "supported"
        assert sentence.claims
        assert all(str(quote) in cited for c in sentence.claims for quote in claims[c].quotes)
    assert set(addresses(result.report)) <= {page.address for page in result.sources}


def addresses(report: str) -> list[str]:
    return re.findall(r"(?:https?|file)://[^\s>)]+", report)


async def test_a_run_without_a_model_cites_every_sentence(tmp_path: Path) -> None:
    settings = load_settings(home=tmp_path)
    docs = written(tmp_path / "docs", {**TIDES, **CHEESE})
    result = await DeepResearcher(settings).research(ResearchRequest(query=QUESTION, docs=[docs]))
    assert result.status == "extracts"
    await assert_every_sentence_leads_to_a_page(result, settings)
    assert "euros for each megawatt hour" in result.report
    assert "brine" not in result.report


async def test_a_run_with_a_model_cites_every_sentence(tmp_path: Path) -> None:
    docs = written(tmp_path / "docs", TIDES)
    with Model(researcher) as model:
        settings = load_settings(home=tmp_path, base_url=model.base_url)
        request = ResearchRequest(query=QUESTION, docs=[docs], model="stand-in")
        result = await DeepResearcher(settings).research(request)
        assert asked_again(model.records) == []
        assert result.metadata.model_calls == len(model.calls)
    assert result.status == "complete"
    await assert_every_sentence_leads_to_a_page(result, settings)
    assert result.report.startswith("# A report\n")
    assert len(re.findall(r"\[\d+\]", result.report)) >= 4


async def test_the_result_says_what_was_done(tmp_path: Path) -> None:
    docs = written(tmp_path / "docs", TIDES)
    with Model(researcher) as model:
        settings = load_settings(home=tmp_path, base_url=model.base_url)
        request = ResearchRequest(query=QUESTION, docs=[docs], model="stand-in")
        result = await DeepResearcher(settings).research(request)
        again = await DeepResearcher(settings).result(result.run_id[:8])
    assert again == result
    assert ResearchResult.model_validate_json(result.model_dump_json()) == result
    numbers = result.metadata
    assert (numbers.rounds, numbers.sources, numbers.claims) == (1, 4, 8)
    assert numbers.queries == len(result.asked) == 4
    assert numbers.duration_s > 0
    assert numbers.tokens_in > numbers.tokens_out > 0
    assert (numbers.cost_usd, numbers.is_priced) == (0.0, True)
    assert numbers.stop == result.judgements[-1].stop == "sufficient"
    assert numbers.score == result.judgements[-1].overall


async def test_a_korean_question_gets_a_korean_report(tmp_path: Path) -> None:
    settings = load_settings(home=tmp_path)
    docs = written(tmp_path / "docs", HANOK)
    request = ResearchRequest(query="온돌은 어떻게 방을 따뜻하게 하나?", docs=[docs])
    result = await DeepResearcher(settings).research(request)
    assert result.status == "extracts"
    await assert_every_sentence_leads_to_a_page(result, settings)
    first = result.sections[0].sentences[0].text
    assert "온돌" in first or "구들장" in first
    assert "## 출처" in result.report
    assert "Sources" not in result.report
    assert "Complete" not in result.report


async def test_nothing_found_is_said_and_not_written_around(tmp_path: Path) -> None:
    settings = load_settings(home=tmp_path)
    docs = written(tmp_path / "docs", CHEESE)
    request = ResearchRequest(query="Which comet passed Jupiter in 1994?", docs=[docs])
    result = await DeepResearcher(settings).research(request)
    assert (result.status, result.sections, result.citations) == ("failed", [], [])
    assert "Nothing is reported" in result.report
    assert "Which comet passed Jupiter" in result.report


async def least(chain: Callable[[Path], Awaitable[int]], home: Path, limit: int) -> int:
    """The shortest chain of up to three runs: a busy machine can only make one look longer than it is."""
    found: list[int] = []
    while len(found) < 3 and (not found or min(found) > limit):
        found.append(await chain(home / str(len(found))))
    return min(found)


async def one_round(tmp_path: Path) -> int:
    docs = written(tmp_path / "docs", TIDES)
    with Model(lambda request: researcher(request).after(DELAY_S)) as model:
        settings = load_settings(home=tmp_path, base_url=model.base_url)
        request = ResearchRequest(query=QUESTION, docs=[docs], model="stand-in", max_rounds=1)
        result = await DeepResearcher(settings).research(request)
    assert result.metadata.rounds == 1
    assert len(model.calls) > 7
    return longest_chain(model.calls)


async def test_one_round_asks_the_model_at_most_nine_times_in_a_row(tmp_path: Path) -> None:
    assert await least(one_round, tmp_path, 9) <= 9


async def one_round_with_objections(tmp_path: Path) -> int:
    docs = written(tmp_path / "docs", TIDES)
    answer = scripted(write=overstating)
    with Model(lambda request: answer(request).after(DELAY_S)) as model:
        settings = load_settings(home=tmp_path, base_url=model.base_url)
        request = ResearchRequest(query=QUESTION, docs=[docs], model="stand-in", max_rounds=1)
        result = await DeepResearcher(settings).research(request)
    assert [section.rewritten for section in result.sections] == [0, 1, 0]  # the summary, and two parts
    assert "7777" not in result.report
    return longest_chain(model.calls)


async def test_objections_cost_at_most_two_more_calls_in_a_row(tmp_path: Path) -> None:
    assert await least(one_round_with_objections, tmp_path, 11) <= 11


def overstated(request: ModelRequest) -> Reply:
    """A reader whose first claim has to be said again."""
    given = value(request)
    if given["claims"]:
        first = given["claims"][0]
        given["claims"][0] = {**first, "statement": f"Everybody agrees: {first['quotes'][0]}"}
    return Reply.give(given)


def restated(request: ModelRequest) -> Reply:
    """What the quote says, in words that have to be verified."""
    items = re.findall(r"^Item (\d+).*?\nQuote: (.*?)$", request.user_text, re.MULTILINE | re.DOTALL)
    mended = [{"item": int(n), "quotes": [q], "statement": f"It is reported: {q}"} for n, q in items]
    return Reply.give({"restated": mended})


async def test_retried_claims_cost_two_more_calls_in_a_row_in_each_round(tmp_path: Path) -> None:
    own = {"read": overstated, "retry": restated}
    everything = partial(one_round_of, answer=scripted(**own, write=overstating))
    assert await least(everything, tmp_path / "one", 13) <= 13
    rounds = partial(chain_of, rounds=2, answer=scripted(**own, judge=never_satisfied))
    assert await least(rounds, tmp_path / "two", 17) <= 17


async def one_round_of(tmp_path: Path, answer: Callable[[ModelRequest], Reply]) -> int:
    docs = written(tmp_path / "docs", TIDES)
    with Model(lambda request: answer(request).after(DELAY_S)) as model:
        settings = load_settings(home=tmp_path, base_url=model.base_url)
        request = ResearchRequest(query=QUESTION, docs=[docs], model="stand-in", max_rounds=1)
        result = await DeepResearcher(settings).research(request)
    asked = {form_of(request) for request in model.requests}
    assert asked >= {"retry", "rewrite"}
    assert "Everybody agrees" not in result.report
    return longest_chain(model.calls)


async def chain_of(
    tmp_path: Path,
    rounds: int,
    answer: Callable[[ModelRequest], Reply] = UNSATISFIED,
) -> int:
    """How many calls came one after another in a run of exactly so many rounds."""
    books = {f"https://shelf{n}.example/book": page(n, 1200) for n in range(12)}
    run_config = RunConfig(rounds=rounds, sources=3, threshold=1.0, model="stand-in")
    written(tmp_path, {})  # a home of its own
    with Model(lambda request: answer(request).after(DELAY_S)) as model:
        settings = load_settings(home=tmp_path, base_url=model.base_url)
        graph = build_graph(
            make_dependencies(tmp_path, Library(books), lambda own: make_research_model(settings, own))
        )
        state = await graph.ainvoke({"question": QUESTION}, context=run_config)
    assert len(state["judgements"]) == rounds
    return longest_chain(model.calls)


async def test_every_further_round_adds_at_most_four_calls_in_a_row(tmp_path: Path) -> None:
    # A home each: what one run was answered, another on the same database would not ask again.
    for rounds, limit in ((1, 9), (2, 13), (3, 17)):
        home = tmp_path / str(rounds)
        assert await least(partial(chain_of, rounds=rounds), home, limit) <= limit


def test_the_measure_counts_what_came_one_after_another() -> None:
    def seen(arrived: float, answered: float) -> Seen:
        return Seen("POST", "/", {}, b"", arrived, 200, answered)

    serial = [seen(n, n + 0.9) for n in range(9)]
    together = [seen(0.1 * n, 5) for n in range(9)]
    assert longest_chain(serial) == 9
    assert longest_chain(together) == 1
