"""Whole runs over engines that are down, that deliver texts, and that know papers."""

from pathlib import Path
from typing import Any

import pytest
from standins import exa, serper, tavily
from standins.arxiv import ArxivServer, Paper
from standins.crossref import CrossrefServer
from standins.crossref import work as crossref_work
from standins.exa import ExaServer
from standins.openalex import OpenAlexServer
from standins.openalex import work as openalex_work
from standins.pubmed import Paper as PubMedPaper
from standins.pubmed import PubMedServer
from standins.semantic_scholar import SemanticScholarServer, paper
from standins.serper import SerperServer
from standins.server import closed_port
from standins.tavily import TavilyServer, failure

from fathom import DeepResearcher, ResearchRequest, ResearchResult
from fathom.search.wrappers import PROCESS_HEALTH
from fathom.settings import Settings, load_settings

QUESTION = "How much does tidal power cost?"
TEXT = (
    "# Tidal power\n\nTidal power cost 150 euros a megawatt hour in 2024. "
    + "The barrage has turbines. " * 30
)
PAGE = "https://ocean.example/tidal"


@pytest.fixture(autouse=True)
def _healthy() -> Any:
    yield
    PROCESS_HEALTH.until.clear()


def settings(home: Path, **words: Any) -> Settings:
    return load_settings(home=home, **words)


async def researched(known: Settings, **words: Any) -> ResearchResult:
    given = {"query": QUESTION, "model": "none", "rounds": 1, **words}
    return await DeepResearcher(known).research(ResearchRequest.model_validate(given))


async def test_a_named_engine_that_is_down_is_replaced_and_its_texts_are_read_as_they_came(
    tmp_path: Path,
) -> None:
    rows = [exa.result(PAGE, title="Tidal power", text=TEXT, highlights=["Tidal power costs."])]
    with TavilyServer(failures=[failure(432, "plan used up")] * 9) as down, ExaServer(rows) as serving:
        known = settings(
            tmp_path,
            tavily_api_key=tavily.KEY,
            tavily_url=down.url,
            exa_api_key=exa.KEY,
            exa_search_type="neural",
            engine_urls={"exa": serving.url},
        )
        result = await researched(known, engines=["tavily"], search_depth="deep")
        assert {seen.json["type"] for seen in serving.records} == {"neural"}
    # The page was never asked for: ocean.example does not exist, and nothing could not be read.
    assert [source.address for source in result.sources] == [PAGE]
    assert result.sources[0].how == "delivered"
    assert "150 euros a megawatt hour" in result.report
    assert "exa searched instead" in result.report
    assert not result.is_partial
    lost = [error for error in result.errors if error.where == "search: tavily"]
    assert {error.stand_in for error in lost} == {"exa"}


async def test_without_fallback_the_named_engine_is_the_only_one(tmp_path: Path) -> None:
    with TavilyServer(failures=[failure(432, "plan used up")] * 9) as down, ExaServer([]) as other:
        words = {"tavily_api_key": tavily.KEY, "tavily_url": down.url, "exa_api_key": exa.KEY}
        known = settings(tmp_path, **words, engine_urls={"exa": other.url})
        result = await researched(known, engines=["tavily"], fallback=False)
        assert other.records == []
    assert (result.status, result.sources) == ("failed", [])


async def test_papers_around_a_paper_are_read_and_a_retracted_one_is_marked(tmp_path: Path) -> None:
    """arXiv finds a paper; Semantic Scholar says who cites it, and Crossref what was retracted."""
    gone = crossref_work(2, updated_by=[{"type": "retraction", "DOI": "10.1/n"}])
    citing = paper(2, title="Costs of tidal power, measured again", openAccessPdf=None)
    with (
        ArxivServer([Paper("2101.00001v1", title="What tidal power costs")]) as arxiv,
        SemanticScholarServer([citing], known="ARXIV:2101.00001") as scholar,
        CrossrefServer([gone]) as crossref,
        OpenAlexServer([openalex_work(1)]) as openalex,
    ):
        known = settings(
            tmp_path,
            arxiv_url=arxiv.url,
            arxiv_pages=f"http://127.0.0.1:{closed_port()}",
            allow_private=True,
            engine_urls={
                "semantic-scholar": scholar.url,
                "crossref": crossref.url,
                "openalex": openalex.url,
            },
        )
        question = "Which later papers cite the paper on what tidal power costs?"
        asking = DeepResearcher(known)
        request = {"query": question, "model": "none", "rounds": 1, "engines": ["arxiv"], "fallback": False}
        done = await asking.research(ResearchRequest.model_validate(request))
        views = await asking.views(done.run_id)
        assert any(seen.route.endswith("/citations") for seen in scholar.records)
    found = {result.title: result for result in views.results}
    assert found["Costs of tidal power, measured again"].retracted == "crossref"
    # Neither can be read here, so both are kept as they were found, with what arXiv says of the paper.
    assert not any(result.is_read for result in views.results)
    first = found["What tidal power costs"]
    assert (first.authors, first.published) == (["A. Writer"], "2021-01-01")
    assert first.pdf == "https://arxiv.org/pdf/2101.00001v1"


@pytest.mark.parametrize(
    ("question", "is_asked"),
    [
        ("What do clinical studies say about metformin and mortality?", True),
        ("메트포르민이 당뇨 환자의 사망률을 낮추는지에 대한 연구는 무엇을 말하는가?", True),
        ("How do I take metformin?", False),
    ],
)
async def test_a_question_about_studies_asks_the_catalogue_of_its_subject_in_any_run(
    tmp_path: Path, question: str, is_asked: bool
) -> None:
    with PubMedServer([PubMedPaper("111")]) as pubmed, SerperServer([]) as web:
        known = settings(
            tmp_path, serper_api_key=serper.KEY, engine_urls={"serper": web.url, "pubmed": pubmed.url}
        )
        await researched(known, query=question)
        assert bool(pubmed.records) is is_asked
        assert "/search" in {seen.route for seen in web.records}
