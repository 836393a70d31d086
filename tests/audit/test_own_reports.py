"""Reports of Fathom, audited: every mark that they know is read as a careful reader reads it."""

from pathlib import Path

import pytest

from fathom import AuditRequest, AuditResult, DeepResearcher, RunConfig
from fathom.audit import summarize
from fathom.demo import FOLDER, LANGUAGES, demo_request
from fathom.llm import recorded
from fathom.settings import load_settings


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replies without the pauses that are there for readers."""
    monkeypatch.setattr(recorded, "PACE_S", dict.fromkeys(recorded.PACE_S, 0.0))


async def audit_demo(language: str, home: Path) -> AuditResult:
    """The demo's report as Markdown, audited against the demo's documents by strict rules."""
    settings = load_settings(home=home, local_servers={})
    report = (await DeepResearcher(settings).research(demo_request(language))).report
    config = RunConfig(docs=[str(FOLDER / language)])
    return await DeepResearcher(settings).audit(
        AuditRequest(report="-", body=report.encode(), run_config=config)
    )


@pytest.mark.whole
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.usefixtures("at_once")
async def test_a_report_of_ours_is_read_with_all_its_marks(tmp_path: Path, language: str) -> None:
    result = await audit_demo(language, tmp_path)
    assert [one.status for one in result.sources] == ["read"] * 6
    checked = {one.id: one for one in result.statements if one.is_checked}
    natures = [one.nature for one in checked.values()]
    assert natures.count("inference") >= 10 and natures.count("calculation") >= 6
    assert [one.text for one in checked.values() if any(sign in one.text for sign in "†‡[]")] == []
    rules = {one.cited_by for one in checked.values() if one.cites}
    assert {"own", "next", "caption"} <= rules
    verdicts = {one.statement: one.verdict for one in result.verdicts}
    for one in checked.values():
        if one.nature == "calculation" or one.cited_by == "caption":
            assert verdicts[one.id] == "supported", one.text
        if one.nature == "inference":
            assert verdicts[one.id] in {"supported", "partly"}, one.text
    assert "contradicted" not in verdicts.values()
    un = [checked[i].text for i, v in verdicts.items() if v == "uncited"]
    assert len(un) <= 4, un  # what nobody knows, and what strict rules cannot read
    assert len(summarize(result).split("\n")) >= 6
