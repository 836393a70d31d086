"""A report with everything a report can have, in a real browser; and pages that try to be more than text."""

import json
from pathlib import Path
from typing import Any

import pytest
from fakes.full_reports import KOREAN, full_result
from playwright.sync_api import Page, Route, expect
from standins.browser import IS_THERE, WHY_NOT, PageServer
from standins.documents import QUESTION
from web.conftest import Gate, Visitor
from web.test_flow import look, words

from fathom.report.rerender import prepare_any
from fathom.web.run_requests import describe_result

pytestmark = [pytest.mark.browser, pytest.mark.skipif(not IS_THERE, reason=WHY_NOT)]
HOSTILE = '<img src="//evil.example/x.png" onerror="window.hit=1"><script>window.hit=1</script>'


def shown(page: Page, server: PageServer, result: dict[str, Any]) -> None:
    """The page on a run whose result is this one."""
    line = {
        "id": result["run_id"], "status": result["status"], "question": result["question"],
        "has_events": False, "is_here": False, "problem": "", "config": {}, "waits_for": None,
        "started": "2026-01-01T00:00:00Z",
        "cost_usd": 0, "rounds": 2, "updates": "", "follows": "", "forks": "",
    }  # fmt: skip

    def answer(route: Route) -> None:
        path = route.request.url.partition("/api/runs/")[2]
        if path.endswith("/result"):
            route.fulfill(json=result)
        elif "/passage" in path:
            route.fulfill(
                json={"before": HOSTILE, "quote": HOSTILE, "after": "end", "title": "", "address": ""}
            )
        elif path.endswith("/thread"):
            route.fulfill(json=[])
        else:
            route.fulfill(json=line)

    page.route("**/api/runs/**", answer)
    page.goto(f"{server.url}#/run/{result['run_id']}/read")
    expect(page.locator(".report-title")).to_be_visible()


@pytest.mark.parametrize(
    ("language", "given", "width", "scheme"),
    [("en-GB", {}, 1440, "light"), ("ko-KR", KOREAN, 390, "dark")],
    ids=["English", "Korean"],
)
def test_everything_a_report_has_is_shown(
    server: PageServer, visitor: Visitor, language: str, given: dict[str, Any], width: int, scheme: str
) -> None:
    result = full_result(**given)
    page, t = visitor(language, width, color_scheme=scheme).page, words(language)
    shown(page, server, describe_result(result))
    report = page.locator(".report")
    for section in result.sections:
        expect(report).to_contain_text(section.title)
    signed = prepare_any(result)
    noted = report.locator(".inference").filter(has_text=t["read.inference.note"])
    expect(noted).to_have_count(sum(map(signed.is_inference_at, signed.sentences)))
    expect(report.locator(".table table").first).to_be_visible()
    dispute = result.contradictions[0]
    rows = report.locator("#disputes tbody tr")
    expect(rows).to_have_count(sum(len(one.sides) for one in result.contradictions))
    claims = {claim.id: claim for claim in result.claims}
    for side in dispute.sides:
        expect(report.locator("#disputes")).to_contain_text(claims[side.claims[0]].quotes[0].text)
    expect(report.locator(".sources ol li")).to_have_count(len(result.citations))
    look(page)
    calculated = next(s for part in result.sections for s in part.sentences if s.calculation)
    report.locator(".sentence", has_text=calculated.text[:30]).first.locator(".cite").first.click()
    expect(page.locator("dialog")).to_contain_text(
        str(calculated.calculation and calculated.calculation.result)
    )
    look(page)
    page.keyboard.press("Escape")
    page.emulate_media(media="print")
    expect(page.locator(".go-on")).to_be_hidden()
    expect(page.locator(".top")).to_be_hidden()
    expect(report).to_be_visible()


def test_what_sources_say_stays_text(server: PageServer, visitor: Visitor) -> None:
    told = full_result().model_dump_json()
    result = json.loads(told)
    for citation in result["citations"]:
        citation |= {"title": HOSTILE, "address": "javascript:window.hit=1", "publisher": HOSTILE}
    for claim in result["claims"]:
        claim["statement"] = HOSTILE
    for section in result["sections"]:
        section["title"] = HOSTILE
        for sentence in section["sentences"]:
            sentence["text"] = HOSTILE
    result["rejected"] = [
        {"page": "", "count": 1, "why": HOSTILE, "section": "", "statement": HOSTILE, "reason": HOSTILE}
    ]
    result["question"] = HOSTILE
    visit = visitor()
    shown(visit.page, server, result)
    visit.page.locator(".cite").first.click()
    expect(visit.page.locator("dialog mark").first).to_have_text(HOSTILE)
    visit.page.wait_for_timeout(300)
    assert visit.page.evaluate("window.hit") is None
    assert visit.page.locator("main script, main img").count() == 0
    assert visit.page.locator("a[href^=javascript]").count() == 0
    assert not [url for url in visit.asked if not url.startswith(server.url)]


def test_a_document_that_tries_script_is_shown_as_it_is(
    server: PageServer, shelf: Path, gate: Gate, visitor: Visitor
) -> None:
    """The same through the whole machine: title, quote and events of a real run."""
    gate.opened.set()
    words = f"A tidal barrage named {HOSTILE} has a capacity of 77 megawatts and was opened in 2019."
    (shelf / "<img src=x onerror=window.hit=1>.txt").write_text(f"{HOSTILE}\n\n{words}\n")
    visit = visitor()
    page = visit.page
    answer = page.request.post(
        f"{server.url}api/runs", data={"query": QUESTION, "config": {"docs": [str(shelf)], "rounds": 1}}
    )
    page.goto(f"{server.url}#/run/{answer.json()['id']}/watch")
    expect(page.locator(".go-on")).to_be_visible(timeout=60_000)
    page.locator(".tabs a").nth(1).click()
    expect(page.locator(".pages")).to_contain_text("<img src=")
    assert page.evaluate("window.hit") is None
    assert page.locator("main script, main img").count() == 0
    assert not [url for url in visit.asked if not url.startswith(server.url)]
    assert visit.errors == []
