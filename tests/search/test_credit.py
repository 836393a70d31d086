"""What each engine was asked, found and cost, and what is left of its credit."""

from pathlib import Path

from standins import brave, openalex, serper, tavily

from fathom.budget.prices import engine_uses
from fathom.events import RoundCompleted, Spent
from fathom.runs.round_summary import round_page, round_summary
from fathom.search.engines import engines_for
from fathom.settings import load_settings
from fathom.state import Cost, Query, RunConfig
from fathom.text.messages import ENGLISH, KOREAN

QUERY = Query(id="q1", text="tidal power", question="s1", round=1)


async def test_engines_say_what_is_left_and_are_asked_for_it_once(tmp_path: Path) -> None:
    pages = [tavily.result("https://a.example/1"), tavily.result("https://a.example/2")]
    with (
        tavily.TavilyServer(pages) as first,
        serper.SerperServer([serper.result("https://b.example")]) as second,
    ):
        settings = load_settings(
            home=tmp_path,
            tavily_api_key=tavily.KEY,
            tavily_url=first.url,
            serper_api_key=serper.KEY,
            engine_urls={"serper": second.url},
        )
        engines = engines_for(settings, RunConfig(engines=["tavily", "serper"], reuse=False))
        found = [await engines.search(QUERY.model_copy(update={"text": text}), limit=5) for text in "ab"]
        assert [seen.route for seen in first.records].count("/usage") == 1
    uses = {use.engine: use for use in engine_uses(cost for one in found for cost in one.costs)}
    assert (uses["tavily"].searches, uses["tavily"].results, uses["tavily"].credit) == (2, 4, "850")
    assert (uses["serper"].searches, uses["serper"].credit) == (2, "2500")
    assert uses["serper"].usd == 0.002


async def test_an_engine_that_tells_it_with_every_answer_is_not_asked_for_it(tmp_path: Path) -> None:
    with (
        brave.BraveServer([brave.result("https://a.example")]) as first,
        openalex.OpenAlexServer([openalex.work(1)]) as second,
    ):
        settings = load_settings(
            home=tmp_path,
            brave_api_key=brave.KEY,
            openalex_api_key=openalex.KEY,
            engine_urls={"brave": first.url, "openalex": second.url, "crossref": "http://127.0.0.1:9"},
        )
        engines = engines_for(settings, RunConfig(engines=["brave", "openalex"], reuse=False))
        found = await engines.search(QUERY, limit=5)
        assert len(first.records) == 1
    uses = {use.engine: use.credit for use in engine_uses(found.costs)}
    assert uses == {"brave": "14523", "openalex": "0.979 USD"}


def test_the_table_stands_on_the_screen_and_on_the_page_of_a_round() -> None:
    costs = [
        Cost(call="1", role="search", model="tavily", usd=0.008, results=4, credit="850"),
        Cost(call="2", role="search", model="wikipedia", results=3),
        Cost(call="3", role="search", model="wikipedia", results=3, is_reused=True),
        Cost(call="4", role="plan", model="gpt", usd=0.1),
    ]
    done = RoundCompleted(round=1, claims=1, new_claims=1, engines=engine_uses(costs))
    *_, head, _, first, second = round_summary(done, Spent(usd=0.108, budget_usd=1))
    assert [cell.strip() for cell in head.strip("|").split("|")] == [
        "engine", "searches", "results", "USD", "credit left",
    ]  # fmt: skip
    assert [cell.strip() for cell in first.strip("|").split("|")] == ["tavily", "1", "4", "0.0080", "850"]
    assert [cell.strip() for cell in second.strip("|").split("|")] == [
        "wikipedia", "1", "6", "0.0000", "not told",
    ]  # fmt: skip
    page = round_page("How?", done, Spent(), KOREAN)
    assert page.count("\n| ") == 4
    assert "검색 엔진" in page
    nothing = RoundCompleted(round=1, claims=0, new_claims=0)
    assert not round_summary(nothing, Spent(), ENGLISH)[-1].startswith("|")
