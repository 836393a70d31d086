"""The model's own search, against a server that speaks the Responses format."""

from datetime import date

import pytest
from search.failures import QUERY, BadAnswer, but, fails
from standins.openai_search import KEY, OpenAiSearchServer, answered, cited, failure
from standins.server import json_answer

from fathom.errors import BadInput, BadQuery, ProviderError, Refused, Unavailable, Unreadable
from fathom.search import Scope, SearchEngine
from fathom.search.engines.model_search import ModelSearch

COSTS = ("https://ocean.example/tidal?utm_source=openai", "Tidal costs", "Costs fell by half.")
SEARCHED = {"id": "ws_1", "type": "web_search_call", "status": "completed", "action": {"type": "search"}}


def engine(url: str, timeout_s: float = 5.0, *, scope: Scope | None = None) -> ModelSearch:
    return ModelSearch(KEY, "gpt-5", f"{url}/v1", scope=scope or Scope(), timeout_s=timeout_s)


async def test_the_pages_it_cites_become_hits_in_their_order() -> None:
    answer = cited(COSTS, ("https://b.example/2", "Two", "See the harbour. It is old."))
    with OpenAiSearchServer(answer) as server:
        hits = await engine(server.url)(QUERY, limit=5)
    assert [(hit.address, hit.rank, hit.engine, hit.query) for hit in hits] == [
        (COSTS[0], 1, "model", "q1"),
        ("https://b.example/2", 2, "model", "q1"),
    ]
    assert [(hit.title, hit.snippet) for hit in hits] == [
        ("Tidal costs", "Costs fell by half."),
        ("Two", "It is old."),
    ]


async def test_it_asks_for_one_search_and_its_sources_with_the_key() -> None:
    with OpenAiSearchServer(cited(COSTS)) as server:
        await engine(server.url)(QUERY, limit=5)
    (seen,) = server.records
    assert seen.headers["authorization"] == f"Bearer {KEY}"
    assert (seen.json["model"], seen.json["input"]) == ("gpt-5", "tidal power cost")
    assert seen.json["tools"] == [{"type": "web_search", "user_location": {"type": "approximate"}}]
    assert (seen.json["tool_choice"], seen.json["max_tool_calls"]) == ("required", 1)
    assert seen.json["include"] == ["web_search_call.action.sources"]
    assert seen.json["store"] is False


async def test_what_it_looked_at_follows_what_it_cited_once_a_page() -> None:
    listed = [
        {"type": "url", "url": "https://ocean.example/tidal"},
        {"type": "api", "name": "oai-weather"},
        {"type": "url", "url": "https://c.example/3"},
        {"type": "url", "url": "file:///etc/passwd"},
    ]
    with OpenAiSearchServer(cited(COSTS, COSTS, listed=listed)) as server:
        hits = await engine(server.url)(QUERY, limit=5)
    assert [(hit.address, hit.title, hit.rank) for hit in hits] == [
        (COSTS[0], "Tidal costs", 1),
        ("https://c.example/3", "", 2),
    ]


async def test_the_limit_is_kept() -> None:
    pages = [(f"https://a.example/{n}", "T", "Words.") for n in range(9)]
    with OpenAiSearchServer(cited(*pages)) as server:
        assert len(await engine(server.url)(QUERY, limit=2)) == 2


async def test_a_search_that_found_nothing_is_an_empty_list() -> None:
    with OpenAiSearchServer(cited()) as server:
        assert await engine(server.url)(QUERY, limit=5) == []


async def test_korean_goes_out_and_comes_back_whole() -> None:
    page = ("https://ko.example/조력", "조력 발전", "조력 발전의 비용이 낮아졌다.")
    with OpenAiSearchServer(cited(page)) as server:
        (hit,) = await engine(server.url)(QUERY.model_copy(update={"text": "조력 발전의 비용"}), limit=5)
    assert server.records[0].json["input"] == "조력 발전의 비용"
    assert (hit.address, hit.title, hit.snippet) == page


async def test_a_link_at_the_start_is_explained_by_what_follows_and_odd_marks_do_no_harm() -> None:
    mark = {"type": "url_citation", "start_index": 0, "end_index": 8, "url": "https://a.example/"}
    odd = {"type": "url_citation", "start_index": 900, "end_index": -4, "url": "https://b.example/"}
    other = {"type": "file_citation", "start_index": None, "url": "https://c.example/"}
    part = {"type": "output_text", "text": "[A](u): Tides turn.", "annotations": [mark, odd, other]}
    answer = answered(SEARCHED, {"id": "m", "type": "message", "content": [part]})
    with OpenAiSearchServer(answer) as server:
        hits = await engine(server.url)(QUERY, limit=5)
    assert [hit.address for hit in hits] == ["https://a.example/", "https://b.example/"]
    assert hits[0].snippet == "Tides turn."


async def test_the_scope_is_passed_on() -> None:
    inside = Scope(include_domains=("a.example",), exclude_domains=("b.example",), since=date(2024, 1, 2))
    outside = Scope(exclude_domains=("b.example",), until=date(2025, 3, 4), language="ko")
    with OpenAiSearchServer(cited(COSTS)) as server:
        for scope in (inside, outside):
            await engine(server.url, scope=scope)(QUERY, limit=5)
    first, second = (seen.json for seen in server.records)
    assert first["tools"][0]["filters"] == {"allowed_domains": ["a.example"]}
    assert second["tools"][0]["filters"] == {"blocked_domains": ["b.example"]}
    assert "on or after 2024-01-02" in first["instructions"]
    assert "on or before 2025-03-04" in second["instructions"]
    assert "language ko" in second["instructions"]


TOO_LONG = failure(400, "Too long.", param="input", code="context_length_exceeded")
REFUSAL = {"id": "m", "type": "message", "content": [{"type": "refusal", "refusal": "No."}]}


def finished(name: str, error: type[ProviderError], answer: dict[str, object]) -> BadAnswer:
    return BadAnswer(name, json_answer(answer), error, name)


CASES = [
    *but("404"),
    BadAnswer("key", failure(401, f"Incorrect API key provided: {KEY}."), Refused, "401"),
    BadAnswer("quota", failure(429, "No money.", code="insufficient_quota"), Refused, "No money."),
    BadAnswer("country", failure(403, f"Not with {KEY}."), Refused, "Not with ***."),
    BadAnswer("no such model", failure(404, "No such model.", code="model_not_found"), Refused, "No such"),
    BadAnswer("old model", failure(400, "No search.", param="tools"), Refused, "No search."),
    BadAnswer("too long", TOO_LONG, BadQuery, "Too long."),
    BadAnswer("bad request", failure(400, "Bad request."), Unreadable),
    BadAnswer("no output", json_answer({"id": "resp_1"}), Unreadable, "output"),
    finished("server_error", Unavailable, answered(status="failed", error={"code": "server_error"})),
    finished("invalid_prompt", BadQuery, answered(status="failed", error={"code": "invalid_prompt"})),
    finished("bio_policy", Unreadable, answered(status="failed", error={"code": "bio_policy"})),
    finished("incomplete", Unreadable, answered(status="incomplete")),
    finished("refused", BadQuery, answered(SEARCHED, REFUSAL)),
    finished("without searching", Unreadable, answered()),
    finished("web search failed", Unavailable, answered({**SEARCHED, "status": "failed"})),
]


@pytest.mark.parametrize("case", CASES, ids=str)
async def test_a_failure_becomes_the_right_error(case: BadAnswer) -> None:
    await fails(case, engine, key=KEY)


async def test_a_wrong_key_is_told_without_any_part_of_it() -> None:
    with OpenAiSearchServer(cited(), key="sk-another") as server, pytest.raises(Refused) as caught:
        await engine(server.url)(QUERY, limit=5)
    assert str(caught.value) == "model answered HTTP 401: OPENAI_API_KEY is not accepted"


async def test_what_was_cited_before_it_was_cut_short_is_kept() -> None:
    with OpenAiSearchServer({**cited(COSTS), "status": "incomplete"}) as server:
        assert len(await engine(server.url)(QUERY, limit=5)) == 1


def test_without_a_key_there_is_no_search_and_the_key_is_not_shown() -> None:
    with pytest.raises(BadInput, match=r"^model needs OPENAI_API_KEY\.$"):
        ModelSearch(" ", "gpt-5")
    port: SearchEngine = ModelSearch(KEY, "gpt-5")
    assert KEY not in repr(port)
    assert (port.name, port.capabilities) == ("model", frozenset({"web"}))
