"""Runs over pages that repeat what others say: the source they name is read and cited."""

from pathlib import Path

import pytest
from standins.tavily import KEY, TavilyServer, result
from standins.web import Page, Web, html

from fathom import DeepResearcher, ResearchRequest
from fathom.result import ResearchResult
from fathom.settings import load_settings

QUESTION = "How much power does the Swale lagoon deliver?"
FIGURE = "The Swale lagoon delivers 320 megawatts of power at spring tide"
FILLER = (
    "<p>The coast road was closed for two days while the cable was laid, and the harbour stayed open to "
    "small boats. Fishermen from three villages had asked for that in a letter to the council.</p>"
)


def article(title: str, *paragraphs: str) -> Page:
    body = "".join(f"<p>{words}</p>" for words in paragraphs)
    head = f"<head><title>{title}</title></head>"
    return html(f"<html>{head}<body><article><h1>{title}</h1>{body}{FILLER}</article></body></html>")


def news(source: str) -> Page:
    said = (
        f'According to <a href="{source}">the Tidal Institute</a>, the Swale lagoon delivers 320 megawatts.'
    )
    return article("Lagoon news", said, "The Swale lagoon is the largest of its kind, says the mayor.")


async def research(
    home: Path, engine: TavilyServer, rounds: int, *, is_private: bool = True
) -> ResearchResult:
    settings = load_settings(home=home, tavily_api_key=KEY, tavily_url=engine.url, allow_private=is_private)
    return await DeepResearcher(settings).research(ResearchRequest(query=QUESTION, max_rounds=rounds))


async def test_the_source_that_a_page_names_is_read_in_the_next_round_and_cited(tmp_path: Path) -> None:
    with Web(
        {"/report": article("Swale measurements", f"{FIGURE}.", "We measured for a year.")}
    ) as institute:
        origin = f"{institute.url}/report"
        with (
            Web({"/news": news(origin)}) as web,
            TavilyServer([result(f"{web.url}/news", "Lagoon")]) as engine,
        ):
            found = await research(tmp_path, engine, 2)
    assert [page.address for page in found.sources] == [f"{web.url}/news", origin]
    cited = {citation.address: citation for citation in found.citations}
    assert cited[origin].is_primary
    assert "primary source" in found.report


async def test_with_one_round_nothing_is_read_that_was_not_found(tmp_path: Path) -> None:
    with Web({"/report": article("Swale measurements", f"{FIGURE}.")}) as institute:
        origin = f"{institute.url}/report"
        with (
            Web({"/news": news(origin)}) as web,
            TavilyServer([result(f"{web.url}/news", "Lagoon")]) as engine,
        ):
            found = await research(tmp_path, engine, 1)
        assert institute.records == []
    assert [page.address for page in found.sources] == [f"{web.url}/news"]


@pytest.mark.parametrize("source", ["http://127.0.0.1:9/gone", "http://[::1]:9/x"])
async def test_a_source_that_cannot_be_read_is_told_and_costs_nothing_else(
    tmp_path: Path, source: str
) -> None:
    with Web({"/news": news(source)}) as web, TavilyServer([result(f"{web.url}/news", "Lagoon")]) as engine:
        found = await research(tmp_path, engine, 2)
    assert [page.address for page in found.sources] == [f"{web.url}/news"]
    assert source in {failure.what for failure in found.errors}
    assert found.citations
