"""SearXNG, against a server that speaks its format."""

from datetime import date
from typing import Any

import pytest
from search.failures import COMMON, QUERY, BadAnswer, fails
from standins.searxng import SearxngServer, page_for_people, result
from standins.server import json_answer

from fathom.errors import BadInput, BadQuery, Refused, Unavailable, Unreadable
from fathom.search import Scope, SearchEngine
from fathom.search.engines.searxng import Searxng

TODAY = date(2026, 2, 3)
PAGES = [result(f"https://a.example/{n}") for n in range(25)]
OWN = [
    BadAnswer("limiter", page_for_people(429, "Too Many Requests"), Unavailable, "HTTP 429"),
    BadAnswer("json is off", page_for_people(403, "Forbidden"), Refused, "enable the json format"),
    BadAnswer("bad query", json_answer({"error": "No query"}, 400), BadQuery, "No query"),
    BadAnswer("search error", json_answer({"error": "search error"}, 500), Unavailable, "search error"),
    BadAnswer("no results", json_answer({"query": "tides"}), Unreadable, "results"),
]


def searxng(url: str, timeout_s: float = 5.0, **more: Any) -> Searxng:
    return Searxng(url, timeout_s=timeout_s, today=lambda: TODAY, **more)


async def test_results_become_hits_in_their_order_each_page_once() -> None:
    rows = [
        result(
            "https://a.example/1", "One &amp; only", "Costs <b>fell</b>.", publishedDate="2026-01-31T00:00:00"
        ),
        result("magnet:?xt=1"),
        result("https://a.example/1", "The same"),
        result("http://b.example", content=None),
    ]
    with SearxngServer(rows, silent=[["google", "Suspended: CAPTCHA"]]) as server:
        hits = await searxng(server.url)(QUERY, limit=4)
    assert [(hit.address, hit.rank, hit.engine, hit.query) for hit in hits] == [
        ("https://a.example/1", 1, "searxng", "q1"),
        ("http://b.example", 2, "searxng", "q1"),
    ]
    assert (hits[0].title, hits[0].snippet, hits[0].published) == ("One & only", "Costs fell.", "2026-01-31")
    asked = {"q": "tidal power cost", "format": "json", "categories": "general"}
    assert [seen.params for seen in server.records] == [{**asked, "pageno": "1"}, {**asked, "pageno": "2"}]


@pytest.mark.parametrize(("limit", "pages", "got"), [(5, 1, 5), (12, 2, 12), (99, 4, 25)])
async def test_pages_are_asked_for_until_the_limit_is_full_or_nothing_new_comes(
    limit: int, pages: int, got: int
) -> None:
    with SearxngServer(PAGES) as server:
        assert len(await searxng(server.url)(QUERY, limit=limit)) == got
    assert [seen.params["pageno"] for seen in server.records] == [str(n) for n in range(1, pages + 1)]


async def test_nothing_found_is_an_empty_list() -> None:
    with SearxngServer() as server:
        assert await searxng(server.url)(QUERY, limit=5) == []


async def test_nothing_found_because_nobody_answered_is_a_failure() -> None:
    silent = [["google", "Suspended: CAPTCHA"], ["bing", "timeout"]]
    with SearxngServer(silent=silent) as server, pytest.raises(Unavailable) as caught:
        await searxng(server.url)(QUERY, limit=5)
    assert str(caught.value) == "searxng had no answer from google Suspended: CAPTCHA, bing timeout"


async def test_an_instance_without_json_says_what_to_do() -> None:
    with SearxngServer(formats=["html"]) as server, pytest.raises(Refused, match=r"search\.formats"):
        await searxng(server.url)(QUERY, limit=5)


async def test_an_instance_may_live_under_a_path() -> None:
    with SearxngServer(PAGES, under="/searx") as server:
        assert len(await searxng(f"{server.url}/searx/")(QUERY, limit=5)) == 5


@pytest.mark.parametrize(
    ("scope", "sent"),
    [
        (Scope(language="ko"), {"language": "ko"}),
        (Scope(("a.example",), ("b.example",)), {"q": "tidal power cost site:a.example -site:b.example"}),
        (Scope(since=date(2026, 2, 2)), {"time_range": "day"}),
        (Scope(since=date(2026, 1, 20)), {"time_range": "month"}),
        (Scope(since=date(2025, 12, 1)), {"time_range": "year"}),
        (Scope(since=date(2020, 1, 1)), {"time_range": None}),
        (Scope(until=date(2020, 1, 1)), {"time_range": None}),
    ],
)
async def test_the_scope_is_passed_on(scope: Scope, sent: dict[str, str | None]) -> None:
    with SearxngServer() as server:
        await searxng(server.url, scope=scope)(QUERY, limit=5)
    assert {name: server.records[0].params.get(name) for name in sent} == sent


async def test_news_are_a_category() -> None:
    with SearxngServer() as server:
        await searxng(server.url, kind="news")(QUERY, limit=5)
    assert server.records[0].params["categories"] == "news"


async def test_korean_goes_out_and_comes_back_whole_and_commands_do_not() -> None:
    with SearxngServer([result("https://ko.example/조력", "조력 발전")]) as server:
        (hit,) = await searxng(server.url)(QUERY.model_copy(update={"text": "!!g 조력 :en 발전!"}), limit=1)
    assert server.records[0].params["q"] == "g 조력 en 발전!"
    assert (hit.address, hit.title) == ("https://ko.example/조력", "조력 발전")


@pytest.mark.parametrize("case", [*COMMON, *OWN], ids=str)
async def test_failures_are_told_apart(case: BadAnswer) -> None:
    await fails(case, searxng)


async def test_an_empty_query_is_a_bad_query() -> None:
    with SearxngServer() as server, pytest.raises(BadQuery, match="No query"):
        await searxng(server.url)(QUERY.model_copy(update={"text": " "}), limit=5)


@pytest.mark.parametrize("url", ["", " ", "search.example"])
def test_without_an_address_there_is_no_searxng(url: str) -> None:
    with pytest.raises(BadInput, match="SEARXNG_URL"):
        Searxng(url)


def test_the_port_is_kept() -> None:
    engine: SearchEngine = Searxng("https://search.example")
    assert (engine.name, engine.capabilities) == ("searxng", frozenset({"web", "news"}))
