"""Wikipedia, against a server that speaks its format."""

import pytest
from search.failures import COMMON, QUERY, BadAnswer, fails
from standins.server import Answer, json_answer
from standins.wikipedia import WikipediaServer, article, failure

from fathom.errors import BadQuery, Refused, Unavailable, Unreadable
from fathom.search import Scope, SearchEngine
from fathom.search.engines.wikipedia import Wikipedia

OWN = [
    BadAnswer("no agent", Answer(403, {}, b"Please respect our robot policy."), Refused, "HTTP 403"),
    BadAnswer(
        "too long", failure("cirrussearch-query-too-long", "Too long."), BadQuery, "too-long: Too long."
    ),
    BadAnswer("bad value", failure("badvalue"), BadQuery, "badvalue"),
    BadAnswer("bad request", Answer(400), BadQuery, "HTTP 400"),
    BadAnswer("backend", failure("cirrussearch-backend-error"), Unavailable, "backend-error"),
    BadAnswer("lag", failure("maxlag", "Waiting for a database."), Unavailable, "maxlag: Waiting"),
    BadAnswer("limit", failure("ratelimited"), Unavailable, "ratelimited"),
    BadAnswer("inside", failure("internal_api_error_DBQueryError"), Unavailable, "internal_api_error"),
    BadAnswer("private", failure("readapidenied"), Refused, "readapidenied"),
    BadAnswer("another error", failure("unknown_action"), Unreadable, "unknown_action"),
    BadAnswer("no query", json_answer({"batchcomplete": True}), Unreadable, "(query)"),
    BadAnswer("no list", json_answer({"query": {}}), Unreadable, "(query)"),
]


def wikipedia(server: WikipediaServer, scope: Scope | None = None, contact: str = "") -> Wikipedia:
    return Wikipedia(server.template, contact, scope or Scope(), timeout_s=5)


async def test_articles_become_hits_without_the_marks_of_the_search() -> None:
    snippet = '<span class="searchmatch">Tidal</span> power &amp; <b>cost</b> &quot;now&quot;'
    with WikipediaServer([article("Tidal power", snippet), article("What? C/D & 100%")]) as server:
        first, second = await wikipedia(server)(QUERY, limit=5)
    assert (first.address, first.rank, first.engine, first.query) == (
        f"{server.url}/en/wiki/Tidal_power",
        1,
        "wikipedia",
        "q1",
    )
    assert (first.title, first.snippet) == ("Tidal power", 'Tidal power & cost "now"')
    assert (first.published, first.authors, first.cited_by) == ("2026-10-01", [], None)
    assert second.address == f"{server.url}/en/wiki/What%3F_C/D_%26_100%25"


@pytest.mark.parametrize(
    ("text", "language", "asked"),
    [
        ("tidal power", None, "en"),
        ("조력 발전 cost", None, "ko"),
        ("tidal power", "de-AT", "de"),
        ("tidal power", "a/../b", "en"),
        ("조력 발전", "en", "en"),
    ],
)
async def test_the_language_is_the_scopes_or_that_of_the_words(
    text: str, language: str | None, asked: str
) -> None:
    with WikipediaServer() as server:
        await wikipedia(server, Scope(language=language))(QUERY.model_copy(update={"text": text}), limit=5)
    assert server.records[0].route == f"/{asked}/w/api.php"


async def test_korean_is_asked_and_arrives_whole() -> None:
    query = QUERY.model_copy(update={"text": "조력 발전의 비용은?"})
    with WikipediaServer([article("조력 발전", "비용이 <b>낮아졌다</b>.")]) as server:
        (hit,) = await wikipedia(server)(query, limit=5)
    assert server.records[0].params["srsearch"] == "조력 발전의 비용은"
    assert (hit.title, hit.snippet) == ("조력 발전", "비용이 낮아졌다.")
    assert hit.address == f"{server.url}/ko/wiki/%EC%A1%B0%EB%A0%A5_%EB%B0%9C%EC%A0%84"


@pytest.mark.parametrize(("limit", "asked"), [(3, "3"), (500, "50")])
async def test_the_limit_is_asked_for_and_kept(limit: int, asked: str) -> None:
    with WikipediaServer(article(f"Tides {n}") for n in range(200)) as server:
        hits = await wikipedia(server)(QUERY, limit=limit)
    assert (server.records[0].params["srlimit"], len(hits)) == (asked, min(limit, 50))


async def test_if_no_article_has_all_words_any_of_them_will_do() -> None:
    with WikipediaServer([], [article("Tides")]) as server:
        assert len(await wikipedia(server)(QUERY, limit=5)) == 1
    asked = [seen.params["srsearch"] for seen in server.records]
    assert asked == ["tidal power cost", "tidal OR power OR cost"]


async def test_nothing_found_is_an_empty_list() -> None:
    with WikipediaServer() as server:
        assert await wikipedia(server)(QUERY, limit=5) == []
        assert await wikipedia(server)(QUERY.model_copy(update={"text": "?!"}), limit=5) == []
    assert len(server.records) == 2


async def test_a_long_query_loses_its_last_words() -> None:
    query = QUERY.model_copy(update={"text": " ".join(f"{n:040}" for n in range(12)) + " " + "x" * 400})
    with WikipediaServer([article("Tides")]) as server:
        assert await wikipedia(server)(query, limit=5)
        assert await wikipedia(server)(QUERY.model_copy(update={"text": "x" * 400}), limit=5)
    assert server.records[0].params["srsearch"] == " ".join(f"{n:040}" for n in range(7))


async def test_the_service_is_told_who_asks() -> None:
    with WikipediaServer() as server:
        await wikipedia(server, contact="ann@harbor.example (앤)\n")(QUERY, limit=5)
    assert server.records[0].headers["user-agent"] == "fathom-research (ann@harbor.example)"


async def test_an_address_without_a_place_for_the_language_is_another_wiki() -> None:
    with WikipediaServer([article("Tides")]) as server:
        (hit,) = await Wikipedia(f"{server.url}/")(QUERY, limit=5)
    assert hit.address == f"{server.url}/wiki/Tides"


@pytest.mark.parametrize("case", [*COMMON, *OWN], ids=str)
async def test_a_failure_becomes_one_of_our_errors(case: BadAnswer) -> None:
    await fails(case, lambda url, wait_s: Wikipedia(url, timeout_s=wait_s))


def test_the_port_is_kept() -> None:
    engine: SearchEngine = Wikipedia()
    assert (engine.name, engine.capabilities) == ("wikipedia", frozenset({"web"}))
