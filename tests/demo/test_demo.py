"""The demo: a whole run with recorded answers shows everything a report can have, and says what it is."""

import re
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from standins.commandline import spawned

from fathom import DeepResearcher, ResearchRequest, ResearchResult
from fathom.demo import FOLDER, LANGUAGES, demo_request
from fathom.errors import BadInput
from fathom.evidence.claims import KEEP_FROM
from fathom.llm import recorded
from fathom.llm.recorded import load_recording
from fathom.report.formats.document import Picture, make_document
from fathom.settings import Settings, load_settings
from fathom.state.model_io import VerificationItem
from fathom.text.normalization import one_line

BOTH = pytest.mark.parametrize("language", LANGUAGES)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load_settings(home=tmp_path / "home", local_servers={})


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers without the pauses that are there for readers."""
    monkeypatch.setattr(recorded, "PACE_S", dict.fromkeys(recorded.PACE_S, 0.0))


async def shown(settings: Settings, language: str) -> ResearchResult:
    return await DeepResearcher(settings).research(demo_request(language))


def told_in_the_end(replies: Mapping[str, Any]) -> list[str]:
    """What the recorded model had written when its editor and its refuter were done."""
    edit, weaker = replies["edit"], {old: one.get("instead") for old, one in replies["refutations"].items()}
    changed = {one["sentence"]: one["text"] for one in edit.get("changes", [])}
    written = [changed.get(n, text) for n, text in enumerate(edit["sentences"], 1)]
    return [weaker.get(text) or text for text in (*written, *(one["text"] for one in edit["summary"]))]


@pytest.mark.whole
@BOTH
@pytest.mark.usefixtures("at_once")
async def test_every_role_has_its_answer_and_nothing_of_it_is_lost(settings: Settings, language: str) -> None:
    result = await shown(settings, language)
    assert (result.status, result.errors) == ("complete", [])
    told = [s for section in result.sections for s in section.sentences]
    texts = {one.text.replace("**", "") for one in told}
    replies = load_recording(language).replies
    assert [text for text in told_in_the_end(replies) if text not in texts] == []
    assert [section.title for section in result.sections if section.kind != "summary"] == [
        part["title"] for part in replies["judgements"][-1]["parts"]
    ]
    assert result.report.startswith(f"# {replies['edit']['title']}\n")
    assert [one.text for one in told if one.status == "unsupported"] == []


@pytest.mark.whole
@BOTH
@pytest.mark.usefixtures("at_once")
async def test_the_report_has_everything_a_report_can_have(settings: Settings, language: str) -> None:
    result = await shown(settings, language)
    told = [s for section in result.sections for s in section.sentences]
    assert {"fact", "inference", "calculation", "limit"} <= {one.kind for one in told}
    assert {"table", "numbered"} <= {b.kind for section in result.sections for b in section.blocks}
    (dispute,) = result.contradictions
    assert len(dispute.sides) == 2
    assert len(result.citations) == len(list((FOLDER / language).glob("*.md")))
    (refused,) = [one for one in result.rejected if one.statement]
    assert refused.reason == load_recording(language).replies["verdicts"][refused.statement]["reason"]
    blocks = [block for part in make_document(result).parts for block in part.blocks]
    charts = [block.chart for block in blocks if isinstance(block, Picture)]
    assert {chart.is_over_time for chart in charts} == {True, False}
    assert result.metadata is not None and result.metadata.cost_usd == 0


@BOTH
def test_a_recording_is_of_its_documents(language: str) -> None:
    pages = {path.stem: path.read_text("utf-8") for path in (FOLDER / language).glob("*.md")}
    replies = load_recording(language).replies
    assert replies["question"] == demo_request(language).query
    titles = {re.findall(r'^title: "(.*)"$', text, re.MULTILINE)[0]: text for text in pages.values()}
    assert {page["title"] for page in replies["pages"]} == set(titles)
    for page in replies["pages"]:
        for claim in page["claims"]:
            for quote in claim["quotes"]:
                assert one_line(quote) in one_line(titles[page["title"]])
    assert all("Fathom" in text.rsplit("*", 2)[1] for text in pages.values()), "it says that it is made up"
    read = {claim["statement"] for page in replies["pages"] for claim in page["claims"]}
    assert set(replies["claims"].values()) < read, "the judge saw what was read, but not what was refused"


@BOTH
@pytest.mark.usefixtures("at_once")
async def test_what_the_model_never_said_is_refused_and_its_other_words_are_not(language: str) -> None:
    """Control items differ from those of the recorded run when a document does."""
    model = load_recording(language)
    pages = model.replies["pages"]
    wrong = [one["statement"] for page in pages for one in page["falsehoods"]]
    right = [one["statement"] for page in pages for one in page["paraphrases"]]
    items = [
        VerificationItem(statement, "quote", "context") for statement in (*right, *wrong, "quote", "else")
    ]
    scores = [verdict.score for verdict in (await model.verify(items)).value]
    assert all(score >= KEEP_FROM for score in (*scores[: len(right)], scores[-2]))
    assert all(score < KEEP_FROM for score in (*scores[len(right) : -2], scores[-1]))


@pytest.mark.whole
@pytest.mark.usefixtures("at_once")
async def test_an_update_leaves_out_what_its_document_no_longer_says(tmp_path: Path) -> None:
    shelf = Path(shutil.copytree(FOLDER / "en", tmp_path / "shelf"))
    request = demo_request("en").model_copy(update={"docs": [str(shelf)]})
    researcher = DeepResearcher(load_settings(home=tmp_path / "home", docs_roots=[shelf], local_servers={}))
    first = await researcher.research(request)
    courier = shelf / "courier.md"
    courier.write_text(re.sub(r"The bus depot .*", "", courier.read_text("utf-8")), "utf-8")
    session = await researcher.begin_update(first.run_id)
    async for _ in session.events():
        pass
    updated = await session.result()
    assert (updated.status, updated.errors) == ("complete", [])
    assert [section.title for section in updated.sections] == [section.title for section in first.sections]
    assert "Bus depot" in first.report and "Bus depot" not in updated.report


@pytest.mark.whole
@pytest.mark.usefixtures("at_once")
async def test_another_question_is_refused_in_one_sentence(settings: Settings) -> None:
    researcher = DeepResearcher(settings)
    first = await shown(settings, "en")
    with pytest.raises(BadInput, match="--model none"):
        await researcher.follow_up(first.run_id, "How long is a Friday?")
    with pytest.raises(BadInput, match="no demo in 'fr'"):
        await researcher.research(
            ResearchRequest(query="Why?", docs=[str(FOLDER / "en")], model="recorded:fr")
        )


@pytest.mark.whole
def test_the_command_says_that_replies_are_recorded_and_is_quick(tmp_path: Path) -> None:
    environment = {"FATHOM_HOME": str(tmp_path / "home")}
    began = time.monotonic()
    told = spawned(["demo", "--language", "ko", "--to", "report.html"], tmp_path, environment)
    took_s = time.monotonic() - began
    print(f"\nfathom demo: {took_s:.1f} s")
    assert told.code == 0, told.err
    assert "미리 기록해" in told.err
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "<title>솔내시" in page and "<svg" in page
    assert spawned(["demo", "--language", "fr"], tmp_path, environment).is_refusal
