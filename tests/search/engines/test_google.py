"""Google's Programmable Search, against a server that speaks its format."""

from datetime import date
from typing import Any

import pytest
from search.failures import COMMON, QUERY, BadAnswer, fails
from standins.google import ENGINE, KEY, GoogleServer, failure, item
from standins.server import json_answer

from fathom.errors import BadInput, BadQuery, Refused, Unavailable, Unreadable
from fathom.search import Scope, SearchEngine
from fathom.search.engines.google import Google

TODAY = date(2026, 2, 3)
PAGES = [item(f"https://a.example/{n}") for n in range(130)]
DAY = "Quota exceeded for quota metric 'Queries' and limit 'Queries per day'"
BAD_KEY = failure(400, f"API key not valid: {KEY}", "badRequest", detail="API_KEY_INVALID")
OWN = [
    BadAnswer("bad key", BAD_KEY, Refused, "API key not valid: ***"),
    BadAnswer("not enabled", failure(403, "Not enabled", "accessNotConfigured"), Refused, "Not enabled"),
    BadAnswer("bad query", failure(400, "Invalid argument.", "badRequest"), BadQuery, "Invalid argument."),
    BadAnswer("day used up", failure(429, DAY, "rateLimitExceeded"), Refused, "Queries per day"),
    BadAnswer("rate", failure(429, "Quota per minute", "rateLimitExceeded"), Unavailable, "per minute"),
    BadAnswer("rate as 403", failure(403, "Slow.", "userRateLimitExceeded"), Unavailable, "Slow."),
    BadAnswer("no kind", json_answer({"items": []}), Unreadable, "kind"),
    BadAnswer("odd rows", json_answer({"kind": "x", "items": [{}]}), Unreadable, "items.0.link"),
]


def google(url: str, timeout_s: float = 5.0, **more: Any) -> Google:
    return Google(KEY, ENGINE, url, timeout_s=timeout_s, today=lambda: TODAY, **more)


async def test_items_become_hits_in_their_order() -> None:
    tags = {"metatags": [{"viewport": None, "width": 7}, {"article:published_time": "2026-01-31T09:00:00Z"}]}
    rows = [
        item("https://a.example/1", "Tidal &amp; costs", "Costs\nfell.", pagemap=tags),
        item("javascript:alert(1)"),
        item("https://b.example/2.pdf", mime="application/pdf", pagemap={"metatags": None}),
    ]
    with GoogleServer(rows) as server:
        hits = await google(server.url)(QUERY, limit=5)
    assert [(hit.address, hit.rank, hit.engine, hit.query) for hit in hits] == [
        ("https://a.example/1", 1, "google", "q1"),
        ("https://b.example/2.pdf", 2, "google", "q1"),
    ]
    assert (hits[0].title, hits[0].snippet, hits[0].published) == (
        "Tidal & costs",
        "Costs fell.",
        "2026-01-31",
    )
    assert [hit.pdf for hit in hits] == ["", "https://b.example/2.pdf"]


async def test_the_key_is_in_a_header_and_in_no_address() -> None:
    with GoogleServer() as server:
        assert await google(server.url)(QUERY, limit=5) == []
    (seen,) = server.records
    assert KEY not in seen.path
    assert seen.params == {"cx": ENGINE, "q": "tidal power cost", "num": "5", "start": "1"}


@pytest.mark.parametrize(
    ("limit", "asked"),
    [(3, [("1", "3")]), (25, [("1", "10"), ("11", "10"), ("21", "5")])],
)
async def test_pages_of_ten_start_at_one(limit: int, asked: list[tuple[str, str]]) -> None:
    with GoogleServer(PAGES) as server:
        hits = await google(server.url)(QUERY, limit=limit)
    assert [(seen.params["start"], seen.params["num"]) for seen in server.records] == asked
    assert [hit.address for hit in hits] == [row["link"] for row in PAGES[:limit]]


async def test_it_ends_at_a_hundred_or_where_the_items_end() -> None:
    with GoogleServer(PAGES) as server:
        assert len(await google(server.url)(QUERY, limit=150)) == 100
    with GoogleServer(PAGES[:12]) as server:
        assert len(await google(server.url)(QUERY, limit=50)) == 12
    assert len(server.records) == 2


@pytest.mark.parametrize(
    ("scope", "sent"),
    [
        (Scope(since=date(2025, 3, 1)), {"sort": "date:r:20250301:20260203"}),
        (Scope(until=date(2025, 3, 1)), {"sort": "date:r:19900101:20250301"}),
        (Scope(language="ko"), {"lr": "lang_ko"}),
        (Scope(language="zh-TW"), {"lr": "lang_zh-CN"}),
        (Scope(("a.example",), ("b.example",)), {"q": "tidal power cost site:a.example -site:b.example"}),
    ],
)
async def test_the_scope_is_passed_on(scope: Scope, sent: dict[str, str]) -> None:
    with GoogleServer() as server:
        await google(server.url, scope=scope)(QUERY, limit=5)
    assert {name: server.records[0].params.get(name) for name in sent} == sent


async def test_korean_goes_out_and_comes_back_whole() -> None:
    with GoogleServer([item("https://ko.example/조력", "조력 발전", "비용")]) as server:
        (hit,) = await google(server.url)(QUERY.model_copy(update={"text": "조력 발전"}), limit=5)
    assert server.records[0].params["q"] == "조력 발전"
    assert (hit.address, hit.title, hit.snippet) == ("https://ko.example/조력", "조력 발전", "비용")


@pytest.mark.parametrize("case", [*COMMON, *OWN], ids=str)
async def test_failures_are_told_apart_and_never_show_the_key(case: BadAnswer) -> None:
    await fails(case, google, key=KEY)


async def test_a_wrong_key_and_an_empty_query_fail_over_the_wire() -> None:
    with GoogleServer(key="another") as server, pytest.raises(Refused, match="API key not valid"):
        await google(server.url)(QUERY, limit=5)
    with GoogleServer() as server, pytest.raises(BadQuery):
        await google(server.url)(QUERY.model_copy(update={"text": " "}), limit=5)


@pytest.mark.parametrize(
    ("key", "engine", "said"),
    [
        ("", ENGINE, "GOOGLE_API_KEY"),
        ("key…", ENGINE, "GOOGLE_API_KEY"),
        (KEY, " ", "google needs GOOGLE_CSE_ID"),
    ],
)
def test_without_a_key_or_an_engine_there_is_no_google(key: str, engine: str, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        Google(key, engine)


def test_the_key_is_not_shown_and_the_port_is_kept() -> None:
    engine: SearchEngine = Google(KEY, ENGINE)
    assert KEY not in repr(engine)
    assert (engine.name, engine.capabilities) == ("google", frozenset({"web"}))
