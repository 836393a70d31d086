"""Runs over the web: an engine and pages, some of them broken."""

from pathlib import Path

from standins.arxiv import ArxivServer, Paper
from standins.documents import TIDES
from standins.model import Model
from standins.tavily import KEY, TavilyServer, failure, result
from standins.web import Page, Web, html
from standins.working_model import researcher

from fathom import DeepResearcher, ResearchRequest
from fathom.settings import load_settings

QUESTION = "How much does tidal power cost?"


def article(text: str, delay_s: float = 0.0) -> Page:
    title, *rest = text.split("\n\n")
    body = "".join(f"<p>{part}</p>" for part in rest)
    return html(
        f"<html><head><title>{title.strip('# ')}</title></head><body><article>{body}</article></body></html>",
        delay_s=delay_s,
    )


def site() -> dict[str, Page]:
    return {
        "/lagoon": article(TIDES["lagoon.md"]),
        "/slow": article(TIDES["barrage.md"], delay_s=0.8),
        "/moved": (302, {"location": "/stream"}, b"", 0.0),
        "/stream": article(TIDES["stream.md"]),
        "/broken": html("<h1>Internal Server Error</h1>", status=500),
        "/garbage": (200, {"content-type": "application/pdf"}, b"\x00\x01\x02 not a pdf", 0.0),
    }


async def test_a_web_run_reads_what_it_can_and_tells_the_rest(tmp_path: Path) -> None:
    with Web(site()) as web, Model(researcher) as model:
        paths = ("/lagoon", "/slow", "/moved", "/broken", "/garbage", "/gone")
        with TavilyServer([result(web.url + path, path, "tidal power") for path in paths]) as engine:
            settings = load_settings(
                home=tmp_path,
                base_url=model.base_url,
                tavily_api_key=KEY,
                tavily_url=engine.url,
                allow_private=True,
            )
            found = await DeepResearcher(settings).research(ResearchRequest(query=QUESTION, max_rounds=1))
    assert {page.address.removeprefix(web.url) for page in found.sources} == {"/lagoon", "/slow", "/moved"}
    lost = {failure.what.removeprefix(web.url): failure for failure in found.errors}
    assert set(lost) == {"/broken", "/garbage", "/gone"}
    assert {failure.where for failure in found.errors} == {"reading"}
    assert found.status == "complete"
    for word in ("320 megawatts", "since 1987", "Pentle strait"):
        assert word in found.report
    for path in lost:
        assert path in found.report
        assert f"<{web.url}{path}>" not in found.report
    assert KEY not in found.report
    assert KEY.encode() not in (tmp_path / "fathom.sqlite").read_bytes()


async def test_an_engine_that_fails_for_one_query_costs_that_query(tmp_path: Path) -> None:
    with (
        Web(site()) as web,
        TavilyServer([result(f"{web.url}/lagoon")], [failure(400, "odd query")]) as engine,
    ):
        settings = load_settings(home=tmp_path, tavily_api_key=KEY, tavily_url=engine.url, allow_private=True)
        found = await DeepResearcher(settings).research(ResearchRequest(query=QUESTION, max_rounds=1))
    assert found.status == "partial"
    assert found.citations
    assert "odd query" in found.report


async def test_an_engine_that_is_refused_every_time_is_an_honest_nothing(tmp_path: Path) -> None:
    with TavilyServer([], key="tvly-another") as engine:
        settings = load_settings(home=tmp_path, tavily_api_key=KEY, tavily_url=engine.url)
        found = await DeepResearcher(settings).research(ResearchRequest(query=QUESTION, max_rounds=1))
    assert (found.status, found.sections) == ("failed", [])
    assert "tavily" in found.report
    assert "Nothing is reported" in found.report
    assert KEY not in found.report


async def test_private_pages_are_not_read_unless_allowed(tmp_path: Path) -> None:
    with Web(site()) as web, TavilyServer([result(f"{web.url}/lagoon")]) as engine:
        settings = load_settings(home=tmp_path, tavily_api_key=KEY, tavily_url=engine.url)
        found = await DeepResearcher(settings).research(ResearchRequest(query=QUESTION, max_rounds=1))
        assert web.records == []
    assert found.status == "failed"


async def test_a_run_over_arxiv_asks_for_papers_and_tells_what_cannot_be_read(tmp_path: Path) -> None:
    papers = [Paper("2101.00001v1", "Tidal turbines", "We study what tidal power costs.")]
    with ArxivServer(papers) as arxiv:
        settings = load_settings(home=tmp_path, arxiv_url=arxiv.url)
        request = ResearchRequest(query=QUESTION, providers=["arxiv"], max_rounds=1, max_queries=1)
        found = await DeepResearcher(settings).research(request)
        assert arxiv.records
    # The papers themselves stand on a server that no test can reach.
    assert found.status == "failed"
    assert [failure.where for failure in found.errors] == ["reading"]
    assert "arxiv.org/abs/2101.00001" in found.report
