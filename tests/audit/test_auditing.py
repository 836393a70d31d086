"""Whole audits: pages on a server, an archive beside it, with strict rules or with a model."""

import asyncio
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from standins.model import Model, ModelRequest, Reply
from standins.server import Answer, Seen, closed_port, json_answer
from standins.web import Page, Web, html

from fathom import AuditEvent, AuditRequest, AuditResult, BadInput, DeepResearcher, RunConfig, Settings
from fathom.audit import render_html, render_markdown, summarize
from fathom.settings import load_settings

TOWER = """The tower at Merrow is 48 metres high. It was built by the county in 1901. The guild of Tarn
drew the plans, and the masons of Osby laid the stones. Repairs in 1960 may have weakened the north wall.
Visitors came in larger numbers after the railway opened. The lamp was replaced in 1975 at a price of 2
million crowns."""
CHEESE = (
    "A hard cheese ripens for eighteen months in a cool cellar. The rind is brushed with brine every week."
)
SAID = "The tower at Merrow is 48 metres high"


def article(title: str, text: str) -> Page:
    return html(f"<html><title>{title}</title><article><h1>{title}</h1><p>{text}</p></article></html>")


class Site(Web):
    """Pages, and the archive's API on the same server: `archived` are the addresses it knows, with a copy."""

    def __init__(self, pages: dict[str, Page]) -> None:
        super().__init__(pages)
        self.archived: dict[str, str] = {}
        self.is_archive_up = True

    def answer_to(self, seen: Seen) -> Answer:
        """A page, or what the archive says of an address."""
        if seen.route != "/wayback/available":
            return super().answer_to(seen)
        if not self.is_archive_up:
            return Answer(503, {}, b"busy")
        copy = self.archived.get(seen.params["url"])
        closest = {"closest": {"available": True, "url": copy, "status": "200"}} if copy else {}
        return json_answer({"archived_snapshots": closest})


@pytest.fixture
def site() -> Iterator[Site]:
    with Site({"/tower": article("The tower", TOWER), "/cheese": article("Cheese", CHEESE)}) as served:
        yield served


def settings(site: Site, tmp_path: Path, model: Model | None = None) -> Settings:
    return load_settings(
        home=tmp_path,
        allow_private=True,
        archive_url=site.url,
        call_retries=0,
        base_url=model.base_url if model else None,
        model="stand-in" if model else None,
    )


def run(report: str, made: Settings, **words: object) -> AuditResult:
    request = AuditRequest.model_validate({"report": "-", "body": report.encode(), **words})
    return DeepResearcher(made).audit_sync(request)


def verdicts(result: AuditResult) -> list[str]:
    return [one.verdict for one in result.verdicts]


def test_strict_rules_decide_without_a_model_and_say_so(site: Site, tmp_path: Path) -> None:
    page, other = f"{site.url}/tower", f"{site.url}/cheese"
    report = (
        f"# Towers\n\n{SAID} ({page}). The tower at Merrow is 52 metres high ({page}).\n\n"
        f"Repairs in 1960 weakened the north wall ({page}).\n\n{SAID} ({other}).\n\n"
        "The lamp was replaced in 1975.\n\nI think it is pretty."
    )
    result = run(report, settings(site, tmp_path))
    assert verdicts(result) == ["supported", "contradicted", "partly", "not in the source", "uncited"]
    assert result.has_alarms and result.decided_by == "strict rules"
    assert "48 metres" in (result.verdicts[1].quote or pytest.fail("no quote")).text
    assert result.verdicts[3].nearest is not None
    first = result.verdicts[0].quote
    assert first and TOWER.replace("\n", " ")[: len(first.text)] == first.text
    assert "5 statements" in summarize(result).split("\n")[0]
    assert "strict rules" in summarize(result)


def test_gone_invented_and_unreachable_sources_are_told_apart(site: Site, tmp_path: Path) -> None:
    gone = f"{site.url}/gone"
    site.archived[gone] = f"{site.url}/web/20200101000000/{gone}"
    site.pages[f"/web/20200101000000id_/{gone}"] = article("The tower", TOWER)
    site.pages["/soft"] = html("<title>Page not found</title><h1>Page not found</h1>")
    site.pages["/busy"] = html("later", status=403)
    places = [
        gone,
        f"{site.url}/never",
        "http://no-such-host.invalid/x",
        f"{site.url}/soft",
        f"{site.url}/busy",
    ]
    report = "\n\n".join(f"{SAID} ({place})." for place in places)
    result = run(report, settings(site, tmp_path))
    assert [one.status for one in result.sources] == ["archived", *["invented"] * 3, "unreachable"]
    assert verdicts(result) == ["supported", *["source invented"] * 3, "source unreachable"]
    assert "403" in result.sources[-1].why


def test_nothing_is_called_invented_while_the_archive_is_silent(site: Site, tmp_path: Path) -> None:
    site.is_archive_up = False
    result = run(f"{SAID} ({site.url}/never).", settings(site, tmp_path))
    assert verdicts(result) == ["source unreachable"]
    dead = settings(site, tmp_path).model_copy(update={"archive_url": f"http://127.0.0.1:{closed_port()}"})
    assert verdicts(run(f"{SAID} again ({site.url}/never).", dead)) == ["source unreachable"]


def test_an_address_that_leads_to_another_topic_is_invented(site: Site, tmp_path: Path) -> None:
    report = f"{SAID} [1].\n\n## References\n\n[1] Lighthouse towers along northern coasts. {site.url}/cheese"
    result = run(report, settings(site, tmp_path))
    assert verdicts(result) == ["source invented"]
    assert result.sources[0].status == "another topic" and "Cheese" in result.sources[0].why


def test_files_at_hand_are_read_for_what_names_them(site: Site, tmp_path: Path) -> None:
    (tmp_path / "shelf").mkdir()
    (tmp_path / "shelf" / "tower-history.md").write_text(f"# Tower\n\n{TOWER}\n", "utf-8")
    report = f"{SAID} [1]. {SAID} [2].\n\nSources\n\n[1] tower-history.md\n[2] Tower history"
    result = run(report, settings(site, tmp_path), run_config=RunConfig(docs=[str(tmp_path / "shelf")]))
    assert verdicts(result) == ["supported", "supported"]


_ITEM = re.compile(r"Item (\d+) \(source [\d, ]+\)\nStatement: (.*)")


def judge(decide: Callable[[str], tuple[str, str]]) -> Callable[[ModelRequest], Reply]:
    """A model that answers each item by a function of its statement: verdict and quote."""

    def answer(request: ModelRequest) -> Reply:
        items = [(int(number), *decide(words)) for number, words in _ITEM.findall(request.user_text)]
        forms = [{"item": n, "reason": "why", "verdict": v, "quote": q} for n, v, q in items]
        return Reply.give({"verdicts": forms})

    return answer


def reads_well(words: str) -> tuple[str, str]:
    """Knows the page: what is in it is supported, other figures are contradicted."""
    plain = " ".join(TOWER.split())
    if words.rstrip(".") in plain:
        return "supported", words
    return ("contradicted", f"{SAID}.") if "metres" in words else ("absent", "")


def reads_nothing(_: str) -> tuple[str, str]:
    """Says yes to everything."""
    return "supported", f"{SAID}."


def test_a_model_decides_and_its_quotes_are_looked_up(site: Site, tmp_path: Path) -> None:
    report = f"{SAID} ({site.url}/tower). The tower at Merrow is 52 metres high ({site.url}/tower)."
    with Model(judge(reads_well)) as model:
        result = run(report, settings(site, tmp_path, model))
    assert verdicts(result) == ["supported", "contradicted"]
    assert result.decided_by.startswith("stand-in, auditor@")
    assert sum(tally.shown for tally in result.controls) >= 2
    assert sum(tally.missed for tally in result.controls) == 0
    quote = result.verdicts[1].quote
    assert quote and quote.text == f"{SAID}."


def shouts(words: str) -> tuple[str, str]:
    """Knows the page, and writes its verdicts as a heading."""
    verdict, quote = reads_well(words)
    return f" {verdict.title()}. ", quote


def test_how_a_verdict_is_written_does_not_matter(site: Site, tmp_path: Path) -> None:
    report = f"{SAID} ({site.url}/tower). The tower at Merrow is 52 metres high ({site.url}/tower)."
    with Model(judge(shouts)) as model:
        result = run(report, settings(site, tmp_path, model))
    assert verdicts(result) == ["supported", "contradicted"]
    assert {v.by for v in result.verdicts} == {result.decided_by}
    assert sum(tally.missed for tally in result.controls) == 0


@pytest.mark.parametrize("word", ["supported", "Supported"])
def test_a_model_that_approves_false_controls_is_not_believed(site: Site, tmp_path: Path, word: str) -> None:
    report = f"The tower at Merrow is 52 metres high ({site.url}/tower)."
    with Model(judge(lambda words: (word, reads_nothing(words)[1]))) as model:
        result = run(report, settings(site, tmp_path, model))
    assert verdicts(result) == ["contradicted"]
    assert result.verdicts[0].by == "strict rules"
    assert any("relied on" in note for note in result.verdicts[0].notes)


def test_a_quote_that_is_not_in_the_source_does_not_count(site: Site, tmp_path: Path) -> None:
    def invents(words: str) -> tuple[str, str]:
        verdict, quote = reads_well(words)
        return (
            ("supported", "The tower is 52 metres high, says the county.")
            if "52" in words
            else (verdict, quote)
        )

    report = f"The tower at Merrow is 52 metres high ({site.url}/tower)."
    with Model(judge(invents)) as model:
        result = run(report, settings(site, tmp_path, model))
    assert verdicts(result) == ["contradicted"]
    assert result.verdicts[0].by == "strict rules"


def test_a_model_that_is_down_leaves_it_to_the_rules(site: Site, tmp_path: Path) -> None:
    with Model(lambda _: Reply(status=500, error={"message": "down"})) as model:
        made = settings(site, tmp_path, model).model_copy(update={"outage_s": 0.0})
        result = run(f"{SAID} ({site.url}/tower).", made)
    assert verdicts(result) == ["supported"] and result.failures
    assert result.decided_by == "strict rules"


def test_the_same_audit_again_pays_for_nothing(site: Site, tmp_path: Path) -> None:
    report = "\n\n".join(f"{SAID}, part {n} ({site.url}/tower)." for n in range(40))
    with Model(judge(reads_well)) as model:
        first = run(report, settings(site, tmp_path, model))
        calls = len(model.calls)
        second = run(report, settings(site, tmp_path, model))
        assert len(model.calls) == calls >= 2
    assert verdicts(first) == verdicts(second) and first.id == second.id


def test_a_cap_that_is_too_small_leaves_it_to_the_rules(site: Site, tmp_path: Path) -> None:
    (tmp_path / "prices.toml").write_text('[models."stand-in"]\ninput = 100.0\noutput = 100.0\n', "utf-8")
    with Model(judge(reads_well)) as model:
        result = run(
            f"{SAID} ({site.url}/tower).",
            settings(site, tmp_path, model),
            run_config=RunConfig(budget_usd=0.001),
        )
        assert not model.calls
    assert result.decided_by == "strict rules" and result.usd == 0
    assert "too little of the 0.001 USD" in result.failures[0].why
    assert result.failures[0].why in summarize(result)


def test_what_is_not_supported_is_looked_for_elsewhere(site: Site, tmp_path: Path) -> None:
    (tmp_path / "shelf").mkdir()
    (tmp_path / "shelf" / "notes.md").write_text(f"# Notes\n\n{TOWER}\n", "utf-8")
    config = RunConfig(docs=[str(tmp_path / "shelf")], engines=["local"])
    result = run(f"{SAID}.", settings(site, tmp_path), is_searched=True, run_config=config)
    assert verdicts(result) == ["uncited"]
    found = result.verdicts[0].correction
    assert found and found.verdict == "supported" and "48 metres" in found.quote.text
    assert found.quote.text in render_markdown(result) and found.quote.text in render_html(result)


def test_events_tell_how_far_it_is(site: Site, tmp_path: Path) -> None:
    async def listen() -> list[AuditEvent]:
        request = AuditRequest(report="-", body=f"{SAID} ({site.url}/tower).".encode())
        return [event async for event in DeepResearcher(settings(site, tmp_path)).stream_audit(request)]

    events = asyncio.run(listen())
    assert [event.kind for event in events] == ["started", "split", "source read", "checked", "completed"]
    assert events[-1].result is not None and (events[2].done, events[2].total) == (1, 1)


def test_the_page_is_escaped_and_has_no_script(site: Site, tmp_path: Path) -> None:
    report = f"# <script>alert(1)</script>\n\n{SAID} <img src=x onerror=alert(2)> ({site.url}/tower)."
    page = render_html(run(report, settings(site, tmp_path)))
    assert "<script" not in page and "<img" not in page and "default-src 'none'" in page
    assert 'class="partly"' in page or 'class="supported"' in page


def test_a_korean_audit_speaks_korean(site: Site, tmp_path: Path) -> None:
    site.pages["/탑"] = article("탑", "")
    site.pages["/tap"] = article("탑", "메로의 탑은 높이가 48미터이다. 1901년에 군이 지었다.")
    result = run(f"# 탑\n\n메로의 탑은 높이가 48미터이다 ({site.url}/tap).", settings(site, tmp_path))
    assert verdicts(result) == ["supported"]
    assert "진술 1개 가운데 1개가 맞습니다." in summarize(result) and "뒷받침됨" in render_markdown(result)


@pytest.mark.parametrize("report", ["nowhere.md", "http://127.0.0.1:9/x"])
def test_a_report_that_is_not_there_is_refused(site: Site, tmp_path: Path, report: str) -> None:
    with pytest.raises(BadInput):
        DeepResearcher(settings(site, tmp_path)).audit_sync(report)


def test_a_report_at_an_address_is_read(site: Site, tmp_path: Path) -> None:
    site.pages["/report"] = html(f'<h1>R</h1><p>{SAID} (<a href="/tower">1</a>).</p>')
    assert verdicts(DeepResearcher(settings(site, tmp_path)).audit_sync(f"{site.url}/report")) == [
        "supported"
    ]


def test_a_forecast_asks_nobody(site: Site, tmp_path: Path) -> None:
    with Model(judge(reads_well)) as model:
        request = AuditRequest(report="-", body=f"{SAID} ({site.url}/tower).".encode())
        found = DeepResearcher(settings(site, tmp_path, model)).forecast_audit_sync(request)
        assert not model.calls and not site.records
    assert found.calls == 1 and "1 cited statements and 1 sources" in found.because


def test_the_result_is_json(site: Site, tmp_path: Path) -> None:
    result = run(f"{SAID} ({site.url}/tower).", settings(site, tmp_path))
    assert AuditResult.model_validate(json.loads(result.model_dump_json())) == result
