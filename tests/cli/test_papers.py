"""Papers are kept beside the report, with what is known of them."""

import json
from pathlib import Path
from typing import Any

from fakes import FakePages, page

from fathom.cli.papers import papers_of, write_papers
from fathom.reading.originals import Originals
from fathom.result import ResearchResult
from fathom.state import Page


def result(*sources: Page) -> ResearchResult:
    rest: Any = {"citations": []}
    return ResearchResult.model_construct(sources=list(sources), **rest)


async def test_a_paper_is_kept_with_its_text_and_its_data(tmp_path: Path) -> None:
    text = "조력 발전 연구 결과를 보고한다."
    paper = page(text, "https://doi.org/10.1/x").model_copy(
        update={"title": "조력/Tides: a study?", "doi": "10.1/x", "cited_by": 7, "author": "A. Writer"}
    )
    plain = page("a web page", "https://a.example/")
    shelf = FakePages()
    for words in (text, "a web page"):
        await shelf.put(words)
    originals = Originals(tmp_path / "kept")
    await originals.keep(text, b"%PDF-1.4 as it came")
    assert await write_papers(result(paper, plain), shelf, originals, tmp_path) == 1  # type: ignore[arg-type]
    (entry,) = json.loads((tmp_path / "papers" / "paper_index.json").read_text("utf-8"))
    assert (entry["doi"], entry["cited_by"], entry["author"]) == ("10.1/x", 7, "A. Writer")
    assert entry["file"] == "001-조력-tides-a-study.txt"
    assert (tmp_path / "papers" / entry["file"]).read_text("utf-8") == text
    assert (tmp_path / "papers" / entry["pdf"]).read_bytes() == b"%PDF-1.4 as it came"


async def test_a_run_without_papers_leaves_no_folder(tmp_path: Path) -> None:
    nothing = Originals(tmp_path / "kept")
    found = result(page("x", "https://a.example/"))
    assert await write_papers(found, FakePages(), nothing, tmp_path) == 0  # type: ignore[arg-type]
    assert not (tmp_path / "papers").exists()


def test_arxiv_and_printed_pages_make_a_paper() -> None:
    one = page("x", "https://arxiv.org/abs/2101.00001")
    two = page("y", "https://a.example/y.pdf").model_copy(update={"starts": [0, 10]})
    assert papers_of(result(one, two)) == [one, two]
