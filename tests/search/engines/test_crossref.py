"""Crossref, against a server that speaks its format."""

from datetime import date

import pytest
from search.failures import COMMON, QUERY, BadAnswer, fails
from standins.crossref import CrossrefServer, failure, work
from standins.server import json_answer

from fathom.errors import BadQuery, Refused, Unreadable
from fathom.search import Scope, SearchEngine
from fathom.search.engines.crossref import Crossref

OWN = [
    BadAnswer("bad query", failure("x-not-valid", "Not valid"), BadQuery, "HTTP 400: Not valid"),
    BadAnswer("bad token", json_answer({"message": "Unauthorized"}, 401), Refused, "HTTP 401: Unauthorized"),
    BadAnswer("no items", json_answer({"message": {}}), Unreadable, "(message.items)"),
    BadAnswer("no doi", json_answer({"message": {"items": [{}]}}), Unreadable, "DOI"),
    BadAnswer("a failure in 200", json_answer({"status": "failed", "message": [{}]}), Unreadable),
]


def crossref(server: CrossrefServer, *, contact: str = "", scope: Scope | None = None) -> Crossref:
    return Crossref(contact, server.url, scope or Scope(), timeout_s=5)


async def test_works_become_hits_with_all_that_is_known_of_them() -> None:
    with CrossrefServer([work(1), work(2)]) as server:
        first, second = await crossref(server)(QUERY, limit=5)
    assert (first.address, first.rank, first.engine, first.query) == (
        "https://doi.org/10.1234/tt.1",
        1,
        "crossref",
        "q1",
    )
    assert (first.title, first.snippet, first.published) == ("Tides 1", "We study CO2.", "2021-05-04")
    assert (first.authors, first.doi, first.cited_by) == (["Ann Writer"], "10.1234/tt.1", 7)
    assert (first.pdf, second.rank) == ("https://ocean.example/t.pdf", 2)


async def test_a_work_of_which_little_is_known_is_a_hit_too() -> None:
    dates = {"published": None, "issued": {"date-parts": [[None]]}, "is_referenced_by_count": None}
    bare = work(1, title=[], author=None, abstract=None, link=None, license=None, **dates)
    with CrossrefServer([bare]) as server:
        (hit,) = await crossref(server)(QUERY, limit=5)
    assert (hit.title, hit.snippet, hit.published) == ("", "", None)
    assert (hit.authors, hit.pdf, hit.cited_by) == ([], "", None)


async def test_groups_are_authors_and_dates_may_be_short() -> None:
    authors = [{"name": "Tidal Group"}, {"family": "Writer"}, {"sequence": "additional"}]
    row = work(1, author=authors, published=None, issued={"date-parts": [[2021, 5]]})
    with CrossrefServer([row]) as server:
        (hit,) = await crossref(server)(QUERY, limit=5)
    assert (hit.authors, hit.published) == (["Tidal Group", "Writer"], "2021-05")


async def test_a_pdf_that_is_not_open_to_all_is_left_out() -> None:
    page = [{"URL": "https://ocean.example/t", "content-type": "text/html"}]
    rows = [work(1, license=[{"URL": "https://publisher.example/tdm"}]), work(2, link=page)]
    with CrossrefServer(rows) as server:
        assert [hit.pdf for hit in await crossref(server)(QUERY, limit=5)] == ["", ""]


async def test_a_doi_with_odd_characters_is_an_address_all_the_same() -> None:
    with CrossrefServer([work(1, DOI="10.1002/(SICI)1<1::AID#2>3.0")]) as server:
        (hit,) = await crossref(server)(QUERY, limit=5)
    assert hit.doi == "10.1002/(SICI)1<1::AID#2>3.0"
    assert hit.address == "https://doi.org/10.1002/(SICI)1%3C1::AID%232%3E3.0"


@pytest.mark.parametrize(("limit", "asked"), [(3, "3"), (500, "100")])
async def test_the_limit_is_asked_for_and_kept(limit: int, asked: str) -> None:
    with CrossrefServer(map(work, range(200))) as server:
        hits = await crossref(server)(QUERY, limit=limit)
    assert (server.records[0].params["rows"], len(hits)) == (asked, min(limit, 100))


async def test_nothing_found_is_an_empty_list() -> None:
    with CrossrefServer() as server:
        assert await crossref(server)(QUERY, limit=5) == []
        assert await crossref(server)(QUERY, limit=0) == []
    assert len(server.records) == 1


async def test_dates_are_passed_on() -> None:
    scope = Scope(since=date(2020, 1, 1), until=date(2021, 6, 30))
    with CrossrefServer() as server:
        await crossref(server, scope=scope)(QUERY, limit=5)
        await crossref(server)(QUERY, limit=5)
    limits = "from-pub-date:2020-01-01,until-pub-date:2021-06-30"
    assert [seen.params.get("filter") for seen in server.records] == [limits, None]


async def test_a_contact_is_named_and_makes_the_pause_shorter() -> None:
    with CrossrefServer() as server:
        await crossref(server, contact="ann@harbor.example")(QUERY, limit=5)
        await crossref(server)(QUERY, limit=5)
        await crossref(server, contact="앤 ann@harbor.example")(QUERY, limit=5)
    assert [seen.params.get("mailto") for seen in server.records[:2]] == ["ann@harbor.example", None]
    agents = [seen.headers["user-agent"] for seen in server.records]
    assert agents[:2] == ["fathom-research (mailto:ann@harbor.example)", "fathom-research"]
    assert agents[2].isascii()
    assert Crossref("ann@harbor.example").pause_s < Crossref().pause_s


async def test_korean_is_asked_and_arrives_whole() -> None:
    query = QUERY.model_copy(update={"text": "조력 발전\n비용"})
    with CrossrefServer(
        [work(1, title=["조력 발전"], abstract="비용이 &lt;i&gt;낮아졌다&lt;/i&gt;.")]
    ) as server:
        (hit,) = await crossref(server)(query, limit=5)
    assert server.records[0].params["query"] == "조력 발전 비용"
    assert (hit.title, hit.snippet) == ("조력 발전", "비용이 낮아졌다.")


@pytest.mark.parametrize("case", [*COMMON, *OWN], ids=str)
async def test_a_failure_becomes_one_of_our_errors(case: BadAnswer) -> None:
    await fails(case, lambda url, wait_s: Crossref(base_url=url, timeout_s=wait_s))


def test_the_port_is_kept() -> None:
    engine: SearchEngine = Crossref()
    assert (engine.name, engine.capabilities) == ("crossref", frozenset({"academic"}))
