"""Whole runs whose report has tables, calculations, inferences and a summary."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest
from standins.documents import HANOK, TIDES, written
from standins.model import Model, ModelRequest
from standins.replies import Reply
from standins.server import longest_chain
from standins.working_model import Answering, fenced, form_of, scripted, value

from fathom import DeepResearcher, ResearchRequest, ResearchResult
from fathom.evidence.claims import check_stored_quote
from fathom.report.verify import verify_report
from fathom.settings import load_settings
from fathom.state import Sentence
from fathom.storage import open_storage

VERIFIED_QUESTION = "How much does tidal power cost, and what limits it?"


def embellishing(request: ModelRequest) -> Reply:
    """True sentences, and one with a number that no quote has."""
    sentences = value(request)["sentences"]
    false = {"text": "The price fell to 3 euros in 2031.", "claims": sentences[0]["claims"]}
    return Reply.give({"sentences": [*sentences, false]})


@pytest.mark.parametrize(("unsupported", "marked"), [("drop", 0), ("mark", 1)])
async def test_what_a_writer_made_up_is_not_in_the_ledger_as_supported(
    tmp_path: Path, unsupported: Literal["drop", "mark"], marked: int
) -> None:
    docs = written(tmp_path / "docs", {**TIDES, **HANOK})
    with Model(scripted(write=embellishing)) as model:
        settings = load_settings(home=tmp_path, base_url=model.base_url)
        request = ResearchRequest(
            query=VERIFIED_QUESTION, docs=[docs], model="stand-in", max_rounds=1, unsupported=unsupported
        )
        result = await DeepResearcher(settings).research(request)
    kept = open_storage(settings.database).pages
    texts = {page.sha: await kept.get(page.sha) for page in result.sources}
    found = verify_report(result, lambda quote: check_stored_quote(quote, texts[quote.page]), result.report)
    assert (found.is_sound, found.marked) == (True, marked)
    assert not any("2031" in checked.text for checked in found.sentences)


QUESTION = "Compare the tidal plants at Rance and Sihwa"

DOCS = {
    "rance.md": "# Rance\n\nThe plant at Rance makes 240 megawatts of tidal power since 1966.\n",
    "sihwa.md": "# Sihwa\n\nThe plant at Sihwa makes 254 megawatts of tidal power since 2011.\n",
}

INFERRED = "The plant at Sihwa and the plant at Rance suggest that tidal power pays late."

DELAY_S = 0.15


def keys(request: ModelRequest) -> tuple[str, str]:
    """The keys that the writer was given for the two plants."""
    found = re.findall(r"^(E\d+): .*?(Rance|Sihwa)", fenced("claims", request.user_text), re.MULTILINE)
    by_name = {name: key for key, name in found}
    return by_name["Rance"], by_name["Sihwa"]


def analyst(request: ModelRequest) -> Reply:
    """A writer who compares, computes and concludes; two of its three calculations are wrong."""
    rance, sihwa = keys(request)
    operands = [
        {"name": "a", "value": "240 megawatts", "claim": rance},
        {"name": "b", "value": "254 megawatts", "claim": sihwa},
    ]
    stated = [
        ("C1", "(b - a) / a * 100", "5.8%"),
        ("C2", "(b - a) / a * 100", "8%"),
        ("C3", "a + b", "500 MW"),
    ]
    both = [rance, sihwa]
    told = [
        {"text": "Rance has made 240 megawatts since 1966.", "kind": "fact", "claims": [rance]},
        {"text": "The plant at Sihwa is 5.8% larger.", "kind": "calculation", "claims": ["C1", *both]},
        {"text": "The plant at Sihwa is 8% larger.", "kind": "calculation", "claims": ["C2", *both]},
        {"text": "Together the plants make 500 MW.", "kind": "calculation", "claims": ["C3", *both]},
        {"text": INFERRED, "kind": "inference", "claims": both},
    ]
    rows = [
        {"cells": [{"text": "Rance"}, {"text": "240 megawatts", "kind": "fact", "claims": [rance]}]},
        {"cells": [{"text": "Sihwa"}, {"text": "254 megawatts", "kind": "fact", "claims": [sihwa]}]},
        {"cells": [{"text": "Elsewhere"}, {"text": "900 megawatts", "kind": "fact", "claims": [sihwa]}]},
    ]
    table = {"kind": "table", "title": "Tidal plants", "columns": ["Plant", "Power"], "rows": rows}
    calculations = [
        {"key": key, "formula": formula, "operands": operands, "result": result}
        for key, formula, result in stated
    ]
    blocks = [{"kind": "paragraph", "title": "Size", "sentences": told}, table]
    return Reply.give({"blocks": blocks, "calculations": calculations})


def summing(request: ModelRequest) -> Reply:
    """An editor whose summary rests on a fact and on a calculation, and who breaks a sentence."""
    draft = fenced("draft", request.user_text)
    number = {words: n for n, words in re.findall(r"\[(\d+)\] ([^\[|\n]+)", draft)}
    fact = next(n for words, n in number.items() if words.startswith("Rance has made"))
    grown = next(n for words, n in number.items() if "5.8%" in words)
    return Reply.give(
        {
            "title": "Tidal plants at Rance and Sihwa",
            "summary": [
                {"text": "The plant at Sihwa is 5.8% larger than Rance.", "rests_on": [grown, fact]},
                {"text": "The plant at Rance makes 777 megawatts.", "rests_on": [fact]},
            ],
            "changes": [{"sentence": int(fact), "text": "Rance has made 290 megawatts since 1966."}],
            "links": [{"sentence": int(fact), "text": "More on this below."}],
        }
    )


async def researched(tmp_path: Path, answer: Answering, **words: Any) -> tuple[ResearchResult, Model]:
    with Model(answer) as model:
        settings = load_settings(home=tmp_path, base_url=model.base_url)
        docs = written(tmp_path / "docs", DOCS)
        request = ResearchRequest(query=QUESTION, docs=[docs], model="stand-in", max_rounds=1, **words)
        return await DeepResearcher(settings).research(request), model


def sentences(result: ResearchResult) -> dict[str, Sentence]:
    return {s.text: s for section in result.sections for s in section.sentences}


async def test_what_holds_is_in_the_report_and_two_wrong_calculations_are_not(tmp_path: Path) -> None:
    result, _ = await researched(tmp_path, scripted(write=analyst, edit=summing))
    told = sentences(result)
    assert told["The plant at Sihwa is 5.8% larger."].calculation is not None
    assert told[INFERRED].kind == "inference"
    assert told["Rance has made 240 megawatts since 1966."].status == "supported"
    for wrong in ("8% larger.", "500 MW", "900 megawatts", "777", "290"):
        assert not any(wrong in text.replace("5.8% larger", "") for text in told)
    body = next(section for section in result.sections if section.kind == "body")
    assert [block.kind for block in body.blocks] == ["paragraph", "table"]
    cells = [(s.row, s.column, s.text) for s in body.sentences if s.row is not None]
    assert cells == [(0, 0, "Rance"), (0, 1, "240 megawatts"), (1, 0, "Sihwa"), (1, 1, "254 megawatts")]
    reasons = [s.why for section in result.sections for s in section.rejected]
    assert any("900" in why for why in reasons)


async def test_the_summary_comes_first_with_the_citations_of_what_it_rests_on(tmp_path: Path) -> None:
    result, _ = await researched(tmp_path, scripted(write=analyst, edit=summing))
    summary = result.sections[0]
    assert summary.kind == "summary"
    (only,) = summary.sentences
    assert only.text == "The plant at Sihwa is 5.8% larger than Rance."
    assert (only.kind, len(only.claims)) == ("calculation", 2)
    assert only.calculation is not None
    assert only.calculation.formula == "(b - a) / a * 100"


async def test_a_wrong_sentence_is_sent_back_with_what_the_formula_gives(tmp_path: Path) -> None:
    _, model = await researched(tmp_path, scripted(write=analyst, edit=summing))
    (back,) = [r for r in model.requests if form_of(r) == "rewrite"]
    assert "the formula gives 5.833, not 8%" in back.user_text
    assert "the formula gives 494, not 500 MW" in back.user_text


async def test_marked_sentences_stay_with_their_mark(tmp_path: Path) -> None:
    result, _ = await researched(tmp_path, scripted(write=analyst, edit=summing), unsupported="mark")
    marked = [s.text for s in sentences(result).values() if s.status == "unsupported"]
    assert "900 megawatts" in marked
    assert "[citation needed]" in result.report


def objecting(request: ModelRequest) -> Reply:
    """A checker who refuses the inference, and is otherwise as good as ever."""
    given = value(request)["objections"]
    found = re.findall(r"^Sentence (\d+) \(inference\)", request.user_text, re.MULTILINE)
    return Reply.give({"objections": [*given, *({"sentence": int(n), "why": "too sure"} for n in found)]})


async def test_an_inference_that_the_checker_refuses_is_not_in_the_report(tmp_path: Path) -> None:
    result, _ = await researched(tmp_path, scripted(write=analyst, edit=summing, check=objecting))
    assert INFERRED not in sentences(result)


def plain(request: ModelRequest) -> Reply:
    """A writer to whom nobody objects."""
    rance, sihwa = keys(request)
    told = [
        {"text": "Rance has made 240 megawatts since 1966.", "kind": "fact", "claims": [rance]},
        {"text": "The plant at Sihwa makes 254 megawatts since 2011.", "kind": "fact", "claims": [sihwa]},
    ]
    return Reply.give({"blocks": [{"kind": "bullets", "sentences": told}]})


@pytest.mark.parametrize(("writer", "most"), [(plain, 4), (analyst, 6)])
async def test_calls_one_after_another_are_few(tmp_path: Path, writer: Answering, most: int) -> None:
    """Write, check, edit and check again; with a rewrite two more."""

    def slow(request: ModelRequest) -> Reply:
        return replace(scripted(write=writer)(request), delay_s=DELAY_S)

    _, model = await researched(tmp_path, slow)
    forms = {"write", "check", "rewrite", "edit"}
    calls = [seen for seen, r in zip(model.calls, model.requests, strict=True) if form_of(r) in forms]
    assert longest_chain(calls) <= most
