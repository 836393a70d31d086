"""Europe PMC, against a server that speaks its format."""

from datetime import date

import pytest
from search.failures import COMMON, QUERY, BadAnswer, fails
from standins.europe_pmc import EuropePmcServer, paper
from standins.server import json_answer

from fathom.errors import BadQuery, Unavailable, Unreadable
from fathom.search import Scope, SearchEngine
from fathom.search.engines.europe_pmc import EuropePmc


def wrong(code: int) -> dict[str, object]:
    return {"version": "6.9", "errCode": code, "errMsg": "Something"}


OWN = [
    BadAnswer("error in 200", json_answer(wrong(503)), Unavailable, "HTTP 503: Something"),
    BadAnswer("bad query in 200", json_answer(wrong(404)), BadQuery, "HTTP 404: Something"),
    BadAnswer("bad query", json_answer(wrong(400), 400), BadQuery, "HTTP 400: Something"),
    BadAnswer("only a version", json_answer({"version": "6.9"}), BadQuery, "did not understand the query"),
    BadAnswer("an empty object", json_answer({}), Unreadable, "(resultList)"),
    BadAnswer("no list", json_answer({"version": "6.9", "hitCount": 3}), Unreadable, "(resultList)"),
    BadAnswer("no id", json_answer({"hitCount": 1, "resultList": {"result": [{}]}}), Unreadable, "id"),
]


def europe_pmc(server: EuropePmcServer, scope: Scope | None = None) -> EuropePmc:
    return EuropePmc(server.url, scope or Scope(), timeout_s=5)


async def test_papers_become_hits_with_all_that_is_known_of_them() -> None:
    with EuropePmcServer([paper(1), paper(2)]) as server:
        first, second = await europe_pmc(server)(QUERY, limit=5)
    assert (first.address, first.rank, first.engine, first.query) == (
        "https://pmc.ncbi.nlm.nih.gov/articles/PMC1/",
        1,
        "europe-pmc",
        "q1",
    )
    assert (first.title, first.snippet) == ("Tides and turbines.", "Background We study CO2.")
    assert (first.published, first.authors) == ("2021-05-04", ["Writer A", "Other B"])
    assert (first.doi, first.pdf) == ("10.1234/tt.1", "https://ocean.example/t.pdf")
    assert (first.cited_by, second.rank) == (7, 2)


async def test_a_paper_leads_to_the_best_place_there_is() -> None:
    rows = [
        paper(1, pmcid=None),
        paper(2, pmcid=None, pmid=None),
        paper(3, pmcid=None, pmid=None, doi=None, source="PPR", id="PPR3"),
    ]
    with EuropePmcServer(rows) as server:
        hits = await europe_pmc(server)(QUERY, limit=5)
    assert [hit.address for hit in hits] == [
        "https://pubmed.ncbi.nlm.nih.gov/1/",
        "https://doi.org/10.1234/tt.2",
        "https://europepmc.org/article/PPR/PPR3",
    ]


async def test_a_paper_of_which_little_is_known_is_a_hit_too() -> None:
    with EuropePmcServer([{"id": "1", "source": "PAT", "pubYear": "2019"}]) as server:
        (hit,) = await europe_pmc(server)(QUERY, limit=5)
    assert (hit.title, hit.snippet, hit.published) == ("", "", "2019")
    assert (hit.authors, hit.doi, hit.pdf, hit.cited_by) == ([], "", "", None)


async def test_a_pdf_one_has_to_pay_for_is_left_out() -> None:
    place = {
        "availability": "Subscription required",
        "documentStyle": "pdf",
        "url": "https://x.example/p.pdf",
    }
    with EuropePmcServer([paper(1, fullTextUrlList={"fullTextUrl": [place]})]) as server:
        (hit,) = await europe_pmc(server)(QUERY, limit=5)
    assert hit.pdf == ""


@pytest.mark.parametrize(("limit", "asked"), [(3, "3"), (500, "100")])
async def test_the_limit_is_asked_for_and_kept(limit: int, asked: str) -> None:
    with EuropePmcServer(map(paper, range(200))) as server:
        hits = await europe_pmc(server)(QUERY, limit=limit)
    assert (server.records[0].params["pageSize"], len(hits)) == (asked, min(limit, 100))


async def test_if_no_paper_has_all_words_any_of_them_will_do() -> None:
    with EuropePmcServer([], [paper(1)]) as server:
        assert len(await europe_pmc(server)(QUERY, limit=5)) == 1
    assert [seen.params["query"] for seen in server.records] == [
        "(tidal AND power AND cost)",
        "(tidal OR power OR cost)",
    ]


async def test_nothing_found_is_an_empty_list() -> None:
    with EuropePmcServer() as server:
        assert await europe_pmc(server)(QUERY, limit=5) == []
        assert await europe_pmc(server)(QUERY.model_copy(update={"text": "?!"}), limit=5) == []
    assert len(server.records) == 2


@pytest.mark.parametrize(
    ("scope", "limits"),
    [
        (
            Scope(since=date(2020, 1, 1), until=date(2021, 6, 30)),
            " AND FIRST_PDATE:[2020-01-01 TO 2021-06-30]",
        ),
        (
            Scope(since=date(2020, 1, 1), language="ko"),
            " AND FIRST_PDATE:[2020-01-01 TO 3000-12-31] AND LANG:kor",
        ),
        (Scope(until=date(2021, 6, 30)), " AND FIRST_PDATE:[1000-01-01 TO 2021-06-30]"),
        (Scope(language="tlh"), ""),
    ],
)
async def test_dates_and_language_are_passed_on(scope: Scope, limits: str) -> None:
    with EuropePmcServer([paper(1)]) as server:
        await europe_pmc(server, scope)(QUERY, limit=5)
    assert server.records[0].params["query"] == f"(tidal AND power AND cost){limits}"


async def test_words_are_searched_and_syntax_is_not_obeyed_in_korean_too() -> None:
    query = QUERY.model_copy(update={"text": "AUTH:(조력 발전 NOT 비용"})
    row = paper(1, title="조력 발전", abstractText="비용이 낮아졌다.")
    with EuropePmcServer([row]) as server:
        (hit,) = await europe_pmc(server)(query, limit=5)
    assert server.records[0].params["query"] == "(AUTH AND 조력 AND 발전 AND 비용)"
    assert (hit.title, hit.snippet) == ("조력 발전", "비용이 낮아졌다.")


@pytest.mark.parametrize("case", [*COMMON, *OWN], ids=str)
async def test_a_failure_becomes_one_of_our_errors(case: BadAnswer) -> None:
    await fails(case, lambda url, wait_s: EuropePmc(url, timeout_s=wait_s))


def test_the_port_is_kept() -> None:
    engine: SearchEngine = EuropePmc()
    assert (engine.name, engine.capabilities) == ("europe-pmc", frozenset({"academic"}))
