"""Tavily, through its own SDK, against a server that speaks its format."""

from pathlib import Path

import pytest
from standins.server import Answer, closed_port, json_answer
from standins.tavily import KEY, TavilyServer, failure, result

from fathom.errors import BadInput, ProviderError, Refused, Unavailable, Unreadable
from fathom.search import SearchEngine
from fathom.search.engines.tavily import Tavily
from fathom.state import Query
from fathom.storage import open_storage

QUERY = Query(id="q1", text="tidal power cost", question="s1", round=1)
HTML = Answer(200, {"content-type": "text/html"}, b"<html><body>Please log in</body></html>")


def tavily(server: TavilyServer, **settings: object) -> Tavily:
    return Tavily(api_key=KEY, base_url=server.url, **settings)  # type: ignore[arg-type]


async def error_of(server: TavilyServer, **settings: object) -> ProviderError:
    with server, pytest.raises(ProviderError) as caught:
        await tavily(server, **settings)(QUERY, limit=5)
    assert KEY not in repr(caught.value)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    return caught.value


async def test_a_page_of_results_becomes_hits_in_their_order() -> None:
    with TavilyServer(
        [result("https://a.example/1", "One", " Costs fell. "), result("http://b.example")]
    ) as server:
        hits = await tavily(server)(QUERY, limit=5)
    assert [(hit.address, hit.rank, hit.engine, hit.query) for hit in hits] == [
        ("https://a.example/1", 1, "tavily", "q1"),
        ("http://b.example", 2, "tavily", "q1"),
    ]
    assert (hits[0].title, hits[0].snippet, hits[0].published) == ("One", "Costs fell.", None)


async def test_it_asks_with_the_key_and_never_keyless() -> None:
    with TavilyServer() as server:
        await tavily(server)(QUERY, limit=5)
    (seen,) = server.records
    assert seen.headers["authorization"] == f"Bearer {KEY}"
    assert "x-tavily-access-mode" not in seen.headers
    assert seen.json == {"query": "tidal power cost", "topic": "general", "max_results": 5}


@pytest.mark.parametrize(("limit", "asked", "got"), [(3, 3, 3), (50, 20, 20)])
async def test_the_limit_is_asked_for_and_kept(limit: int, asked: int, got: int) -> None:
    with TavilyServer(result(f"https://a.example/{n}") for n in range(30)) as server:
        hits = await tavily(server)(QUERY, limit=limit)
    assert (server.records[0].json["max_results"], len(hits)) == (asked, got)


async def test_more_than_was_asked_for_is_cut() -> None:
    page = json_answer({"results": [result(f"https://a.example/{n}") for n in range(9)]})
    with TavilyServer(failures=[page]) as server:
        assert len(await tavily(server)(QUERY, limit=2)) == 2


async def test_nothing_found_is_an_empty_list() -> None:
    with TavilyServer() as server:
        assert await tavily(server)(QUERY, limit=5) == []


async def test_a_long_korean_query_is_cut_and_a_korean_result_arrives_whole() -> None:
    query = QUERY.model_copy(update={"text": "조력 발전의 비용 " * 100})
    with TavilyServer([result("https://ko.example/조력", "조력 발전", "비용이 낮아졌다.")]) as server:
        (hit,) = await tavily(server)(query, limit=5)
    assert server.records[0].json["query"] == query.text[:400]
    assert (hit.address, hit.title, hit.snippet) == (
        "https://ko.example/조력",
        "조력 발전",
        "비용이 낮아졌다.",
    )


@pytest.mark.parametrize(
    ("written", "date"),
    [
        ("Tue, 03 Feb 2026 09:00:00 GMT", "2026-02-03"),
        ("2026-02-03T09:00:00Z", "2026-02-03"),
        ("yesterday", None),
        (None, None),
    ],
)
async def test_news_have_dates(written: str | None, date: str | None) -> None:
    with TavilyServer([result("https://a.example", published_date=written)]) as server:
        (hit,) = await tavily(server, topic="news")(QUERY, limit=5)
    assert server.records[0].json["topic"] == "news"
    assert hit.published == date


async def test_only_pages_of_the_web_are_hits() -> None:
    rows = [result("file:///etc/passwd"), result("HTTPS://a.example"), result("javascript:alert(1)")]
    with TavilyServer(rows) as server:
        hits = await tavily(server)(QUERY, limit=5)
    assert [(hit.address, hit.rank) for hit in hits] == [("HTTPS://a.example", 1)]


async def test_the_rate_limit_says_how_long_to_wait() -> None:
    server = TavilyServer(failures=[failure(429, "Too many requests.", {"retry-after": "7"})])
    error = await error_of(server)
    assert isinstance(error, Unavailable)
    assert error.wait_s == 7
    assert str(error) == "tavily answered HTTP 429: Too many requests."


async def test_the_rate_limit_may_not_say_how_long() -> None:
    error = await error_of(TavilyServer(failures=[json_answer({"detail": "slow down"}, 429)]))
    assert isinstance(error, Unavailable)
    assert error.wait_s is None


@pytest.mark.parametrize("status", [500, 502, 503])
async def test_a_broken_server_is_unavailable(status: int) -> None:
    error = await error_of(
        TavilyServer(failures=[Answer(status, {"content-type": "text/html"}, b"<h1>oh</h1>")])
    )
    assert isinstance(error, Unavailable)
    assert str(error) == f"tavily answered HTTP {status}"


@pytest.mark.parametrize("status", [401, 403, 432, 433])
async def test_a_refusal_is_the_operators_business_and_never_shows_the_key(status: int) -> None:
    error = await error_of(TavilyServer(failures=[failure(status, f"The key {KEY} is not allowed to.")]))
    assert isinstance(error, Refused)
    assert str(error) == f"tavily answered HTTP {status}: The key *** is not allowed to."


async def test_a_wrong_key_is_refused() -> None:
    assert isinstance(await error_of(TavilyServer(key="tvly-another")), Refused)


@pytest.mark.parametrize(
    "answer",
    [
        HTML,
        json_answer({"answer": "no results key"}),
        json_answer({"results": [{"title": "no address"}]}),
        json_answer({"results": "many"}),
        json_answer([]),
        failure(400, "Bad request."),
        Answer(204),
        Answer(301, {"location": "https://elsewhere.example/"}),
    ],
)
async def test_what_was_not_promised_is_unreadable(answer: Answer) -> None:
    assert isinstance(await error_of(TavilyServer(failures=[answer])), Unreadable)


async def test_silence_is_unavailable_after_the_time_limit() -> None:
    error = await error_of(TavilyServer(failures=[Answer(hangs=True)]), timeout_s=0.2)
    assert isinstance(error, Unavailable)
    assert str(error) == "tavily did not answer within 0.2 s"


async def test_no_route_is_unavailable() -> None:
    with pytest.raises(Unavailable, match=r"tavily cannot be reached \(ConnectError\)"):
        await Tavily(KEY, f"http://127.0.0.1:{closed_port()}")(QUERY, limit=5)


async def test_a_malformed_address_is_the_operators_business() -> None:
    with pytest.raises(Refused, match="malformed"):
        await Tavily(KEY, "api.tavily.example")(QUERY, limit=5)


@pytest.mark.parametrize("key", ["", "  ", "tvly-…", "tvly-1\n", "tvly 1"])
def test_without_a_proper_key_there_is_no_tavily(key: str) -> None:
    with pytest.raises(BadInput, match="TAVILY_API_KEY"):
        Tavily(key)


def test_the_key_is_not_shown_and_the_port_is_kept() -> None:
    engine: SearchEngine = Tavily(KEY)
    assert KEY not in repr(engine)
    assert (engine.name, engine.capabilities) == ("tavily", frozenset({"web", "news", "content"}))


async def test_a_deep_search_is_advanced_costs_double_and_brings_texts(tmp_path: Path) -> None:
    texts, page = (
        open_storage(tmp_path / "fathom.sqlite").pages,
        "# Tidal power\n\n" + "Costs fell in every year. " * 40,
    )
    rows = [result("https://a.example/1", raw_content=page), result("https://a.example/2")]
    with TavilyServer(rows) as server:
        engine = tavily(server, is_deep=True, texts=texts)
        long, short = await engine(QUERY, limit=5)
        await tavily(server)(QUERY, limit=5)
    deep, plain = (seen.json for seen in server.records)
    assert (deep["search_depth"], deep["include_raw_content"]) == ("advanced", "markdown")
    assert "search_depth" not in plain or plain["search_depth"] == "basic"
    assert await texts.get(long.delivered) == page
    assert short.delivered == ""
    assert engine.units(5) == 2 * tavily(server).units(5)
