"""Checking a report again against the pages as they are today: on the web, and in folders."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from fakes.ledgers import SEA, ledger, result
from standins.commandline import Fathom
from standins.server import closed_port
from standins.web import Page, Web, html

from fathom.evidence.claims import QuoteStatus
from fathom.http.fetch import Fetcher
from fathom.reading.readers import CachedReader, PageCache
from fathom.report.verify import cited_quotes
from fathom.runs.verify import live_fates
from fathom.storage import open_storage

DAM_PAGE = "<h1>댐</h1><p>조력 발전소의 설비 용량은 254메가와트이다. 공사는 2011년에 끝났다.</p>"


def article(text: str) -> Page:
    return html(f"<html><title>Sea</title><article><h1>Sea</h1><p>{text}</p></article></html>")


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Iterator[Web]:
    """Both pages of the report on a server, as they were read."""
    monkeypatch.setenv("FATHOM_ALLOW_PRIVATE", "true")
    with Web({"/sea": article(SEA), "/dam": html(DAM_PAGE)}) as served:
        yield served


def written(work: Path, url: str) -> str:
    """A report whose pages are at these addresses; nothing of it is in the database."""
    places = [f"{url}/sea", f"{url}/dam"]
    pages = [p.model_copy(update={"address": a}) for p, a in zip(result().sources, places, strict=True)]
    (work / "report.json").write_text(result(pages=pages).model_dump_json(), "utf-8")
    return "report.json"


def standings(fathom: Fathom, name: str) -> list[str]:
    found = fathom("verify", name, "--online", "--json")
    return [sentence["standing"] for sentence in json.loads(found.out)["sentences"]]


def test_pages_that_still_say_so_support_a_report_without_a_database(
    fathom: Fathom, work: Path, web: Web
) -> None:
    name = written(work, web.url)
    assert fathom("verify", name).code == 5
    found = fathom("verify", name, "--online")
    assert (found.code, found.out.splitlines()[-1]) == (0, "3 sentences: 3 supported, 0 changed, 0 gone.")


def test_a_changed_digit_a_lost_page_and_a_moved_page_are_told_apart(
    fathom: Fathom, work: Path, web: Web
) -> None:
    name = written(work, web.url)
    web.pages["/sea"] = article(SEA.replace("240", "260"))
    web.pages["/dam"] = (301, {"location": "/new"}, b"", 0.0)
    web.pages["/new"] = html(DAM_PAGE)
    found = fathom("verify", name, "--online")
    assert (found.code, found.out.splitlines()[-1]) == (5, "3 sentences: 2 supported, 1 changed, 0 gone.")
    assert "the page now says: “The plant makes 260 megawatts.”" in found.out
    del web.pages["/new"]
    assert standings(fathom, name) == ["changed", "supported", "gone"]


def test_pages_of_a_private_network_are_not_read_for_a_strangers_file(
    fathom: Fathom, work: Path, web: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FATHOM_ALLOW_PRIVATE")
    assert standings(fathom, written(work, web.url)) == ["gone"] * 3
    assert web.records == []


async def test_a_server_that_does_not_answer_and_one_that_is_not_there_are_gone(
    tmp_path: Path, web: Web
) -> None:
    web.pages["/sea"] = (200, {"content-type": "text/html"}, b"<p>late</p>", 5.0)
    cost_log = ledger()
    places = [f"{web.url}/sea", f"http://127.0.0.1:{closed_port()}/dam"]
    pages = [p.model_copy(update={"address": a}) for p, a in zip(cost_log.sources, places, strict=True)]
    reader = CachedReader(
        Fetcher(is_private_allowed=True, limit_s=0.2),
        PageCache(open_storage(tmp_path / "c.sqlite")),
        is_fresh_wanted=True,
    )
    fates = await live_fates(cost_log.model_copy(update={"sources": pages}), reader)
    found: list[QuoteStatus] = [fates[quote.model_dump_json()] for quote in cited_quotes(cost_log)]
    assert [fate.standing for fate in found] == ["gone"] * 3
    assert "did not answer within 0.2 s" in found[0].why
    assert "cannot be reached" in found[2].why


def test_files_are_read_again_where_the_run_read_them(fathom: Fathom, shelf: Path, work: Path) -> None:
    words = ["--docs", str(shelf), "--rounds", "1", "--out", "mine", "--quiet"]
    both = "What capacity factor does offshore wind reach? What are the main limits of a tidal barrage?"
    assert fathom(both, *words).code == 0
    name = str(work / "mine/report.json")
    assert set(standings(fathom, name)) == {"supported"}
    wind = shelf / "wind.md"
    wind.write_text(wind.read_text("utf-8").replace("45 percent", "46 percent"), "utf-8")
    assert set(standings(fathom, name)) == {"supported", "changed"}
    assert "46 percent" in fathom("verify", name, "--online").out
    assert fathom("verify", name).code == 0
    wind.unlink()
    assert set(standings(fathom, name)) == {"supported", "gone"}


def test_a_strangers_file_cannot_name_the_folders_that_are_read(
    fathom: Fathom, shelf: Path, work: Path, tmp_path: Path
) -> None:
    secret = tmp_path / "secret.md"
    secret.write_text(SEA, "utf-8")
    cost_log = json.loads(result().model_dump_json())
    for page, place in zip(cost_log["sources"], (secret, tmp_path / "nowhere"), strict=True):
        page["address"] = place.as_uri()
    cost_log["settings"]["docs"] = ["/"]
    (work / "report.json").write_text(json.dumps(cost_log), "utf-8")
    found = fathom("verify", "report.json", "--online")
    assert "outside the folders that may be read" in found.out
    assert "supported  The plant" in fathom("verify", "report.json", "--online", "--docs", str(secret)).out
