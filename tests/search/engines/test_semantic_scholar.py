"""Semantic Scholar, against a server that speaks its format."""

from datetime import date

import pytest
from search.failures import COMMON, QUERY, BadAnswer, Failing, fails
from standins.semantic_scholar import KEY, SemanticScholarServer, paper
from standins.server import json_answer

from fathom.errors import BadInput, BadQuery, Refused, Unreadable
from fathom.search import Scope, SearchEngine
from fathom.search.engines.semantic_scholar import SemanticScholar

OWN = [
    BadAnswer("bad key", json_answer({"message": "Forbidden"}, 403), Refused, "HTTP 403: Forbidden"),
    BadAnswer("key echoed", json_answer({"message": f"No {KEY}"}, 403), Refused, "No ***"),
    BadAnswer("bad query", json_answer({"error": "Bad query"}, 400), BadQuery, "HTTP 400: Bad query"),
    BadAnswer("no total", json_answer({"data": []}), Unreadable, "(total)"),
    BadAnswer("data of another kind", json_answer({"total": 1, "data": "many"}), Unreadable, "(data)"),
]


def scholar(server: SemanticScholarServer, *, key: str = KEY, scope: Scope | None = None) -> SemanticScholar:
    return SemanticScholar(key, server.url, scope or Scope(), timeout_s=5)


async def test_papers_become_hits_with_all_that_is_known_of_them() -> None:
    with SemanticScholarServer([paper(1), paper(2, externalIds={"ArXiv": "2101.00001"})]) as server:
        first, second = await scholar(server)(QUERY, limit=5)
    assert (first.address, first.rank, first.engine, first.query) == (
        "https://doi.org/10.1234/tt.1",
        1,
        "semantic-scholar",
        "q1",
    )
    assert (first.title, first.snippet, first.published) == ("Tides 1", "Tides are cheap.", "2021-05-04")
    assert (first.authors, first.doi, first.cited_by) == (["A. Writer", "B. Other"], "10.1234/tt.1", 7)
    assert first.pdf == "https://ocean.example/t.pdf"
    assert (second.address, second.rank, second.doi) == ("https://arxiv.org/abs/2101.00001", 2, "")


async def test_a_paper_of_which_little_is_known_is_a_hit_too() -> None:
    bare = dict.fromkeys(paper(1)) | {"paperId": "a1", "url": "https://www.semanticscholar.org/paper/a1"}
    rows = [bare | {"year": 2019, "openAccessPdf": {"url": ""}}, bare | {"url": None}]
    with SemanticScholarServer(rows) as server:
        (hit,) = await scholar(server)(QUERY, limit=5)
    assert (hit.address, hit.published, hit.pdf) == ("https://www.semanticscholar.org/paper/a1", "2019", "")
    assert (hit.title, hit.snippet, hit.authors, hit.cited_by) == ("", "", [], None)


async def test_without_a_summary_the_abstract_is_shown_plain_and_short() -> None:
    text = "Abstract: <i>Tides</i> &amp; turbines at p < 0.05 and n > 30. " + "More. " * 999
    with SemanticScholarServer([paper(1, tldr=None, abstract=text)]) as server:
        (hit,) = await scholar(server)(QUERY, limit=5)
    assert hit.snippet.startswith("Tides & turbines at p < 0.05 and n > 30. More.")
    assert len(hit.snippet) == 1000


@pytest.mark.parametrize(("limit", "asked"), [(3, "3"), (500, "100")])
async def test_the_limit_is_asked_for_and_kept(limit: int, asked: str) -> None:
    with SemanticScholarServer(map(paper, range(200))) as server:
        hits = await scholar(server)(QUERY, limit=limit)
    assert (server.records[0].params["limit"], len(hits)) == (asked, min(limit, 100))


async def test_nothing_found_is_an_empty_list_though_there_is_no_list() -> None:
    with SemanticScholarServer() as server:
        assert await scholar(server)(QUERY, limit=5) == []
        assert await scholar(server)(QUERY, limit=0) == []
        assert await scholar(server)(QUERY.model_copy(update={"text": " "}), limit=5) == []
    assert len(server.records) == 1


@pytest.mark.parametrize(
    ("scope", "dates"),
    [
        (Scope(since=date(2020, 1, 1), until=date(2021, 6, 30)), "2020-01-01:2021-06-30"),
        (Scope(since=date(2020, 1, 1)), "2020-01-01:"),
        (Scope(until=date(2021, 6, 30)), ":2021-06-30"),
        (Scope(language="ko"), None),
    ],
)
async def test_dates_are_passed_on(scope: Scope, dates: str | None) -> None:
    with SemanticScholarServer() as server:
        await scholar(server, scope=scope)(QUERY, limit=5)
    assert server.records[0].params.get("publicationDateOrYear") == dates


async def test_hyphens_become_blanks_and_korean_arrives_whole() -> None:
    query = QUERY.model_copy(update={"text": "조력-발전 비용\nlow-cost"})
    row = paper(1, title="조력 발전", tldr={"text": "비용이 낮아졌다."})
    with SemanticScholarServer([row]) as server:
        (hit,) = await scholar(server)(query, limit=5)
    assert server.records[0].params["query"] == "조력 발전 비용 low cost"
    assert (hit.title, hit.snippet) == ("조력 발전", "비용이 낮아졌다.")


async def test_the_key_is_sent_if_there_is_one() -> None:
    with SemanticScholarServer([paper(1)]) as server:
        await scholar(server)(QUERY, limit=5)
        await scholar(server, key="")(QUERY, limit=5)
        with pytest.raises(Refused):
            await scholar(server, key="s2-another")(QUERY, limit=5)
    assert [seen.headers.get("x-api-key") for seen in server.records] == [KEY, None, "s2-another"]


async def test_citations_and_references_are_hits_around_a_paper() -> None:
    nameless = paper(2) | {"paperId": None, "url": None, "externalIds": None}
    with SemanticScholarServer([paper(1), nameless, paper(3)], known="DOI:10.1234/tt%20x") as server:
        citing = await scholar(server).citations("DOI:10.1234/tt x", 5)
        cited = await scholar(server).references("DOI:10.1234/tt x", 1)
    assert [(hit.doi, hit.rank, hit.query) for hit in citing] == [
        ("10.1234/tt.1", 1, "DOI:10.1234/tt x"),
        ("10.1234/tt.3", 2, "DOI:10.1234/tt x"),
    ]
    assert [(hit.doi, hit.snippet) for hit in cited] == [("10.1234/tt.1", "We study tides.")]
    assert [seen.params["limit"] for seen in server.records] == ["5", "1"]


async def test_citations_of_a_paper_nobody_knows_are_a_bad_query() -> None:
    with SemanticScholarServer() as server, pytest.raises(BadQuery, match="not found"):
        await scholar(server).citations("0", 5)


async def test_citations_a_publisher_withholds_are_none() -> None:
    with Failing(json_answer({"offset": 0, "data": None})) as server:
        assert await SemanticScholar(base_url=server.url).references("a1", 5) == []


@pytest.mark.parametrize("case", [*COMMON, *OWN], ids=str)
async def test_a_failure_becomes_one_of_our_errors(case: BadAnswer) -> None:
    await fails(case, lambda url, wait_s: SemanticScholar(KEY, url, timeout_s=wait_s), key=KEY)


def test_a_key_that_cannot_be_one_is_refused() -> None:
    with pytest.raises(BadInput, match="SEMANTIC_SCHOLAR_API_KEY"):
        SemanticScholar("s2-…")


def test_the_key_is_not_shown_and_the_port_is_kept() -> None:
    engine: SearchEngine = SemanticScholar(KEY)
    assert KEY not in repr(engine)
    assert (engine.name, engine.capabilities) == ("semantic-scholar", frozenset({"academic"}))
