"""Exa, against a server that speaks its format."""

from datetime import date
from pathlib import Path
from typing import Any

import pytest
from search.failures import COMMON, QUERY, BadAnswer, fails
from standins.exa import KEY, ExaServer, failure, result
from standins.server import json_answer

from fathom.errors import BadInput, BadQuery, Refused, Unreadable
from fathom.search import Scope, SearchEngine
from fathom.search.engines.exa import Exa
from fathom.storage import open_storage

PAGES = [result(f"https://a.example/{n}") for n in range(150)]
OWN = [
    BadAnswer("bad key", failure(401, "INVALID_API_KEY", f"{KEY} is bad"), Refused, "401: *** is bad"),
    BadAnswer("no credits", failure(402, "NO_MORE_CREDITS", "No credits"), Refused, "402: No credits"),
    BadAnswer("bad query", failure(400, "INVALID_REQUEST_BODY", "empty"), BadQuery, "400: empty"),
    BadAnswer("unprocessable", failure(422, "INVALID_REQUEST"), BadQuery),
    BadAnswer("no results", json_answer({"requestId": "b594"}), Unreadable, "results"),
    BadAnswer("odd rows", json_answer({"results": [{"id": "x"}]}), Unreadable, "results.0.url"),
]


def exa(url: str, timeout_s: float = 5.0, **more: Any) -> Exa:
    return Exa(KEY, url, timeout_s=timeout_s, **more)


async def test_results_become_hits_with_the_passages_that_fit() -> None:
    rows = [
        result(
            "https://a.example/1",
            title="Tidal costs",
            author=" A. Writer ",
            publishedDate="2026-02-03T00:00:00.000Z",
            highlights=["Costs fell.", "By &lt;half&gt;."],
            text="The whole page",
        ),
        result("ftp://b.example"),
        result("http://b.example", author=None, publishedDate=None, highlights=[]),
    ]
    with ExaServer(rows) as server:
        hits = await exa(server.url)(QUERY, limit=5)
    assert [(hit.address, hit.rank, hit.engine, hit.query) for hit in hits] == [
        ("https://a.example/1", 1, "exa", "q1"),
        ("http://b.example", 2, "exa", "q1"),
    ]
    first, second = hits
    assert first.snippet.startswith("Costs fell. … By")
    assert (first.title, first.authors, first.published) == ("Tidal costs", ["A. Writer"], "2026-02-03")
    assert (second.title, second.snippet, second.authors, second.published) == ("", "", [], None)


async def test_it_asks_for_snippets_and_no_more() -> None:
    with ExaServer([result("https://a.example/1", text="x" * 3000)]) as server:
        await exa(server.url)(QUERY, limit=5)
        await exa(server.url, search_type="neural", is_deep=True)(QUERY, limit=5)
    first, second = (seen.json for seen in server.records)
    assert first == {
        "query": "tidal power cost",
        "type": "auto",
        "numResults": 5,
        "contents": {"highlights": {"maxCharacters": 1000}},
    }
    assert (second["type"], second["contents"]) == ("neural", first["contents"])  # nowhere to keep a text


async def test_a_deep_search_brings_the_text_of_each_page_and_its_image(tmp_path: Path) -> None:
    texts = open_storage(tmp_path / "fathom.sqlite").pages
    rows = [
        result("https://a.example/1", text="Costs fell. " * 100, image="https://a.example/1.png"),
        result("https://a.example/2", text="Too short."),
    ]
    with ExaServer(rows) as server:
        long, short = await exa(server.url, is_deep=True, texts=texts, has_images=True)(QUERY, limit=5)
        assert "text" in server.records[0].json["contents"]
    assert await texts.get(long.delivered) == rows[0]["text"]
    assert (long.image, short.delivered, short.image) == ("https://a.example/1.png", "", "")


@pytest.mark.parametrize(("limit", "asked"), [(3, 3), (200, 100)])
async def test_the_limit_is_asked_for_and_kept(limit: int, asked: int) -> None:
    with ExaServer(PAGES) as server:
        assert len(await exa(server.url)(QUERY, limit=limit)) == asked
    assert [seen.json["numResults"] for seen in server.records] == [asked]


async def test_nothing_found_is_an_empty_list() -> None:
    with ExaServer() as server:
        assert await exa(server.url)(QUERY, limit=5) == []


@pytest.mark.parametrize(
    ("scope", "sent"),
    [
        (Scope(("*.a.example",), ("b.example",)), {"includeDomains": ["a.example"]}),
        (Scope((), ("www.b.example",)), {"excludeDomains": ["b.example"]}),
        (Scope(since=date(2025, 3, 1)), {"startPublishedDate": "2025-03-01T00:00:00.000Z"}),
        (Scope(until=date(2025, 3, 1)), {"endPublishedDate": "2025-03-01T23:59:59.999Z"}),
        (Scope(language="ko"), {}),
    ],
)
async def test_the_scope_is_passed_on(scope: Scope, sent: dict[str, Any]) -> None:
    with ExaServer() as server:
        await exa(server.url, scope=scope)(QUERY, limit=5)
    usual = {"query", "type", "numResults", "contents"}
    assert {name: value for name, value in server.records[0].json.items() if name not in usual} == sent


async def test_korean_goes_out_and_comes_back_whole() -> None:
    with ExaServer([result("https://ko.example/조력", title="조력 발전", highlights=["비용"])]) as server:
        (hit,) = await exa(server.url)(QUERY.model_copy(update={"text": "조력 발전"}), limit=5)
    assert server.records[0].json["query"] == "조력 발전"
    assert (hit.address, hit.title, hit.snippet) == ("https://ko.example/조력", "조력 발전", "비용")


@pytest.mark.parametrize("case", [*COMMON, *OWN], ids=str)
async def test_failures_are_told_apart_and_never_show_the_key(case: BadAnswer) -> None:
    await fails(case, exa, key=KEY)


async def test_a_wrong_key_and_an_empty_query_fail_over_the_wire() -> None:
    with ExaServer(key="another") as server, pytest.raises(Refused, match="Invalid API key"):
        await exa(server.url)(QUERY, limit=5)
    with ExaServer() as server, pytest.raises(BadQuery):
        await exa(server.url)(QUERY.model_copy(update={"text": " "}), limit=5)


@pytest.mark.parametrize("key", ["", "  ", "key…", "a key"])
def test_without_a_proper_key_there_is_no_exa(key: str) -> None:
    with pytest.raises(BadInput, match="EXA_API_KEY"):
        Exa(key)


def test_the_key_is_not_shown_and_the_port_is_kept() -> None:
    engine: SearchEngine = Exa(KEY)
    assert KEY not in repr(engine)
    assert (engine.name, engine.capabilities) == ("exa", frozenset({"web", "semantic", "content"}))
