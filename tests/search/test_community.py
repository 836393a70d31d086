"""Retrievers of langchain-community by name: BM25, which needs no network."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from search.failures import QUERY
from standins.shelf import DOCUMENTS, QUESTION

from fathom.cli.main import main
from fathom.errors import BadInput
from fathom.result import ResearchResult
from fathom.search.retriever import RetrieverSearch

BM25 = "langchain_community.retrievers.BM25Retriever.from_texts"
TEXTS = ["Costs of tidal power fell.", "The harbour is old.", "Bread rises.", "Cats sleep."]


def bm25(place: str = BM25, **arguments: object) -> RetrieverSearch:
    return RetrieverSearch(place, {"texts": TEXTS, **arguments})


@pytest.mark.parametrize("place", [BM25, "langchain_community.retrievers:BM25Retriever.from_texts"])
async def test_a_class_of_the_package_is_made_with_the_arguments_given(place: str) -> None:
    (hit,) = await bm25(place, k=1)(QUERY.model_copy(update={"text": "tidal power"}), limit=5)
    assert hit.snippet == TEXTS[0]


async def test_a_class_without_its_arguments_is_refused_in_one_sentence() -> None:
    with pytest.raises(
        BadInput, match=r"^The retriever langchain_community\.retrievers\.BM25Retriever cannot"
    ):
        await RetrieverSearch("langchain_community.retrievers.BM25Retriever").prepare()


async def test_arguments_for_what_is_made_already_are_refused() -> None:
    with pytest.raises(BadInput, match="takes no retriever_arguments"):
        await RetrieverSearch("standins.bm25:made", {"k": 3}).prepare()


def test_the_warning_that_the_package_is_old_is_not_raised_and_other_warnings_are() -> None:
    script = (
        "import asyncio, warnings\n"
        "from fathom.search.retriever import RetrieverSearch\n"
        f"asyncio.run(RetrieverSearch({BM25!r}, {{'texts': ['a']}}).prepare())\n"
        "filters = [f for f in warnings.filters if f[1] and 'sunset' in f[1].pattern]\n"
        "assert not filters, filters\n"
    )
    answer = subprocess.run(
        [sys.executable, "-W", "error::DeprecationWarning", "-c", script], capture_output=True, text=True
    )
    assert (answer.returncode, answer.stderr) == (0, "")


def test_without_the_extra_the_way_to_install_it_is_told() -> None:
    script = (
        "import asyncio, sys; sys.modules['langchain_community'] = None\n"
        "from fathom.search.retriever import RetrieverSearch\n"
        f"asyncio.run(RetrieverSearch({BM25!r}).prepare())\n"
    )
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert "pip install 'fathom-research[community]'" in answer.stderr.splitlines()[-1]


@pytest.mark.whole
def test_a_whole_run_over_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = [part for text in DOCUMENTS.values() for part in text.split("\n\n")]
    written = f'retriever = "{BM25}"\n[retriever_arguments]\nk = 4\ntexts = {json.dumps(texts)}\n'
    assert tomllib.loads(written)["retriever_arguments"]["k"] == 4
    (tmp_path / "fathom.toml").write_text(written, "utf-8")
    monkeypatch.chdir(tmp_path)
    code = main([QUESTION, "--search", "retriever", "--rounds", "1", "--format", "json", "--quiet"])
    result = ResearchResult.model_validate_json(capsys.readouterr().out)
    assert code == 0
    assert result.citations
    assert all(page.address.startswith("retriever://retriever/") for page in result.sources)
    assert "cheaper to build than a tidal barrage" in result.report
