"""Serper, against a server that speaks its format."""

from datetime import date
from typing import Any

import pytest
from search.failures import COMMON, QUERY, BadAnswer, fails
from standins.serper import KEY, SerperServer, failure, result
from standins.server import json_answer

from fathom.errors import BadInput, BadQuery, Refused, Unreadable
from fathom.search import Scope, SearchEngine
from fathom.search.engines.serper import Serper

TODAY = date(2026, 2, 3)
PAGES = [result(f"https://a.example/{n}") for n in range(150)]
OWN = [
    BadAnswer("bad key", failure(403, f"The key {KEY} is unknown."), Refused, "The key *** is unknown."),
    BadAnswer("no credits", failure(400, "Not enough credits"), Refused, "Not enough credits"),
    BadAnswer("bad query", failure(400, "Missing query parameter"), BadQuery, "Missing query parameter"),
    BadAnswer("no echo of the question", json_answer({"organic": []}), Unreadable, "searchParameters"),
    BadAnswer("odd rows", json_answer({"searchParameters": {}, "organic": ["many"]}), Unreadable, "organic"),
]


def serper(url: str, timeout_s: float = 5.0, **more: Any) -> Serper:
    return Serper(KEY, url, timeout_s=timeout_s, today=lambda: TODAY, **more)


async def test_results_become_hits_in_their_order() -> None:
    rows = [
        result("https://a.example/1", "One &amp; only", "Costs <b>fell</b>.", date="Jan 31, 2026"),
        result("javascript:alert(1)"),
        result("http://b.example", snippet=None),
    ]
    with SerperServer(rows) as server:
        hits = await serper(server.url)(QUERY, limit=5)
    assert [(hit.address, hit.rank, hit.engine, hit.query) for hit in hits] == [
        ("https://a.example/1", 1, "serper", "q1"),
        ("http://b.example", 2, "serper", "q1"),
    ]
    assert (hits[0].title, hits[0].snippet, hits[0].published) == ("One & only", "Costs fell.", "2026-01-31")
    assert server.records[0].json == {"q": "tidal power cost", "num": 5}


async def test_news_have_relative_dates_and_an_address_of_their_own() -> None:
    with SerperServer([result("https://a.example/1", date="2 days ago", source="Harbor Post")]) as server:
        (hit,) = await serper(server.url, kind="news")(QUERY, limit=5)
    assert (server.records[0].route, hit.published) == ("/news", "2026-02-01")


async def test_papers_have_authors_years_citations_and_pdfs() -> None:
    info = "A Writer, 이수진… - J. Tides, 2021 - ocean.example"
    paper = result(
        "https://a.example/1", publicationInfo=info, year=2021, citedBy=42, pdfUrl="https://a.example/1.pdf"
    )
    with SerperServer([paper, {"title": "A book", "year": "2020"}]) as server:
        (hit,) = await serper(server.url, kind="scholar")(QUERY, limit=50)
    assert (hit.authors, hit.published, hit.cited_by) == (["A Writer", "이수진"], "2021", 42)
    assert hit.pdf == "https://a.example/1.pdf"
    assert (server.records[0].route, server.records[0].json["num"]) == ("/scholar", 20)


@pytest.mark.parametrize(("limit", "asked"), [(3, 3), (200, 100)])
async def test_the_limit_is_asked_for_and_kept(limit: int, asked: int) -> None:
    with SerperServer(PAGES) as server:
        assert len(await serper(server.url)(QUERY, limit=limit)) == asked
    assert [seen.json["num"] for seen in server.records] == [asked]


async def test_more_than_was_asked_for_is_cut_and_nothing_found_is_an_empty_list() -> None:
    with SerperServer(PAGES[:9]) as server:
        assert len(await serper(server.url)(QUERY, limit=2)) == 2
    with SerperServer() as server:
        assert await serper(server.url)(QUERY, limit=5) == []


async def test_the_scope_is_passed_on() -> None:
    scope = Scope(("a.example", "b.example"), ("c.example",), date(2025, 3, 1), date(2025, 4, 30), "ko")
    with SerperServer(PAGES) as server:
        await serper(server.url, scope=scope)(QUERY, limit=5)
        await serper(server.url, scope=scope, kind="scholar")(QUERY, limit=5)
    web, scholar = (seen.json for seen in server.records)
    assert web["q"] == "tidal power cost (site:a.example OR site:b.example) -site:c.example"
    assert (web["tbs"], web["hl"]) == ("cdr:1,cd_min:3/1/2025,cd_max:4/30/2025", "ko")
    assert (scholar["as_ylo"], scholar["as_yhi"], "tbs" in scholar) == (2025, 2025, False)


async def test_korean_goes_out_and_comes_back_whole() -> None:
    with SerperServer([result("https://ko.example/조력", "조력 발전", date="3일 전")]) as server:
        (hit,) = await serper(server.url)(QUERY.model_copy(update={"text": "조력 발전"}), limit=5)
    assert server.records[0].json["q"] == "조력 발전"
    assert (hit.address, hit.title) == ("https://ko.example/조력", "조력 발전")
    assert hit.published == "2026-01-31"


@pytest.mark.parametrize("case", [*COMMON, *OWN], ids=str)
async def test_failures_are_told_apart_and_never_show_the_key(case: BadAnswer) -> None:
    await fails(case, serper, key=KEY)


async def test_a_wrong_key_and_an_empty_query_fail_over_the_wire() -> None:
    with SerperServer(key="another") as server, pytest.raises(Refused, match=r"Unauthorized\."):
        await serper(server.url)(QUERY, limit=5)
    with SerperServer() as server, pytest.raises(BadQuery):
        await serper(server.url)(QUERY.model_copy(update={"text": " "}), limit=5)


@pytest.mark.parametrize("key", ["", "  ", "key…", "a key\n"])
def test_without_a_proper_key_there_is_no_serper(key: str) -> None:
    with pytest.raises(BadInput, match="SERPER_API_KEY"):
        Serper(key)


def test_the_key_is_not_shown_and_the_port_is_kept() -> None:
    engine: SearchEngine = Serper(KEY)
    assert KEY not in repr(engine)
    assert (engine.name, engine.capabilities) == ("serper", frozenset({"web", "news", "academic"}))
