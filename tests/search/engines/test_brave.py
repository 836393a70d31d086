"""Brave, against a server that speaks its format."""

from datetime import date
from typing import Any

import pytest
from search.failures import COMMON, QUERY, BadAnswer, fails
from standins.brave import KEY, BraveServer, failure, result
from standins.server import json_answer

from fathom.errors import BadInput, BadQuery, Refused, Unavailable, Unreadable
from fathom.search import Scope, SearchEngine
from fathom.search.engines.brave import Brave

TODAY = date(2026, 2, 3)
PAGES = [result(f"https://a.example/{n}") for n in range(70)]
WINDOWS = {"x-ratelimit-reset": "2, 1419704", "x-ratelimit-remaining": "0, 14523"}
OWN = [
    BadAnswer("rate", failure(429, "RATE_LIMITED", "Slow.", WINDOWS), Unavailable, "429: Slow.", wait_s=2),
    BadAnswer("odd window", json_answer({}, 429, {"x-ratelimit-reset": "soon"}), Unavailable),
    BadAnswer("quota as 429", failure(429, "QUOTA_LIMITED", "Month used up"), Refused, "Month used up"),
    BadAnswer("quota as 402", failure(402, "QUOTA_LIMITED"), Refused),
    BadAnswer("bad key", failure(422, "SUBSCRIPTION_TOKEN_INVALID", f"{KEY} is bad"), Refused, "*** is bad"),
    BadAnswer("bad query", failure(422, "VALIDATION", "Unable to validate"), BadQuery, "Unable to validate"),
    BadAnswer("no query block", json_answer({"web": {"results": []}}), Unreadable, "query"),
    BadAnswer(
        "odd rows", json_answer({"query": {}, "web": {"results": [{}]}}), Unreadable, "web.results.0.url"
    ),
]


def brave(url: str, timeout_s: float = 5.0, **more: Any) -> Brave:
    return Brave(KEY, url, timeout_s=timeout_s, today=lambda: TODAY, **more)


async def test_results_become_hits_in_their_order() -> None:
    rows = [
        result(
            "https://a.example/1",
            "One &#39;tide&#39;",
            "Costs <strong>fell</strong> &amp; fell.",
            page_age="2026-01-31T09:00:00",
            extra_snippets=["Twice."],
        ),
        result("file:///etc/passwd"),
        result("http://b.example", age="February 1, 2026", page_age=None),
    ]
    with BraveServer(rows) as server:
        hits = await brave(server.url)(QUERY, limit=5)
    assert [(hit.address, hit.rank, hit.engine, hit.query) for hit in hits] == [
        ("https://a.example/1", 1, "brave", "q1"),
        ("http://b.example", 2, "brave", "q1"),
    ]
    assert (hits[0].title, hits[0].snippet) == ("One 'tide'", "Costs fell & fell. Twice.")
    assert [hit.published for hit in hits] == ["2026-01-31", "2026-02-01"]
    (seen,) = server.records
    assert seen.params == {"q": "tidal power cost", "count": "5", "text_decorations": "false"}


async def test_news_are_at_the_top_of_their_own_answer() -> None:
    with BraveServer([result("https://a.example/1", age="48 minutes ago")]) as server:
        (hit,) = await brave(server.url, kind="news")(QUERY, limit=60)
    assert (server.records[0].route, hit.published) == ("/res/v1/news/search", "2026-02-03")
    assert server.records[0].params["count"] == "50"


@pytest.mark.parametrize(
    ("limit", "pages", "got"), [(3, [None], 3), (45, [None, "1", "2"], 45), (90, [None, "1", "2", "3"], 70)]
)
async def test_the_offset_counts_pages_until_the_limit_is_full(
    limit: int, pages: list[str | None], got: int
) -> None:
    with BraveServer(PAGES) as server:
        hits = await brave(server.url)(QUERY, limit=limit)
    assert [seen.params.get("offset") for seen in server.records] == pages
    assert [hit.address for hit in hits] == [row["url"] for row in PAGES[:got]]


@pytest.mark.parametrize("kind", ["web", "news"])
async def test_nothing_found_is_an_empty_list(kind: str) -> None:
    with BraveServer() as server:
        assert await brave(server.url, kind=kind)(QUERY, limit=5) == []


@pytest.mark.parametrize(
    ("scope", "sent"),
    [
        (Scope(since=date(2025, 3, 1)), {"freshness": "2025-03-01to2026-02-03"}),
        (Scope(until=date(2025, 3, 1)), {"freshness": "1990-01-01to2025-03-01"}),
        (Scope(language="ko"), {"search_lang": "ko"}),
        (Scope(language="ja-JP"), {"search_lang": "jp"}),
        (Scope(language="tlh"), {"search_lang": None}),
        (
            Scope(("*.a.example",), ("www.b.example",)),
            {"q": "tidal power cost site:a.example -site:b.example"},
        ),
    ],
)
async def test_the_scope_is_passed_on(scope: Scope, sent: dict[str, str | None]) -> None:
    with BraveServer() as server:
        await brave(server.url, scope=scope)(QUERY, limit=5)
    assert {name: server.records[0].params.get(name) for name in sent} == sent


@pytest.mark.parametrize("text", ["조력 발전의 비용 " * 100, "a " * 99, "x" * 999])
async def test_a_long_query_is_cut_so_that_it_is_taken(text: str) -> None:
    many = Scope(exclude_domains=tuple(f"{n}.example" for n in range(99)))
    with BraveServer([result("https://ko.example/조력", "조력 발전")]) as server:
        (hit,) = await brave(server.url, scope=many)(QUERY.model_copy(update={"text": text}), limit=5)
    assert server.records[0].params["q"].startswith(text[:20].strip())
    assert (hit.address, hit.title) == ("https://ko.example/조력", "조력 발전")


@pytest.mark.parametrize("case", [*COMMON, *OWN], ids=str)
async def test_failures_are_told_apart_and_never_show_the_key(case: BadAnswer) -> None:
    await fails(case, brave, key=KEY)


async def test_a_wrong_key_and_an_empty_query_fail_over_the_wire() -> None:
    with BraveServer(key="another") as server, pytest.raises(Refused, match="token is invalid"):
        await brave(server.url)(QUERY, limit=5)
    with BraveServer() as server, pytest.raises(BadQuery):
        await brave(server.url)(QUERY.model_copy(update={"text": " "}), limit=5)


@pytest.mark.parametrize("key", ["", "  ", "key…", "a key"])
def test_without_a_proper_key_there_is_no_brave(key: str) -> None:
    with pytest.raises(BadInput, match="BRAVE_API_KEY"):
        Brave(key)


def test_the_key_is_not_shown_and_the_port_is_kept() -> None:
    engine: SearchEngine = Brave(KEY)
    assert KEY not in repr(engine)
    assert (engine.name, engine.capabilities) == ("brave", frozenset({"web", "news"}))
