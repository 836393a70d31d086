"""A named engine that is down: another of its kind serves, and the report says so."""

from pathlib import Path

from standins import serper
from standins.killable_run import QUESTION, Site
from standins.tavily import KEY

from fathom import DeepResearcher, ResearchRequest
from fathom.settings import load_settings


async def _ask(home: Path, site: Site, other: serper.SerperServer, **words: object) -> str:
    settings = load_settings(
        home=home,
        tavily_api_key=KEY,
        tavily_url=site.engine.url,
        serper_api_key=serper.KEY,
        engine_urls={"serper": other.url},
        allow_private=True,
    )
    request = ResearchRequest(query=QUESTION, model="none", engines=["serper"], rounds=1, **words)
    return (await DeepResearcher(settings).research(request)).report


async def test_the_report_says_which_engine_was_down_and_which_served(tmp_path: Path) -> None:
    site, other = Site(), serper.SerperServer(key="another key than ours").start()
    try:
        report = await _ask(tmp_path / "a", site, other)
        alone = await _ask(tmp_path / "b", site, other, fallback=False)
    finally:
        site.stop()
        other.stop()
    assert "tidal" in report.lower()
    assert "serper" in report
    assert "tavily" in report
    assert "tavily" not in alone
