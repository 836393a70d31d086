"""A whole run with a real model that is far too small and holds 4,096 tokens: it ends, and hides nothing."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from standins.documents import QUESTION, stocked
from standins.localmodel import MODEL, local_model, missing

from fathom.cli import main
from fathom.result import ResearchResult
from fathom.state import Sentence
from fathom.storage import open_storage

pytestmark = [
    pytest.mark.localmodel,
    pytest.mark.skipif(bool(missing()), reason=missing() or "everything is installed"),
]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where the model answers."""
    with local_model(tmp_path_factory.mktemp("model") / "server.log") as url:
        yield url


async def stored(home: Path, shas: set[str]) -> dict[str, str]:
    """The texts of pages as they were kept."""
    kept = open_storage(home / "fathom.sqlite").pages
    return {sha: await kept.get(sha) for sha in shas}


def test_a_run_with_a_very_small_model_is_honest(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FATHOM_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("FATHOM_MAX_ANSWER_TOKENS", "128")
    monkeypatch.setenv("FATHOM_PARALLEL_CALLS", "1")
    words = [QUESTION, "--docs", str(stocked(tmp_path / "shelf")), "--model", MODEL, "--base-url", address]
    words += ["--rounds", "1", "--sources", "2", "--queries", "2"]
    code = main([*words, "--format", "json", "--quiet", "--out", str(tmp_path / "out")])
    result = ResearchResult.model_validate_json(capsys.readouterr().out)
    about = result.metadata
    print(f"{about.model_calls} calls, {about.tokens_in}+{about.tokens_out} tokens, {about.duration_s} s")
    print(f"{about.claims} claims, dropped {json.dumps(Counter(d.why for d in result.rejected))}")
    print(f"lost: {[(failure.what, failure.why) for failure in result.errors]}")
    assert code == (4 if result.status == "failed" else 0)
    assert about.model_calls >= 3  # it was asked: a plan and every page that was found
    assert about.cost_usd == 0
    assert sum(n for name, n in about.strategies.items() if name != "stand-in") == about.model_calls
    assert about.strategies.get("stand-in", 0) == sum(failure.where == "model" for failure in result.errors)
    check_the_evidence(result, tmp_path / "home")
    check_the_sentences(result)
    check_nothing_is_hidden(result)
    assert main(["verify", str(ledger(tmp_path / "out")), "--quiet"]) == 0


def ledger(folder: Path) -> Path:
    """The report as data, wherever the run put it."""
    return next(folder.rglob("report.json"))


def check_the_evidence(result: ResearchResult, home: Path) -> None:
    """Every quote stands in the text of its page, where it says it does."""
    import asyncio

    texts = asyncio.run(stored(home, {page.sha for page in result.sources}))
    quotes = [quote for claim in result.claims for quote in claim.quotes]
    quotes += [quote for citation in result.citations for quote in citation.quotes]
    assert all(texts[quote.page][quote.start : quote.end] == quote.text for quote in quotes)


def check_the_sentences(result: ResearchResult) -> None:
    """A sentence has citations or a mark; in a report there is at least one with citations."""
    sentences = [sentence for section in result.sections for sentence in section.sentences]
    known = {claim.id for claim in result.claims}
    cited = [sentence for sentence in sentences if sentence.status == "supported"]
    assert all(sentence.claims and set(sentence.claims) <= known for sentence in cited)
    for sentence in sentences:
        if sentence.status == "unsupported":
            assert f"{shown(sentence)} [citation needed]" in result.report
    assert bool(cited) == bool(result.citations)
    assert cited or result.status == "failed"


def shown(sentence: Sentence) -> str:
    """The last words of a sentence, as the report has them."""
    return sentence.text.strip()[-20:]


def check_nothing_is_hidden(result: ResearchResult) -> None:
    """What the model could not do makes the report partial; all of it is in the ledger and the statistics."""
    if any(failure.where == "model" for failure in result.errors):
        assert result.status in {"partial", "failed"}
