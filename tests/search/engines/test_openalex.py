"""OpenAlex, against a server that speaks its format."""

from datetime import date

import pytest
from search.failures import QUERY, BadAnswer, but, fails
from standins.openalex import KEY, OpenAlexServer, work
from standins.server import Answer, json_answer

from fathom.errors import BadInput, BadQuery, Refused, Unavailable, Unreadable
from fathom.search import Scope, SearchEngine
from fathom.search.engines.openalex import OpenAlex

SPENT = {"error": "Rate limit exceeded", "message": "Insufficient budget. Resets at midnight UTC."}
OWN = [
    BadAnswer("bad key", json_answer({"error": "API key", "message": f"No {KEY}"}, 401), Refused, "No ***"),
    BadAnswer("day spent", json_answer(SPENT, 429), Refused, "allowance is used up"),
    BadAnswer("day spent, wordless", Answer(429, {"retry-after": "53578"}), Refused, "allowance is used up"),
    BadAnswer("too fast", json_answer({"message": "Slow down"}, 403), Unavailable, "HTTP 403: Slow down"),
    BadAnswer("too fast, told when", Answer(403, {"retry-after": "2"}), Unavailable, "HTTP 403", wait_s=2),
    BadAnswer("bad query", json_answer({"message": "Bad search"}, 400), BadQuery, "HTTP 400: Bad search"),
    BadAnswer("no results", json_answer({"meta": {}}), Unreadable, "(results)"),
    BadAnswer("a work without id", json_answer({"results": [{}]}), Unreadable, "(results.0.id)"),
]


def openalex(server: OpenAlexServer, *, key: str = KEY, scope: Scope | None = None) -> OpenAlex:
    return OpenAlex(key, server.url, scope or Scope(), timeout_s=5)


async def test_works_become_hits_with_their_abstract_rebuilt() -> None:
    with OpenAlexServer([work(1), work(2)]) as server:
        first, second = await openalex(server)(QUERY, limit=5)
    assert (first.address, first.rank, first.engine, first.query) == (
        "https://doi.org/10.1234/tt.1",
        1,
        "openalex",
        "q1",
    )
    assert (first.title, first.snippet) == ("Tides 1", "Tides drive turbines; so Tides matter.")
    assert (first.published, first.authors, first.doi) == ("2021-05-04", ["A. Writer"], "10.1234/tt.1")
    assert (first.cited_by, first.pdf, second.rank) == (7, "", 2)


async def test_a_work_that_is_open_is_found_where_it_can_be_read() -> None:
    place = {"landing_page_url": "https://ocean.example/t", "pdf_url": "https://ocean.example/t.pdf"}
    rows = [
        work(1, best_oa_location=place),
        work(2, open_access={"oa_url": "https://ocean.example/2.PDF"}),
        work(3, open_access={"oa_url": "https://ocean.example/page"}),
    ]
    with OpenAlexServer(rows) as server:
        hits = await openalex(server)(QUERY, limit=5)
    assert hits[0].address == "https://ocean.example/t"
    assert [h.pdf for h in hits] == ["https://ocean.example/t.pdf", "https://ocean.example/2.PDF", ""]


async def test_a_work_of_which_little_is_known_is_a_hit_too() -> None:
    with OpenAlexServer([dict.fromkeys(work(1)) | {"id": "https://openalex.org/W1"}]) as server:
        (hit,) = await openalex(server)(QUERY, limit=5)
    assert (hit.address, hit.title, hit.snippet) == ("https://openalex.org/W1", "", "")
    assert (hit.published, hit.authors, hit.doi, hit.cited_by) == (None, [], "", None)


@pytest.mark.parametrize(("limit", "asked"), [(3, "3"), (500, "100")])
async def test_the_limit_is_asked_for_and_kept(limit: int, asked: str) -> None:
    with OpenAlexServer(map(work, range(200))) as server:
        hits = await openalex(server)(QUERY, limit=limit)
    assert (server.records[0].params["per_page"], len(hits)) == (asked, min(limit, 100))


async def test_if_no_work_has_all_words_any_of_them_will_do() -> None:
    with OpenAlexServer([], [work(1)]) as server:
        assert len(await openalex(server)(QUERY, limit=5)) == 1
    assert [seen.params["search"] for seen in server.records] == [
        "tidal power cost",
        "tidal OR power OR cost",
    ]


async def test_nothing_found_is_an_empty_list() -> None:
    with OpenAlexServer() as server:
        assert await openalex(server)(QUERY, limit=5) == []
        assert await openalex(server)(QUERY.model_copy(update={"text": "?!"}), limit=5) == []
    assert len(server.records) == 2


async def test_hosts_apart_the_scope_is_passed_on() -> None:
    scope = Scope(since=date(2020, 1, 1), until=date(2021, 6, 30), language="ko-KR")
    with OpenAlexServer([work(1)]) as server:
        await openalex(server, scope=scope)(QUERY, limit=5)
        await openalex(server)(QUERY, limit=5)
    limits = "from_publication_date:2020-01-01,to_publication_date:2021-06-30,language:ko"
    assert [seen.params.get("filter") for seen in server.records] == [limits, None]


async def test_words_are_searched_and_punctuation_is_not_obeyed_in_korean_too() -> None:
    query = QUERY.model_copy(update={"text": '"조력 발전"의 비용은? (NOT wind*) tidal-stream'})
    row = work(1, display_name="조력 발전", abstract_inverted_index={"비용이": [0], "낮아졌다.": [1]})
    with OpenAlexServer([row]) as server:
        (hit,) = await openalex(server)(query, limit=5)
    assert server.records[0].params["search"] == "조력 발전 비용은 wind tidal-stream"
    assert (hit.title, hit.snippet) == ("조력 발전", "비용이 낮아졌다.")


async def test_the_key_is_sent_in_a_header_if_there_is_one() -> None:
    with OpenAlexServer([work(1)]) as server:
        await openalex(server)(QUERY, limit=5)
        await openalex(server, key="")(QUERY, limit=5)
        with pytest.raises(Refused):
            await openalex(server, key="oa-another")(QUERY, limit=5)
    sent = [seen.headers.get("authorization") for seen in server.records]
    assert sent == [f"Bearer {KEY}", None, "Bearer oa-another"]
    assert not any(KEY in seen.path for seen in server.records)


@pytest.mark.parametrize("case", [*but("403"), *OWN], ids=str)
async def test_a_failure_becomes_one_of_our_errors(case: BadAnswer) -> None:
    await fails(case, lambda url, wait_s: OpenAlex(KEY, url, timeout_s=wait_s), key=KEY)


def test_a_key_that_cannot_be_one_is_refused() -> None:
    with pytest.raises(BadInput, match="OPENALEX_API_KEY"):
        OpenAlex("oa key")


def test_the_key_is_not_shown_the_port_is_kept_and_only_a_key_costs() -> None:
    engine: SearchEngine = OpenAlex(KEY)
    assert KEY not in repr(engine)
    assert (engine.name, engine.capabilities) == ("openalex", frozenset({"academic"}))
    assert (OpenAlex(KEY).usd_per_call, OpenAlex().usd_per_call) == (0.001, 0.0)


async def test_a_work_that_was_retracted_is_marked() -> None:
    with OpenAlexServer([work(1, is_retracted=True), work(2)]) as server:
        hits = await OpenAlex(base_url=server.url)(QUERY, limit=5)
    assert [hit.retracted for hit in hits] == ["openalex", ""]
