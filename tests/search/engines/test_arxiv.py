"""arXiv, through the arxiv package, against a server that speaks its format."""

import asyncio
import time
from dataclasses import replace
from itertools import pairwise

import pytest
from standins.arxiv import ArxivServer, Paper, feed
from standins.server import Answer, closed_port, most_at_once

from fathom.concurrency import PacedLock
from fathom.errors import ProviderError, Refused, Unavailable, Unreadable
from fathom.search import SearchEngine
from fathom.search.engines.arxiv import Arxiv
from fathom.state import Query

QUERY = Query(id="q1", text="tidal power", question="s1", round=1)
PAPERS = [Paper(f"2101.0000{n}v1") for n in range(9)]
GOOD = feed(PAPERS[:3])


def arxiv(server: ArxivServer, *, pause_s: float = 0, timeout_s: float = 5) -> Arxiv:
    return Arxiv(server.url, timeout_s=timeout_s, pause_s=pause_s, turns=PacedLock())


def asking(text: str) -> Query:
    return QUERY.model_copy(update={"text": text})


async def error_of(*failures: Answer, timeout_s: float = 5) -> ProviderError:
    with ArxivServer(PAPERS, failures) as server, pytest.raises(ProviderError) as caught:
        await arxiv(server, timeout_s=timeout_s)(QUERY, limit=5)
    return caught.value


async def test_papers_become_hits_at_their_abstracts() -> None:
    papers = [Paper("2101.00001v2", summary="We study\n tides. " * 99), Paper("quant-ph/0201082v1")]
    with ArxivServer(papers) as server:
        hits = await arxiv(server)(QUERY, limit=5)
    assert [(hit.address, hit.rank, hit.engine, hit.query) for hit in hits] == [
        ("https://arxiv.org/abs/2101.00001v2", 1, "arxiv", "q1"),
        ("https://arxiv.org/abs/quant-ph/0201082v1", 2, "arxiv", "q1"),
    ]
    assert (hits[0].title, hits[0].published) == ("Tides and turbines", "2021-01-01")
    assert hits[0].snippet.startswith("We study tides. We study")
    assert len(hits[0].snippet) == 1000
    assert (hits[0].authors, hits[0].pdf) == (["A. Writer"], "https://arxiv.org/pdf/2101.00001v2")
    assert hits[0].abstract.startswith("We study tides.")


async def test_categories_narrow_the_search() -> None:
    with ArxivServer(PAPERS, [feed([])]) as server:
        await replace(arxiv(server), categories=("cs.CL", "stat.ML"))(QUERY, limit=5)
    assert [seen.params["search_query"] for seen in server.records] == [
        "(all:tidal AND all:power) AND (cat:cs.CL OR cat:stat.ML)",
        "(all:tidal OR all:power) AND (cat:cs.CL OR cat:stat.ML)",
    ]


async def test_the_limit_is_asked_for_and_kept_with_one_request() -> None:
    with ArxivServer(PAPERS) as server:
        assert len(await arxiv(server)(QUERY, limit=4)) == 4
    assert [seen.params["max_results"] for seen in server.records] == ["4"]


async def test_papers_with_all_words_come_first_and_papers_with_any_do_if_there_are_none() -> None:
    with ArxivServer(PAPERS, [feed([])]) as server:
        assert len(await arxiv(server)(QUERY, limit=5)) == 5
    asked = [seen.params["search_query"] for seen in server.records]
    assert asked == ["all:tidal AND all:power", "all:tidal OR all:power"]


async def test_nothing_found_is_an_empty_list() -> None:
    with ArxivServer() as server:
        assert await arxiv(server)(QUERY, limit=5) == []
        assert await arxiv(server)(asking("?!"), limit=5) == []


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ('au:"del_maestro" ANDNOT (cat:cs.AI)', "all:au AND all:del_maestro AND all:cat AND all:cs.AI"),
        ("what is the cost of GPT-4 OR BERT?", "all:cost AND all:GPT-4 AND all:BERT"),
        (
            "submittedDate:[2020 TO 2021] tides tides",
            "all:submittedDate AND all:2020 AND all:2021 AND all:tides",
        ),
        ("조력 발전 비용", "all:조력 AND all:발전 AND all:비용"),
    ],
)
async def test_words_are_searched_and_operators_are_not_obeyed(text: str, sent: str) -> None:
    with ArxivServer([Paper("2101.00001v1", title="조력 발전")]) as server:
        (hit,) = await arxiv(server)(asking(text), limit=5)
    assert server.records[0].params["search_query"] == sent
    assert hit.title == "조력 발전"


async def test_the_rate_limit_says_how_long_to_wait() -> None:
    error = await error_of(Answer(429, {"retry-after": "9"}, b"Rate exceeded."))
    assert isinstance(error, Unavailable)
    assert error.wait_s == 9
    assert str(error) == "arxiv answered HTTP 429"


@pytest.mark.parametrize("status", [500, 503])
async def test_a_broken_server_is_unavailable(status: int) -> None:
    assert isinstance(await error_of(Answer(status, {}, b"<html>")), Unavailable)


async def test_a_block_is_the_operators_business() -> None:
    assert isinstance(await error_of(Answer(403)), Refused)


@pytest.mark.parametrize(
    "answer",
    [
        Answer(200, {"content-type": "text/html"}, b"<html><body>Down for maintenance</body></html>"),
        replace(GOOD, body=GOOD.body[:900]),
        replace(GOOD, body=GOOD.body.replace(b"2021-01-01T10:00:00Z", b"last year")),
        feed([Paper("errors#incorrect_id", "Error", "incorrect id format", address="http://arxiv.org/api/")]),
        Answer(200),
        Answer(400),
    ],
)
async def test_what_was_not_promised_is_unreadable(answer: Answer) -> None:
    assert isinstance(await error_of(answer), Unreadable)


async def test_papers_without_what_papers_have_are_not_taken_for_nothing_found() -> None:
    undated = GOOD.body.replace(b"published>", b"printed>")
    assert isinstance(await error_of(replace(GOOD, body=undated)), Unreadable)


async def test_fewer_papers_than_promised_are_worth_another_try() -> None:
    assert isinstance(await error_of(feed(PAPERS[:2], total=9), feed([])), Unavailable)


async def test_silence_is_unavailable_after_the_time_limit() -> None:
    error = await error_of(Answer(hangs=True), timeout_s=0.2)
    assert isinstance(error, Unavailable)
    assert str(error) == "arxiv did not answer within 0.2 s"


async def test_no_route_is_unavailable() -> None:
    with pytest.raises(Unavailable, match="arxiv cannot be reached"):
        await Arxiv(f"http://127.0.0.1:{closed_port()}", pause_s=0, turns=PacedLock())(QUERY, limit=5)


async def test_requests_keep_their_distance() -> None:
    with ArxivServer(PAPERS) as server:
        engine = arxiv(server, pause_s=0.2)
        await asyncio.gather(*(engine(QUERY, limit=2) for _ in range(3)))
    arrived = [seen.arrived for seen in server.records]
    assert all(later - earlier > 0.15 for earlier, later in pairwise(arrived))
    assert most_at_once(server.records) == 1


def test_the_distance_is_kept_from_one_event_loop_to_the_next() -> None:
    with ArxivServer(PAPERS) as server:
        engine, started = arxiv(server, pause_s=0.2), time.monotonic()
        for _ in range(2):
            asyncio.run(engine(QUERY, limit=2))
    assert time.monotonic() - started > 0.2


def test_the_port_is_kept() -> None:
    engine: SearchEngine = Arxiv()
    assert (engine.name, engine.capabilities) == ("arxiv", frozenset({"academic"}))
