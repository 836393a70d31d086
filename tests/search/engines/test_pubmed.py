"""PubMed, against a server that speaks its format."""

from datetime import date

import pytest
from search.failures import COMMON, HTML, QUERY, BadAnswer, fails
from standins.pubmed import KEY, Paper, PubMedServer, fields
from standins.server import Answer, json_answer

from fathom.errors import BadInput, BadQuery, ProviderError, Refused, Unavailable, Unreadable
from fathom.search import Scope, SearchEngine
from fathom.search.engines.pubmed import PubMed

PAPERS = [Paper(f"333{n:05}") for n in range(200)]
LIMIT = {"error": "API rate limit exceeded", "api-key": KEY, "count": "5", "limit": "3"}
OWN = [
    BadAnswer("too fast", json_answer(LIMIT, 429), Unavailable, "HTTP 429: API rate limit exceeded"),
    BadAnswer("bad key", json_answer({"error": f"API key invalid: {KEY}"}, 400), Refused, "invalid: ***"),
    BadAnswer("bad request", json_answer({"error": "Bad"}, 400), BadQuery, "HTTP 400: Bad"),
    BadAnswer(
        "bad term", json_answer({"esearchresult": {"ERROR": "Empty term"}}), BadQuery, "search: Empty term"
    ),
    BadAnswer(
        "no backend",
        json_answer({"esearchresult": {"ERROR": "Search Backend failed"}}),
        Unavailable,
        "failed",
    ),
    BadAnswer("no list", json_answer({"esearchresult": {"count": "2"}}), Unreadable, "(idlist)"),
    BadAnswer("no result", json_answer({"header": {}}), Unreadable, "(idlist)"),
]
BOMB = '[<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;"><!ENTITY f SYSTEM "file:///etc/hostname">]'


def pubmed(server: PubMedServer, *, key: str = KEY, scope: Scope | None = None) -> PubMed:
    return PubMed(key, server.url, scope=scope or Scope(), timeout_s=5)


async def test_papers_become_hits_with_their_abstracts() -> None:
    with PubMedServer([Paper("1"), Paper("2", abstract="", ids={}, published="2020 Jan-Feb")]) as server:
        first, second = await pubmed(server)(QUERY, limit=5)
    assert (first.address, first.rank, first.engine, first.query) == (
        "https://pubmed.ncbi.nlm.nih.gov/1/",
        1,
        "pubmed",
        "q1",
    )
    assert (first.title, first.snippet) == ("Tides and turbines", "We study. It works.")
    assert (first.published, first.authors) == ("2021-05-04", ["Writer A", "Other B"])
    assert (first.doi, first.pdf, first.cited_by) == ("10.1234/tt.5", "", None)
    assert (second.rank, second.snippet, second.doi, second.published) == (2, "", "", "2020-01")


async def test_a_search_is_three_requests_with_the_key_in_their_bodies() -> None:
    with PubMedServer(PAPERS) as server:
        await pubmed(server)(QUERY, limit=2)
        await pubmed(server, key="")(QUERY, limit=2)
    tools = [seen.route.rpartition("/")[2] for seen in server.records]
    assert tools == ["esearch.fcgi", "esummary.fcgi", "efetch.fcgi"] * 2
    assert [fields(seen).get("api_key") for seen in server.records] == [KEY] * 3 + [None] * 3
    assert not any(KEY in seen.path for seen in server.records)


async def test_a_wrong_key_is_refused_and_not_shown() -> None:
    with PubMedServer(PAPERS) as server, pytest.raises(Refused) as caught:
        await pubmed(server, key="ncbi-another")(QUERY, limit=2)
    assert str(caught.value) == "pubmed answered HTTP 400: API key invalid"


@pytest.mark.parametrize(("limit", "asked"), [(3, "3"), (500, "100")])
async def test_the_limit_is_asked_for_and_kept(limit: int, asked: str) -> None:
    with PubMedServer(PAPERS) as server:
        hits = await pubmed(server)(QUERY, limit=limit)
    assert (fields(server.records[0])["retmax"], len(hits)) == (asked, min(limit, 100))


async def test_if_no_paper_has_all_words_any_of_them_will_do() -> None:
    with PubMedServer([], PAPERS[:1]) as server:
        assert len(await pubmed(server)(QUERY, limit=5)) == 1
    asked = [fields(seen)["term"] for seen in server.records[:2]]
    assert asked == ["tidal power cost", "tidal OR power OR cost"]


async def test_nothing_found_is_an_empty_list() -> None:
    with PubMedServer() as server:
        assert await pubmed(server)(QUERY, limit=5) == []
        assert await pubmed(server)(QUERY.model_copy(update={"text": "?!"}), limit=5) == []
    assert len(server.records) == 2


async def test_dates_and_language_are_passed_on() -> None:
    scope = Scope(since=date(2020, 1, 31), language="ko")
    with PubMedServer(PAPERS) as server:
        await pubmed(server, scope=scope)(QUERY, limit=1)
        await pubmed(server, scope=Scope(until=date(2021, 6, 30)))(QUERY, limit=1)
        await pubmed(server)(QUERY, limit=1)
    asked = [fields(seen) for seen in server.records[::3]]
    assert asked[0]["term"] == "(tidal power cost) AND kor[la]"
    assert [(a.get("mindate"), a.get("maxdate"), a.get("datetype")) for a in asked] == [
        ("2020/01/31", "3000", "pdat"),
        ("1000", "2021/06/30", "pdat"),
        (None, None, None),
    ]


async def test_korean_is_asked_and_arrives_whole() -> None:
    query = QUERY.model_copy(update={"text": "조력 발전[ti] 비용"})
    paper = Paper("1", title="조력 발전.", abstract="<AbstractText>비용이 낮아졌다.</AbstractText>")
    with PubMedServer([paper]) as server:
        (hit,) = await pubmed(server)(query, limit=5)
    assert fields(server.records[0])["term"] == "조력 발전 ti 비용"
    assert (hit.title, hit.snippet) == ("조력 발전", "비용이 낮아졌다.")


async def test_a_paper_without_an_entry_is_left_out() -> None:
    ids = json_answer({"esearchresult": {"idlist": ["999", "1"]}})
    with PubMedServer([Paper("1")], instead={"esearch.fcgi": ids}) as server:
        (hit,) = await pubmed(server)(QUERY, limit=5)
    assert (hit.address, hit.rank) == ("https://pubmed.ncbi.nlm.nih.gov/1/", 1)


async def test_entities_are_not_resolved() -> None:
    paper = Paper("1", abstract="<AbstractText>Caf&eacute; &b;&f; turn<!-- no -->s.</AbstractText>")
    with PubMedServer([paper], entities=BOMB) as server:
        (hit,) = await pubmed(server)(QUERY, limit=5)
    assert hit.snippet == "Café &b;&f; turns."


@pytest.mark.parametrize(
    ("tool", "answer", "error"),
    [
        ("esummary.fcgi", HTML, Unreadable),
        ("esummary.fcgi", json_answer({"error": "Invalid uid"}), Unreadable),
        ("esummary.fcgi", Answer(502), Unavailable),
        ("efetch.fcgi", Answer(200, {}, b"<html><body><p>Log in<br></body></html>"), Unreadable),
        ("efetch.fcgi", Answer(200, {}, b"<html><body>Log in</body></html>"), Unreadable),
        ("efetch.fcgi", Answer(200), Unreadable),
        ("efetch.fcgi", json_answer({"error": "API rate limit exceeded"}, 429), Unavailable),
    ],
)
async def test_later_steps_fail_as_the_first_does(
    tool: str, answer: Answer, error: type[ProviderError]
) -> None:
    with PubMedServer(PAPERS, instead={tool: answer}) as server, pytest.raises(error):
        await pubmed(server)(QUERY, limit=2)


@pytest.mark.parametrize("case", [*COMMON, *OWN], ids=str)
async def test_a_failure_becomes_one_of_our_errors(case: BadAnswer) -> None:
    await fails(case, lambda url, wait_s: PubMed(KEY, url, timeout_s=wait_s), key=KEY)


def test_the_key_is_checked_and_not_shown_and_the_port_is_kept() -> None:
    with pytest.raises(BadInput, match="NCBI_API_KEY"):
        PubMed("ncbi\n1")
    engine: SearchEngine = PubMed(KEY)
    assert KEY not in repr(engine)
    assert (engine.name, engine.capabilities) == ("pubmed", frozenset({"academic"}))
    assert PubMed(KEY).pause_s < PubMed().pause_s
