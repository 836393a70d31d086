"""Audits over the page: what comes of a report, what nobody may have read, and a visit in a real browser."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import expect
from standins.browser import IS_THERE, WHY_NOT, PageServer
from standins.web import Web, html
from web.conftest import Visitor
from web.test_flow import LONG_MS, look, words

from fathom.audit import VERDICTS, AuditResult
from fathom.settings import load_settings
from fathom.web.app import make_page_app

HOSTILE = '<img src="//evil.example/x.png" onerror="window.hit=1">'
SOURCE = "The tower at Merrow is 48 metres high. It was built by the county in 1901. Tarn drew the plans."
REPORT = f"""# The tower at Merrow {HOSTILE}

The tower at Merrow is 48 metres high [1]. It was built by the county in 1931 [1].

The harbour nearby was dredged by 12 ships in 1950 [1]. The lamp cost 2 million crowns in 1975 [2].

- The keeper, {HOSTILE}, retired in 1988.

## Sources

[1] merrow.md
[2] file:///etc/passwd
"""
SECRET = "The vault at Osby holds 77 bars of gold, counted in 1999."


@pytest.fixture
async def client(tmp_path: Path, shelf: Path) -> AsyncIterator[httpx.AsyncClient]:
    (shelf / "merrow.md").write_text(f"# Merrow\n\n{SOURCE}\n")
    settings = load_settings(
        home=tmp_path / "home",
        docs_roots=[shelf],
        local_servers={},
        ceilings={"budget_usd": 1},
        runs_per_minute=100,
    )
    transport = httpx.ASGITransport(app=make_page_app(settings))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8321") as made:
        yield made


async def ended(client: httpx.AsyncClient, asked: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Begin an audit, and wait until nobody works on it."""
    answer = await client.post("/api/audits", json=asked)
    assert answer.status_code == 200, answer.text
    name = answer.json()["id"]
    for _ in range(600):
        told = (await client.get(f"/api/audits/{name}?language=ko")).json()
        if not told["is_working"]:
            return name, told
        await asyncio.sleep(0.1)
    raise AssertionError("the audit did not end")


def verdicts(told: dict[str, Any]) -> dict[str, str]:
    texts = {one["id"]: one["text"] for one in told["result"]["statements"]}
    return {texts[one["statement"]]: one["verdict"] for one in told["result"]["verdicts"]}


@pytest.mark.whole
async def test_a_pasted_report_is_forecast_audited_kept_and_exported(
    client: httpx.AsyncClient, shelf: Path, tmp_path: Path
) -> None:
    asked = {"text": REPORT, "config": {"docs": [str(shelf)]}}
    price = (await client.post("/api/audits/forecast", json=asked)).json()
    assert price["calls"] == 0
    assert not (tmp_path / "home" / "audits").exists()
    name, told = await ended(client, asked)
    assert told["problem"] == ""
    assert told["last"]["kind"] == "completed"
    found = verdicts(told)
    assert found["The tower at Merrow is 48 metres high."] == "supported"
    assert found["It was built by the county in 1931."] == "contradicted"
    assert found["The lamp cost 2 million crowns in 1975."] == "source unreachable"
    assert sum(told["counts"].values()) == len(found)
    assert told["summary"][0].startswith("진술")
    saved = await client.get(f"/api/audits/{name}/export/json")
    assert AuditResult.model_validate_json(saved.text).counts == told["counts"]
    page = await client.get(f"/api/audits/{name}/export/html")
    assert page.headers["content-disposition"].startswith("attachment")
    assert "<img" not in page.text
    assert (await client.get(f"/api/audits/{name}/export/exe")).status_code == 400
    other = load_settings(home=tmp_path / "home", docs_roots=[shelf], local_servers={})
    transport = httpx.ASGITransport(app=make_page_app(other))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8321") as later:
        again = (await later.get(f"/api/audits/{name}")).json()
    assert again["result"] == told["result"]


@pytest.mark.whole
async def test_an_uploaded_file_is_audited(client: httpx.AsyncClient, shelf: Path) -> None:
    octets = {"content-type": "application/octet-stream"}
    kept = (await client.put("/api/uploads?name=r.html", content=f"<p>{SECRET}</p>", headers=octets)).json()
    _, told = await ended(client, {"report": f"{kept['path']}/{kept['name']}"})
    assert list(verdicts(told).values()) == ["uncited"]


@pytest.mark.whole
async def test_no_file_outside_the_folders_is_read(
    client: httpx.AsyncClient, shelf: Path, tmp_path: Path
) -> None:
    secret = tmp_path / "secret.md"
    secret.write_text(SECRET)
    (shelf / "link.md").symlink_to(secret)
    places = [
        "/etc/passwd", "file:///etc/passwd", "-", "~/.bashrc", str(secret), str(shelf / ".." / "secret.md"),
        str(shelf / "link.md"), secret.as_uri(), "ftp://127.0.0.1/x", "a\0b", "http://[",
    ]  # fmt: skip
    for place in places:
        for path in ("/api/audits/forecast", "/api/audits"):
            answer = await client.post(path, json={"report": place})
            assert answer.status_code == 400, (place, answer.text)
            assert answer.json()["code"] == "bad_input"
            assert "vault" not in answer.text
    for config in (
        {"docs": ["/etc"]},
        {"docs": [str(tmp_path)]},
        {"base_url": "http://x"},
        {"budget_usd": 50},
    ):
        answer = await client.post("/api/audits/forecast", json={"text": REPORT, "config": config})
        assert answer.status_code == 400, config


@pytest.mark.whole
async def test_no_private_address_is_asked(client: httpx.AsyncClient) -> None:
    """Neither for the report itself nor for what a report cites, however the address is written."""
    with Web({"/secret": html(f"<article><p>{SECRET}</p></article>")}) as inside:
        port = inside.url.rpartition(":")[2].strip("/")
        hosts = ["127.0.0.1", "localhost", "[::1]", "2130706433", "127.1", "[::ffff:127.0.0.1]", "0.0.0.0"]
        addresses = [f"http://{host}:{port}/secret" for host in hosts]
        for address in addresses:
            answer = await client.post("/api/audits/forecast", json={"report": address})
            assert answer.status_code == 400, (address, answer.text)
            assert "vault" not in answer.text
        _, told = await ended(client, {"report": addresses[0]})
        assert told["problem"]
        assert told["result"] is None
        cites = "\n\n".join(
            f"Vault {n} at Osby holds 77 bars ([source]({one}))." for n, one in enumerate(addresses)
        )
        _, told = await ended(client, {"text": cites})
        assert list(verdicts(told).values()) == ["source unreachable"] * len(addresses)
        assert "gold" not in json.dumps(told)
        assert inside.records == []


@pytest.mark.whole
@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({}, "the text of a report, or its address"),
        ({"text": "  "}, "the text of a report, or its address"),
        ({"text": 7}, "the text of a report, or its address"),
        ({"text": "a", "report": "b"}, "the text of a report, or its address"),
        ({"text": "#"}, "no statements"),
        ({"text": "It is so.", "config": []}, "is an object"),
    ],
)
async def test_what_is_no_report_is_refused(client: httpx.AsyncClient, body: Any, words: str) -> None:
    answer = await client.post("/api/audits/forecast", json=body)
    assert (answer.status_code, words in answer.text) == (400, True), answer.text


@pytest.mark.whole
async def test_an_audit_that_is_not_there(client: httpx.AsyncClient) -> None:
    for name in ("0" * 12, "x", "..%2f..%2fetc"):
        assert (await client.get(f"/api/audits/{name}")).status_code == 404
    assert (await client.get(f"/api/audits/{'0' * 12}/export/html")).status_code == 404
    assert (await client.post(f"/api/audits/{'0' * 12}/stop")).status_code == 400


@pytest.mark.browser
@pytest.mark.skipif(not IS_THERE, reason=WHY_NOT)
@pytest.mark.parametrize(
    ("language", "width", "scheme"), [("en-GB", 1440, "light"), ("ko-KR", 390, "dark")], ids=["wide", "phone"]
)
def test_a_visit_from_the_report_to_the_quote(
    server: PageServer, shelf: Path, visitor: Visitor, language: str, width: int, scheme: str
) -> None:
    (shelf / "merrow.md").write_text(f"# Merrow {HOSTILE}\n\n{SOURCE}\n")
    visit, t = visitor(language, width, color_scheme=scheme), words(language)
    page = visit.page
    page.goto(f"{server.url}#/audit")
    page.get_by_label(t["audit.text"]).fill(REPORT)
    page.locator("details.more summary").first.click()
    page.locator(".documents button").first.click()
    page.locator(".folder ul button").first.click()
    page.locator(".folder .primary").click()
    look(page)
    page.get_by_role("button", name=t["audit.look"]).click()
    expect(page.locator(".forecast")).to_be_focused()
    look(page)
    page.get_by_label(t["audit.search"]).focus()
    page.keyboard.press("Space")
    expect(page.locator(".forecast")).to_be_hidden()  # what was told does not hold any longer
    page.keyboard.press("Space")
    page.get_by_role("button", name=t["audit.look"]).click()
    page.get_by_role("button", name=t["audit.start"]).click()
    expect(page.locator(".audit-summary")).to_be_visible(timeout=LONG_MS)
    statement = page.locator("details.verdict", has_text="1931")
    name = statement.locator(".tag").inner_text()
    assert name in {t[f"verdict.{one}"] for one in VERDICTS}
    statement.locator("summary").focus()
    page.keyboard.press("Enter")
    expect(statement.locator("blockquote").first).to_contain_text("1901")
    page.locator(".legend button").first.click()
    look(page)
    for kind in ("HTML", "JSON"):
        with page.expect_download() as saved:
            page.get_by_role("link", name=t["audit.export"].replace("{kind}", kind)).click()
        assert saved.value.path().stat().st_size > 500
    page.reload()
    expect(page.locator(".audit-summary")).to_be_visible()
    assert page.evaluate("window.hit") is None
    assert page.locator("main script, main img, a[href^=file]").count() == 0
    assert not [url for url in visit.asked if not url.startswith(server.url)]
    assert visit.errors == []
