"""Runs that bring a finished one up to date: only what changed is read, thought about and written again."""

from collections import Counter
from pathlib import Path

import pytest
from standins.documents import HANOK, TIDES, written
from standins.exa import KEY as EXA_KEY
from standins.exa import ExaServer
from standins.exa import result as exa_result
from standins.model import Model
from standins.web import Page, Web, html
from standins.working_model import form_of, researcher

from fathom import BadInput, DeepResearcher, ResearchRequest, ResearchResult
from fathom.evidence.claims import check_stored_quote
from fathom.report.verify import verify_report
from fathom.runs.executor import open_runs
from fathom.settings import Settings, load_settings
from fathom.storage import open_storage

QUESTION = "How much does tidal power cost?"


async def first(tmp_path: Path, question: str, documents: dict[str, str]) -> tuple[Settings, ResearchResult]:
    """A finished run over documents."""
    settings = load_settings(home=tmp_path)
    docs = written(tmp_path / "docs", documents)
    return settings, await DeepResearcher(settings).research(ResearchRequest(query=question, docs=[docs]))


def article(text: str) -> Page:
    title, *rest = text.split("\n\n")
    body = "".join(f"<p>{part}</p>" for part in rest)
    return html(f"<html><title>{title.strip('# ')}</title><body><article>{body}</article></body></html>")


def edit(tmp_path: Path, name: str, old: str, new: str) -> None:
    path = tmp_path / "docs" / name
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


def changes(result: ResearchResult) -> dict[str, list[str]]:
    """What changed, by kind."""
    assert result.update is not None
    found: dict[str, list[str]] = {}
    for change in result.update.changes:
        found.setdefault(change.kind, []).append(change.what)
    return found


def body(result: ResearchResult) -> str:
    """The report from its first section on."""
    return result.report[result.report.index(f"## {result.sections[0].title}") :]


async def assert_it_holds(result: ResearchResult, settings: Settings) -> None:
    kept = open_storage(settings.database).pages
    texts = {page.sha: await kept.get(page.sha) for page in result.sources}
    found = verify_report(
        result, lambda quote: check_stored_quote(quote, texts.get(quote.page)), result.report
    )
    assert found.is_sound, [found.faults, [s for s in found.sentences if s.standing != "supported"]]
    assert found.sentences


async def test_when_nothing_changed_the_body_is_the_same_and_that_is_said(tmp_path: Path) -> None:
    settings, old = await first(tmp_path, QUESTION, TIDES)
    new = await DeepResearcher(settings).update(old.run_id)
    assert new.run_id != old.run_id
    assert new.update is not None
    assert new.update.run == old.run_id
    assert set(changes(new)) == {"section untouched"}
    assert "Nothing: every page says what it said" in new.report
    assert body(new) == body(old)
    await assert_it_holds(new, settings)
    assert await DeepResearcher(settings).result(old.run_id) == old


async def test_a_changed_number_is_found_told_and_rewritten(tmp_path: Path) -> None:
    settings, old = await first(tmp_path, QUESTION, TIDES)
    assert "costs 41 euros" in old.report
    edit(tmp_path, "barrage.md", "41 euros", "57 euros")
    new = await DeepResearcher(settings).update(old.run_id[:8])
    found = changes(new)
    assert found["page changed"] == ["The barrage of Ouseport"]
    assert any("41 euros" in claim for claim in found["claim gone"])
    assert any("57 euros" in claim for claim in found["claim new"])
    assert found["section rewritten"]
    top = new.report[: new.report.index(f"## {new.sections[0].title}")]
    assert "## What changed since 20" in top
    assert "57 euros" in top
    assert "57 euros" in body(new)
    assert "41 euros" not in body(new)
    await assert_it_holds(new, settings)


async def test_a_page_that_is_gone_is_told_and_its_claims_stay(tmp_path: Path) -> None:
    settings, old = await first(tmp_path, QUESTION, TIDES)
    (tmp_path / "docs/barrage.md").unlink()
    new = await DeepResearcher(settings).update(old.run_id)
    assert changes(new)["page gone"] == ["The barrage of Ouseport"]
    assert "claim gone" not in changes(new)
    assert "costs 41 euros" in body(new)
    assert "could not be read again" in new.report
    await assert_it_holds(new, settings)
    again = await DeepResearcher(settings).update(new.run_id)
    assert changes(again)["page gone"] == ["The barrage of Ouseport"]
    assert "could not be read again" in again.report
    written(tmp_path / "docs", TIDES)
    back = await DeepResearcher(settings).update(again.run_id)
    assert changes(back)["page back"] == ["The barrage of Ouseport"]
    assert "could not be read again" not in back.report


async def test_a_new_page_is_found_by_the_earlier_queries(tmp_path: Path) -> None:
    settings, old = await first(tmp_path, QUESTION, {"lagoon.md": TIDES["lagoon.md"]})
    written(tmp_path / "docs", {"stream.md": TIDES["stream.md"]})
    new = await DeepResearcher(settings).update(old.run_id)
    assert changes(new)["page new"] == ["Turbines in the Pentle strait"]
    assert any("210 euros" in claim for claim in changes(new)["claim new"])
    assert "210 euros" in body(new)
    await assert_it_holds(new, settings)


async def test_a_page_that_was_found_and_not_read_then_is_not_new(tmp_path: Path) -> None:
    settings = load_settings(home=tmp_path)
    docs = written(tmp_path / "docs", TIDES)
    request = ResearchRequest(query=QUESTION, docs=[docs], max_sources=2, max_rounds=1)
    old = await DeepResearcher(settings).research(request)
    assert len(old.sources) == 2
    new = await DeepResearcher(settings).update(old.run_id)
    assert set(changes(new)) == {"section untouched"}
    assert body(new) == body(old)


async def test_a_korean_report_is_updated_in_korean(tmp_path: Path) -> None:
    settings, old = await first(tmp_path, "온돌은 어떻게 방을 따뜻하게 하나?", HANOK)
    edit(tmp_path, "ondol.md", "여덟 시간", "열두 시간")
    new = await DeepResearcher(settings).update(old.run_id)
    assert "이후 달라진 것" in new.report
    assert "- 바뀐 페이지: 온돌의 원리" in new.report
    assert "- 더는 없는 내용: " in new.report
    assert "열두 시간" in body(new)
    assert "여덟 시간" not in body(new)
    await assert_it_holds(new, settings)


async def test_when_every_source_says_something_else_nothing_is_claimed(tmp_path: Path) -> None:
    settings, old = await first(tmp_path, QUESTION, {"lagoon.md": TIDES["lagoon.md"]})
    (tmp_path / "docs/lagoon.md").write_text("# Closed\n\nA cheese ripens in a cool cellar.\n", "utf-8")
    new = await DeepResearcher(settings).update(old.run_id)
    assert (new.status, new.sections, new.citations) == ("failed", [], [])
    assert changes(new)["claim gone"]
    assert changes(new)["section gone"]
    assert "92 euros" in new.report


def forms(model: Model, since: int) -> Counter[str]:
    """What a model was asked for, after so many calls."""
    return Counter(form_of(request) for request in model.requests[since:])


async def test_a_model_is_asked_only_about_what_changed(tmp_path: Path) -> None:
    docs = written(tmp_path / "docs", TIDES)
    with Model(researcher) as model:
        settings = load_settings(home=tmp_path, base_url=model.base_url)
        request = ResearchRequest(query=QUESTION, docs=[docs], model="stand-in", max_rounds=1)
        old = await DeepResearcher(settings).research(request)
        assert [section.kind for section in old.sections] == ["summary", "body", "body"]
        before = len(model.calls)
        same = await DeepResearcher(settings).update(old.run_id)
        assert len(model.calls) == before
        assert (same.metadata.model_calls, same.metadata.cost_usd) == (0, 0.0)
        assert body(same) == body(old)
        edit(tmp_path, "lagoon.md", "320 megawatts", "330 megawatts")
        new = await DeepResearcher(settings).update(same.run_id)
        asked = forms(model, before)
    assert asked["write"] == 1
    assert asked["read"] == 1
    assert not {"plan", "outline"} & set(asked)
    assert asked["edit"] == 1  # the summary is of all parts
    assert asked.total() <= 8
    found = changes(new)
    assert len(found["section rewritten"]) == 2  # a part, and with it the summary
    assert len(found["section untouched"]) == 1
    kept = next(s for s in new.sections if s.title == found["section untouched"][0])
    assert kept in old.sections
    assert "330 megawatts" in body(new)
    assert "320 megawatts" not in body(new)
    await assert_it_holds(new, settings)


async def test_on_the_web_only_what_is_new_since_is_searched_and_every_page_is_asked_again(
    tmp_path: Path,
) -> None:
    with (
        Web({f"/{name[:-3]}": article(text) for name, text in TIDES.items()}) as web,
        ExaServer([exa_result(f"{web.url}/lagoon"), exa_result(f"{web.url}/barrage")]) as engine,
    ):
        settings = load_settings(
            home=tmp_path, exa_api_key=EXA_KEY, engine_urls={"exa": engine.url}, allow_private=True
        )
        request = ResearchRequest(query=QUESTION, providers=["exa"], max_rounds=1)
        old = await DeepResearcher(settings).research(request)
        asked = len(engine.records)
        assert not any("startPublishedDate" in seen.json for seen in engine.records)
        web.pages["/lagoon"] = article(TIDES["lagoon.md"].replace("92 euros", "97 euros"))
        del web.pages["/barrage"]
        engine.results.append(exa_result(f"{web.url}/stream"))
        new = await DeepResearcher(settings).update(old.run_id)
        again = engine.records[asked:]
    assert {seen.json["query"] for seen in again} == {query.text for query in old.asked}
    assert all(seen.json["startPublishedDate"][:10] == new.update.since for seen in again if new.update)
    found = changes(new)
    assert found["page changed"] == ["The lagoon at Swale"]
    assert found["page gone"] == ["The barrage of Ouseport"]
    assert found["page new"] == ["Turbines in the Pentle strait"]
    assert "97 euros" in body(new)
    assert "costs 41 euros" in body(new)
    await assert_it_holds(new, settings)


async def test_an_update_that_stopped_goes_on_where_it_stood(tmp_path: Path) -> None:
    settings, old = await first(tmp_path, QUESTION, TIDES)
    edit(tmp_path, "barrage.md", "41 euros", "57 euros")
    async with open_runs(settings) as runs:
        run_id, start = await runs.update(old.run_id)
        events = runs.work(run_id, start)
        async for event in events:
            if event.kind == "search completed":
                break
        await events.aclose()
    new = await DeepResearcher(settings).resume(run_id)
    assert any("57 euros" in claim for claim in changes(new)["claim new"])
    await assert_it_holds(new, settings)


async def test_a_run_that_has_not_ended_cannot_be_updated(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no run whose id"):
        await DeepResearcher(load_settings(home=tmp_path)).update("12345678")
