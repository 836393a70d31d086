"""Whole visits in a real browser: ask, edit the plan, watch, steer, read, open a citation, ask on, export."""

import json
import re
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect
from standins.browser import IS_THERE, WHY_NOT, PageServer
from standins.documents import KOREAN_QUESTION, QUESTION
from web.conftest import Gate, Visitor

pytestmark = [pytest.mark.browser, pytest.mark.skipif(not IS_THERE, reason=WHY_NOT)]
TEXTS = Path(__file__).parents[2] / "src" / "fathom" / "web" / "static" / "texts"
BOTH = pytest.mark.parametrize(
    ("language", "width", "question", "changed", "added", "steered", "later"),
    [
        (
            "en-GB", 1440, QUESTION, "tidal barrage capacity", "offshore wind capacity factor",
            "what silts up a tidal barrage", "What limits a tidal barrage?",
        ),
        (
            "ko-KR", 390, KOREAN_QUESTION, "조력 발전소 밀물 썰물", "조력 발전소 발전량",
            "조력 발전소 댐 흙", "조력 발전소의 문제는 무엇인가요?",
        ),
    ],
    ids=["English wide", "Korean phone"],
)  # fmt: skip
LONG_MS = 60_000


def words(language: str) -> dict[str, str]:
    return dict(json.loads((TEXTS / f"{language[:2]}.json").read_text("utf-8")))


def look(page: Page) -> None:
    """No rule of accessibility is broken here, and nothing is wider than the window."""
    page.wait_for_timeout(200)
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


def ask(page: Page, url: str, question: str) -> None:
    page.goto(url)
    page.locator("textarea[name=query]").fill(question)
    page.get_by_role("radio").nth(3).check()
    page.locator(".documents button").first.click()
    page.locator(".folder ul button").first.click()
    page.locator(".folder .primary").click()
    page.locator("form.ask button[type=submit]").click()
    expect(page.locator(".plan .editable").first).to_be_visible(timeout=LONG_MS)


@BOTH
def test_a_visit_from_the_question_to_the_export(
    server: PageServer,
    gate: Gate,
    visitor: Visitor,
    language: str,
    width: int,
    question: str,
    changed: str,
    added: str,
    steered: str,
    later: str,
) -> None:
    visit = visitor(language, width)
    page, t = visit.page, words(language)
    page.goto(server.url)
    expect(page.get_by_role("heading", level=1)).to_have_text(t["ask.title"])
    expect(page.locator(".price")).to_contain_text("·", timeout=LONG_MS)
    look(page)

    ask(page, server.url, question)
    look(page)
    searches = page.locator(".list").nth(1)
    searches.locator("button.remove").last.click()
    searches.locator("textarea").first.fill(changed)
    searches.get_by_role("button", name=t["plan.down"]).first.click()
    searches.locator(":scope > button").click()
    searches.locator("textarea").last.fill(added)
    sent = [box.input_value() for box in searches.locator("textarea").all()]
    page.locator(".plan button.primary").click()

    assert gate.reached.wait(60)
    expect(page.locator(".pages li").first).to_be_visible()
    count = page.locator(".pages li").count()
    expect(page.locator(".graph .now")).to_have_attribute("data-node", "reading")
    for query in sent:
        expect(page.locator(".searches")).to_contain_text(query)
    look(page)
    page.locator(".steer input").fill(steered)
    page.locator(".steer form button").click()
    expect(page.locator(".steer")).to_contain_text(t["steer.added"])

    page.reload()  # in the middle of the work
    expect(page.locator(".pages li")).to_have_count(count)
    server.kill()
    expect(page.locator(".standing")).to_contain_text(t["run.unlinked"])
    server.start()
    expect(page.locator(".notice")).to_contain_text(t["run.stopped"])
    expect(page.locator(".pages li")).to_have_count(count)
    gate.opened.set()
    page.get_by_role("button", name=t["run.go_on"]).click()

    expect(page.locator(".go-on")).to_be_visible(timeout=LONG_MS)
    look(page)
    asked = page.evaluate("id => fetch(`api/runs/${id}/result`).then(answer => answer.json())", run_of(page))
    texts = [query["text"] for query in asked["asked"]]
    assert {*sent, steered} <= set(texts)
    cite = page.locator("button.cite").first
    cite.focus()
    page.keyboard.press("Enter")
    expect(page.locator("dialog mark").first).to_be_visible()
    expect(page.locator("dialog .around").first).to_be_attached()
    quote = page.locator("dialog mark").first.inner_text()
    assert any(quote in claim["quotes"][0]["text"] for claim in asked["claims"])
    look(page)
    page.keyboard.press("Escape")
    expect(cite).to_be_focused()

    for kind, start in {"md": "# ", "json": "{", "html": "<!doctype html>", "bib": "@"}.items():
        with page.expect_download() as got:
            page.locator(f"a[href$='/export/{kind}']").click()
        assert Path(got.value.path()).read_text("utf-8").startswith(start)
        assert got.value.suggested_filename.endswith(kind)

    first = run_of(page)
    page.locator(".follow textarea").fill(later)
    page.locator(".follow button").click()
    page.wait_for_url(lambda url: run_in(url) not in ("", first))
    if page.locator(".plan").is_visible():
        page.locator(".plan button.primary").click()
    expect(page.locator(".report, .plan").first).to_be_visible(timeout=LONG_MS)
    if page.locator(".plan").is_visible():
        page.locator(".plan button.primary").click()
    expect(page.locator(".thread li")).to_have_count(2, timeout=LONG_MS)

    page.goto(f"{server.url}#/history")
    expect(page.locator(".history li")).to_have_count(2)
    page.get_by_role("searchbox").fill("no such words")
    expect(page.locator(".history .empty")).to_be_visible()
    page.get_by_role("searchbox").fill("")
    expect(page.locator(".history li input")).to_have_count(2)
    for box in page.locator(".history li input").all():
        box.check()
    look(page)
    page.get_by_role("link", name=t["history.compare"]).click()
    expect(page.locator("table.compare tbody tr").first).to_be_visible()
    look(page)
    assert visit.errors == []
    assert {re.sub(r"^(\w+://[^/]*).*", r"\1", url) for url in visit.asked} == {server.url.rstrip("/")}


def run_in(url: str) -> str:
    found = re.search(r"#/run/([\w-]+)", url)
    return found[1] if found else ""


def run_of(page: Page) -> str:
    return run_in(page.url)


def test_two_windows_pause_stop_and_go_another_way(server: PageServer, gate: Gate, visitor: Visitor) -> None:
    visit = visitor(color_scheme="dark")
    page, t = visit.page, words("en")
    ask(page, server.url, QUESTION)
    page.get_by_label(t["plan.feedback"]).fill("Ask about silt as well")
    page.get_by_role("button", name=t["plan.again"]).click()
    expect(page.locator(".plan .editable").first).to_be_visible(timeout=LONG_MS)
    page.locator(".plan button.primary").click()
    assert gate.reached.wait(60)
    other = page.context.new_page()
    other.goto(page.url)
    expect(other.locator(".pages li")).to_have_count(2)
    other.get_by_role("button", name=t["steer.pause"]).click()
    expect(other.locator(".steer")).to_contain_text(t["steer.pausing"])
    gate.opened.set()
    for window in (page, other):
        expect(window.locator(".notice")).to_contain_text(t["run.paused"], timeout=LONG_MS)
    look(page)
    page.locator(".notice").get_by_role("button", name=t["plan.finish"]).click()
    for window in (page, other):
        expect(window.locator(".go-on")).to_be_visible(timeout=LONG_MS)
    look(page)
    page.get_by_label(t["go.fork.direction"]).fill("Who built the barrage at Grey Sound?")
    first = run_of(page)
    page.get_by_role("button", name=t["go.fork.send"]).click()
    page.wait_for_url(lambda url: run_in(url) not in ("", first))
    expect(page.locator(".plan .editable, .go-on").first).to_be_visible(timeout=LONG_MS)
    assert visit.errors == []
    assert "Traceback" not in server.log


def test_it_is_light_and_paints_at_once(server: PageServer, visitor: Visitor) -> None:
    visit = visitor()
    page = visit.page
    page.goto(server.url)
    expect(page.locator(".examples li").first).to_be_visible()
    entries = page.evaluate(
        "[...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]"
        ".map(one => one.transferSize)"
    )
    page.wait_for_function("performance.getEntriesByName('first-contentful-paint').length")
    paint_ms = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    weight = f"{sum(entries) / 1000:.0f} kB in {len(entries)} requests"
    print(f"\npage weight {weight}, first paint {paint_ms:.0f} ms")
    assert sum(entries) < 150_000
    assert paint_ms < 1000


def test_the_keyboard_alone_asks_and_moves_a_row(server: PageServer, gate: Gate, visitor: Visitor) -> None:
    page = visitor().page
    t = words("en")
    gate.opened.set()
    page.goto(server.url)
    expect(page.locator(".examples button").first).to_be_visible()
    page.locator(".examples button").first.focus()
    page.keyboard.press("Enter")
    expect(page.locator("textarea[name=query]")).to_be_focused()
    page.keyboard.press("Control+Enter")
    expect(page.locator(".plan .editable").first).to_be_visible(timeout=LONG_MS)
    first = page.locator(".list").nth(1).locator("textarea").first
    text = first.input_value()
    page.locator(".list").nth(1).get_by_role("button", name=t["plan.down"]).first.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".list").nth(1).locator("textarea").nth(1)).to_have_value(text)
    expect(page.locator("#say")).to_have_text(t["say.moved"].replace("{n}", "2"))


def test_a_server_that_is_told_to_end_ends(server: PageServer, gate: Gate, visitor: Visitor) -> None:
    page = visitor().page
    ask(page, server.url, QUESTION)
    page.locator(".plan button.primary").click()
    assert gate.reached.wait(60)
    server.stop()
    assert "Traceback" not in server.log


def test_an_uploaded_file_is_asked_and_an_update_shows_what_changed(
    server: PageServer, shelf: Path, gate: Gate, visitor: Visitor, tmp_path: Path
) -> None:
    gate.opened.set()
    visit = visitor()
    page, t = visit.page, words("en")
    page.goto(server.url)
    page.locator("textarea[name=query]").fill(QUESTION)
    page.get_by_role("radio").nth(3).check()
    page.locator("input[type=file]").set_input_files([shelf / "tides.md", shelf / "wind.md"])
    expect(page.locator(".tokens li")).to_have_count(1)
    page.locator("select[name=review]").select_option("off")
    page.locator("form.ask button[type=submit]").click()
    expect(page.locator(".sources ol li").first).to_be_visible(timeout=LONG_MS)
    kept = next((tmp_path / "home" / "uploads").rglob("wind.md"))
    kept.write_text(kept.read_text("utf-8").replace("45 percent", "51 percent"), "utf-8")
    first = run_of(page)
    page.get_by_role("button", name=t["go.update.send"]).click()
    page.wait_for_url(lambda url: run_in(url) not in ("", first))
    expect(page.locator(".changes")).to_contain_text(t["change.page changed"], timeout=LONG_MS)
    expect(page.locator(".part.changed").first).to_be_visible()
    look(page)
    assert visit.errors == []


def test_the_report_is_read_while_it_grows(server: PageServer, gate: Gate, visitor: Visitor) -> None:
    gate.form = "check"
    visit = visitor()
    page, t = visit.page, words("en")
    ask(page, server.url, QUESTION)
    page.locator(".plan button.primary").click()
    assert gate.reached.wait(60)
    page.locator(".tabs a").nth(2).click()
    draft = page.locator(".report section.draft").first
    expect(draft).to_contain_text(t["read.unchecked"])
    expect(draft).to_contain_text("It is reported")
    look(page)
    gate.opened.set()
    expect(page.locator(".go-on")).to_be_visible(timeout=LONG_MS)
    expect(page.locator(".cite").first).to_be_visible()
    assert visit.errors == []
