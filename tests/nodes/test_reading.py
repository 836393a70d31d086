"""The nodes of a branch: searcher, extractor, analyzer. A lost branch is told, never a lost run."""

from typing import Any

import pytest
from fakes.records import clock, cost, hit, page, query, question, sha
from fakes.services import NO_SIGNALS, FakeEngines, FakeModel, FakePages, FakeReader

from fathom.errors import ProviderError, Refused, Unavailable, Unreadable
from fathom.nodes.analyzer import analyzer
from fathom.nodes.extractor import extractor
from fathom.nodes.searcher import searcher
from fathom.reading import Document
from fathom.state import Failure, Reading, RunConfig
from fathom.state.model_io import ExtractedStatement

TEXT = "The Rance plant opened in 1966. Divers service the gates in spring."
QUOTED = ExtractedStatement("The Rance plant opened in 1966.", "The Rance plant opened in 1966", "Q1", 0.9)
SAID = ExtractedStatement("Divers look after the gates.", "Divers service the gates in spring", "Q1", 0.7)
ERRORS = [Unavailable("timeout"), Refused("bad key"), Unreadable("not JSON")]


async def test_a_searcher_brings_hits_and_says_what_it_asked() -> None:
    engines = FakeEngines([[hit()]])
    update = await searcher(
        {"query": query()}, engines=engines, run_config=RunConfig(sources=7), signals=NO_SIGNALS
    )
    assert update == {"asked": [query()], "hits": [hit()], "failures": [], "costs": []}
    assert engines.asked == [("tidal power", 7)]


@pytest.mark.parametrize("error", ERRORS, ids=lambda e: type(e).__name__)
async def test_a_lost_search_is_told_and_still_asked(error: ProviderError) -> None:
    update = await searcher(
        {"query": query()}, engines=FakeEngines([error]), run_config=RunConfig(), signals=NO_SIGNALS
    )
    assert update == {
        "asked": [query()],
        "failures": [error.failure("search", "tidal power")],
        "costs": [],
    }


async def test_what_a_lost_search_may_have_cost_is_kept() -> None:
    engines = FakeEngines([Unavailable("timeout", [cost("lost")])])
    update = await searcher({"query": query()}, engines=engines, run_config=RunConfig(), signals=NO_SIGNALS)
    assert update["costs"] == [cost("lost")]


async def read(answer: Any, **words: Any) -> tuple[Reading, FakePages]:
    pages = FakePages()
    return await extractor({"hit": hit(**words)}, reader=FakeReader(answer), pages=pages, clock=clock), pages


async def test_a_page_is_kept_by_its_hash_and_the_state_holds_no_text() -> None:
    update, pages = await read(Document(TEXT, "Rance", "html", "2024-01-01"), published="2020-01-01")
    (kept,) = update["pages"]
    assert await pages.get(kept.sha) == TEXT
    assert (kept.title, kept.published, kept.chars) == ("Rance", "2024-01-01", len(TEXT))
    assert kept.fetched == "2025-06-01T12:00:00+00:00"
    assert TEXT not in kept.model_dump_json()


@pytest.mark.parametrize(("title", "shown"), [("From the hit", "From the hit"), ("", "x")])
async def test_a_page_without_a_title_has_a_name_that_is_no_address(title: str, shown: str) -> None:
    update, _ = await read(Document(TEXT, "", "pdf"), title=title, published="2020-01-01")
    assert update["pages"][0].title == shown
    assert update["pages"][0].published == "2020-01-01"


@pytest.mark.parametrize("error", ERRORS, ids=lambda e: type(e).__name__)
async def test_a_page_that_cannot_be_read_is_told(error: ProviderError) -> None:
    update, pages = await read(error)
    assert update == {"failures": [error.failure("reading", "https://a.example/x")]}
    assert pages.texts == {}


async def analysed(model: FakeModel, texts: dict[str, str] | None = None) -> Reading:
    pages = FakePages(texts if texts is not None else {sha(TEXT): TEXT})
    state: Reading = {"pages": [page(TEXT)], "question": "What?", "questions": [question()]}
    return await analyzer(state, model=model, pages=pages, clock=clock)


async def test_quotations_are_claims_at_once_and_what_says_more_stays_a_draft() -> None:
    invented = ExtractedStatement("It is blue.", "the plant is painted blue all over", "Q1", 1)
    update = await analysed(FakeModel(reads=[[QUOTED, SAID, invented]], costs=[cost()]))
    assert [c.statement for c in update["claims"]] == [QUOTED.statement]
    assert [(d.statement, bool(d.objection)) for d in update["drafts"]] == [
        (SAID.statement, False),
        (invented.statement, True),
    ]
    quotes = [q for entry in update["claims"] for q in entry.quotes]
    quotes += [q for entry in update["drafts"] for q in entry.quotes]
    assert all(TEXT[q.start : q.end] == q.text for q in quotes)
    assert (update["rejected"], update["costs"]) == ([], [cost()])


async def test_a_model_that_fails_costs_one_page_and_its_charges_are_kept() -> None:
    update = await analysed(FakeModel(reads=[Unreadable("no form", [cost("paid")])]))
    assert update["failures"] == [Failure(where="analysis", what="A page", why="no form", code="unreadable")]
    assert update["costs"] == [cost("paid")]
    assert not update.get("claims")


async def test_what_a_stand_in_did_is_told() -> None:
    told = Failure(where="model", what="reading, done without the model", why="gone")
    assert (await analysed(FakeModel(reads=[[QUOTED]], failures=[told])))["failures"] == [told]


async def test_a_text_that_is_gone_from_the_database_is_a_loss() -> None:
    update = await analysed(FakeModel(), texts={})
    assert "no longer in the database" in update["failures"][0].why
