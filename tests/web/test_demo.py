"""The demo, the history's tags and batches in a real browser, in both languages and widths."""

import time
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from standins.browser import IS_THERE, WHY_NOT, PageServer
from web.conftest import Gate, Visitor
from web.test_flow import LONG_MS, ask, look, words

pytestmark = [pytest.mark.browser, pytest.mark.skipif(not IS_THERE, reason=WHY_NOT)]
BOTH = pytest.mark.parametrize(("language", "width"), [("en-GB", 1440), ("ko-KR", 390)])
HOSTILE = "<img src=x onerror=window.hit=1>"


@BOTH
def test_the_demo_grows_into_a_whole_report(
    server: PageServer, visitor: Visitor, language: str, width: int
) -> None:
    """The server has a model; the demo asks it nothing."""
    visit = visitor(language, width)
    page, t = visit.page, words(language)
    page.goto(server.url)
    page.get_by_role("button", name=t["demo.send"]).click()
    began = time.monotonic()
    expect(page.locator(".recorded")).to_contain_text(t["demo.note"])
    expect(page.locator(".pages li").first).to_be_visible()
    look(page)
    expect(page.locator(".report section").first).to_be_visible(timeout=LONG_MS)
    expect(page.locator(".go-on")).to_be_visible(timeout=LONG_MS)
    print(f"\nthe demo in {language}: {time.monotonic() - began:.1f} s")
    report = page.locator(".report")
    for place in (".part.summary", "table", ".inference", ".disputes", ".cite", ".refused", ".sources"):
        expect(report.locator(place).first).to_be_attached()
    expect(report.locator(".chart img")).to_have_count(2)
    for picture in report.locator(".chart img").all():
        expect(picture).to_have_js_property("complete", True)
        assert picture.evaluate("image => image.naturalWidth") > 0
    look(page)
    report.locator(".chart figcaption .cite").first.click()
    expect(page.locator("dialog mark").first).to_be_visible()
    page.keyboard.press("Escape")
    page.locator(".tabs a").nth(1).click()
    expect(page.locator(".ideas li")).to_have_count(3)
    look(page)
    assert visit.errors == []
    assert all(url.startswith(server.url) for url in visit.asked)


def test_tags_are_put_on_found_by_and_taken_off(server: PageServer, gate: Gate, visitor: Visitor) -> None:
    gate.opened.set()
    visit = visitor()
    page, t = visit.page, words("en")
    for _ in range(2):
        page.request.post(f"{server.url}api/demo", data={"language": "en"})
    page.goto(f"{server.url}#/history")
    page.reload()
    expect(page.locator(".history li")).to_have_count(2, timeout=LONG_MS)
    page.locator(".add-tag").first.click()
    page.get_by_label(t["tags.add"], exact=True).fill(HOSTILE)
    page.keyboard.press("Enter")
    expect(page.locator(".chosen-tag")).to_contain_text(HOSTILE[:-1])
    page.get_by_role("searchbox").fill("#<img")
    expect(page.locator(".history li")).to_have_count(1)
    look(page)
    page.reload()
    expect(page.locator(".chosen-tag")).to_have_count(1)
    page.locator(".chosen-tag button").last.click()
    expect(page.locator(".chosen-tag")).to_have_count(0)
    assert page.evaluate("window.hit") is None
    assert visit.errors == []


def begin_batch(page: Page, server: PageServer, questions: str) -> None:
    page.goto(server.url)
    page.locator("textarea[name=query]").fill(questions)
    page.get_by_role("radio").nth(3).check()
    page.locator(".documents button").first.click()
    page.locator(".folder ul button").first.click()
    page.locator(".folder .primary").click()
    page.locator("details.more summary").click()
    page.locator("input[name=several]").check()
    look(page)
    page.locator("form.ask button[type=submit]").click()


def test_a_batch_has_a_table_survives_a_kill_and_goes_on(
    server: PageServer, gate: Gate, visitor: Visitor
) -> None:
    visit = visitor()
    page, t = visit.page, words("en")
    begin_batch(page, server, "What limits a tidal barrage?\n\nWhere does wind power work best?")
    rows = page.locator(".batch tbody tr")
    expect(rows).to_have_count(2, timeout=LONG_MS)
    assert gate.reached.wait(60)
    expect(page.locator(".batch .pill.running").first).to_be_visible(timeout=LONG_MS)
    look(page)
    server.kill()
    server.start()
    page.reload()
    gate.opened.set()
    page.get_by_role("button", name=t["run.go_on"]).click()
    expect(page.locator(".standing")).to_contain_text("2 of 2", timeout=LONG_MS)
    look(page)
    page.goto(f"{server.url}#/history")
    expect(page.locator(".batches li")).to_have_count(1)
    page.locator(".batches a").click()
    rows.first.locator("a").click()
    expect(page.locator(".go-on")).to_be_visible(timeout=LONG_MS)
    assert visit.errors == []


def test_pages_show_as_they_are_read_while_a_slow_model_thinks(
    server: PageServer, gate: Gate, visitor: Visitor, shelf: Path
) -> None:
    assert list(shelf.glob("*.md"))
    page, t = visitor().page, words("en")
    ask(page, server.url, "How much does tidal power cost?")
    page.locator(".plan button.primary").click()
    assert gate.reached.wait(60)  # the model is asked about the first page, and does not answer
    expect(page.locator(".pages li.analysed .hint").first).to_have_text(t["page.analysed"])
    expect(page.locator(".log")).to_contain_text("Read ")
    gate.opened.set()
