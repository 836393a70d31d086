"""Papers are kept beside the report, with what is known of them."""

import json
from pathlib import Path

from fakes import FakePages, page

from fathom.reading.originals import Originals
from fathom.report.bibliography import is_paper
from fathom.report.papers import write_papers

TEXT = "조력 발전 연구 결과를 보고한다."


async def test_a_paper_is_kept_with_its_text_and_its_data(tmp_path: Path) -> None:
    about = {"title": "조력/Tides: a study?", "doi": "10.1/x", "cited_by": 7, "author": "A. Writer"}
    paper = page(TEXT, "https://doi.org/10.1/x").model_copy(update=about)
    plain = page("a web page", "https://a.example/")
    shelf, originals = FakePages(), Originals(tmp_path / "kept")
    for words in (TEXT, "a web page"):
        await shelf.put(words)
    await originals.keep(TEXT, b"%PDF-1.4 as it came")
    assert await write_papers([paper, plain], shelf, originals, tmp_path, {paper.sha: 3}) == 1
    (entry,) = json.loads((tmp_path / "paper_index.json").read_text("utf-8"))
    assert (entry["doi"], entry["cited_by"], entry["author"]) == ("10.1/x", 7, "A. Writer")
    assert (entry["citation"], entry["key"]) == (3, "writertides")
    assert entry["file"] == "001-조력-tides-a-study.txt"
    assert (tmp_path / "papers" / entry["file"]).read_text("utf-8") == TEXT
    assert (tmp_path / "papers" / entry["pdf"]).read_bytes() == b"%PDF-1.4 as it came"


async def test_a_paper_keeps_its_name_when_another_comes_before_it(tmp_path: Path) -> None:
    shelf = FakePages()
    for words in ("one", "two", "three"):
        await shelf.put(words)
    one, two, three = (
        page(words, f"https://arxiv.org/abs/2101.0000{n}")
        for n, words in enumerate(("one", "two", "three"), 1)
    )
    nothing = Originals(tmp_path / "kept")
    await write_papers([two, three], shelf, nothing, tmp_path, {})
    first = {e["sha"]: e["file"] for e in json.loads((tmp_path / "paper_index.json").read_text("utf-8"))}
    (tmp_path / "papers" / first[two.sha]).write_text("a person's notes", "utf-8")
    assert await write_papers([one, two, three], shelf, nothing, tmp_path, {}) == 3
    then = {e["sha"]: e["file"] for e in json.loads((tmp_path / "paper_index.json").read_text("utf-8"))}
    assert {sha: then[sha] for sha in first} == first
    assert len(set(then.values())) == 3
    assert (tmp_path / "papers" / first[two.sha]).read_text("utf-8") == "a person's notes"


async def test_an_index_that_was_broken_is_made_anew(tmp_path: Path) -> None:
    shelf = FakePages()
    await shelf.put("one")
    (tmp_path / "paper_index.json").write_text("[{]", "utf-8")
    paper = page("one", "https://arxiv.org/abs/2101.00001")
    assert await write_papers([paper], shelf, Originals(tmp_path / "kept"), tmp_path, {}) == 1
    assert json.loads((tmp_path / "paper_index.json").read_text("utf-8"))[0]["sha"] == paper.sha


async def test_a_run_without_papers_leaves_no_folder(tmp_path: Path) -> None:
    nothing, found = Originals(tmp_path / "kept"), [page("x", "https://a.example/")]
    assert await write_papers(found, FakePages(), nothing, tmp_path, {}) == 0
    assert not (tmp_path / "papers").exists()


def test_arxiv_and_printed_pages_make_a_paper() -> None:
    assert is_paper(page("x", "https://arxiv.org/abs/2101.00001"))
    assert is_paper(page("y", "https://a.example/y.pdf").model_copy(update={"starts": [0, 10]}))
    assert not is_paper(page("z", "https://a.example/?see=arxiv.org/abs/2101.00001"))
