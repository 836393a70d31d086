"""BibTeX that every reader takes: whatever a page says of itself, keys are unique and braces close."""

import json
from pathlib import Path
from typing import Any

import pytest
from checks.bibtex_reader import read_bibtex
from fakes.records import claim, judgement, page, question
from fakes.services import FakePages
from hypothesis import given
from hypothesis import strategies as st

from fathom.report.bibliography import is_paper, make_bibtex_keys, render_bibtex, split_authors, write_papers
from fathom.state import Page, Reread, RunState
from fathom.storage.files import PdfStore


def source(place: int = 1, **words: Any) -> Page:
    return page(f"text {place}", f"https://a.example/{place}", **words)


def test_a_paper_with_a_doi_is_an_article_with_authors_and_year() -> None:
    paper = source(
        title="Tides & Turbines: 50% of {C}apacity_1",
        author="Jules Verne, Ada Lovelace",
        doi="10.1000/x_{1}",
        published="1869-05-01",
    )
    ((key, entry),) = read_bibtex(render_bibtex([paper])).items()
    assert key == "verne1869tides"
    assert entry == {
        "kind": "article",
        "title": r"{Tides \& Turbines: 50\% of \{C\}apacity\_1}",
        "author": "Jules Verne and Ada Lovelace",
        "year": "1869",
        "doi": "10.1000/x_%7B1%7D",
        "url": "https://a.example/1",
        "urldate": "2025-06-01",
    }


def test_a_paper_of_arxiv_names_its_number_and_a_page_is_neither() -> None:
    paper = page("t", "https://arxiv.org/pdf/2101.00001v2", title="Tides", doi="10.48550/arXiv.2101.00001")
    plain = source(2, title="A page")
    first, second = read_bibtex(render_bibtex([paper, plain])).values()
    assert (first["kind"], first["eprint"], first["archiveprefix"]) == ("misc", "2101.00001", "arXiv")
    assert (second["kind"], "doi" in second, "year" in second, "author" in second) == (
        "misc", False, False, False,
    )  # fmt: skip


def test_keys_that_would_be_the_same_get_letters_and_stay_when_others_join() -> None:
    same = [source(n, title="Tides", author="Jules Verne", published="1869") for n in range(30)]
    keys = list(make_bibtex_keys(same).values())
    assert keys[:3] == ["verne1869tides", "verne1869tidesa", "verne1869tidesb"]
    assert len(set(keys)) == 30
    assert list(make_bibtex_keys([*same, source(99)]).values())[:30] == keys
    chosen = read_bibtex(render_bibtex(same, [same[2].sha]))
    assert list(chosen) == ["verne1869tidesb"]


def test_korean_names_and_titles_are_kept_and_the_key_is_plain() -> None:
    paper = source(title="온돌의 원리", author="김철수, 이영희", published="2021-03-01", doi="10.1/k")
    ((key, entry),) = read_bibtex(render_bibtex([paper])).items()
    assert key == f"source{paper.sha[:6]}"
    assert entry["author"] == "{김철수} and {이영희}"
    assert entry["title"] == "{온돌의 원리}"


@pytest.mark.parametrize(
    ("said", "names"),
    [
        ("Verne, Jules", ["Verne, Jules"]),
        ("Verne, J. G.", ["Verne, J. G."]),
        ("Jules Verne, Ada Lovelace, Mary Shelley", ["Jules Verne", "Ada Lovelace", "Mary Shelley"]),
        ("Jules Verne; Lovelace, Ada", ["Jules Verne", "Lovelace, Ada"]),
        ("Verne JG, Lovelace A", ["Verne JG", "Lovelace A"]),
        ("  ", []),
        (None, []),
    ],
)
def test_names_are_told_apart(said: str | None, names: list[str]) -> None:
    assert split_authors(said) == names


def test_initials_behind_a_name_are_a_first_name() -> None:
    (entry,) = read_bibtex(render_bibtex([source(author="Verne JG, Lovelace A")])).values()
    assert entry["author"] == "Verne, JG and Lovelace, A"


@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "title": st.text(max_size=40),
                "author": st.none() | st.text(max_size=40),
                "published": st.none() | st.text(max_size=12),
                "doi": st.text(max_size=20),
                "address": st.text(min_size=1, max_size=30),
            }
        ),
        max_size=6,
        unique_by=lambda words: words["address"],
    )
)
def test_whatever_pages_say_of_themselves_the_file_can_be_read(given_words: list[dict[str, Any]]) -> None:
    pages = [page(f"text {n}", words.pop("address"), **words) for n, words in enumerate(given_words)]
    assert len(read_bibtex(render_bibtex(pages))) == len(pages)


TEXT = "조력 발전 연구 결과를 보고한다."


async def test_a_paper_is_kept_with_its_text_and_its_data(tmp_path: Path) -> None:
    about = {
        "title": "조력/Tides: a study?",
        "doi": "10.1/x",
        "cited_by": 7,
        "author": "A. Writer",
        "round": 1,
    }
    about |= {"abstract": "We study tides.", "retracted": "crossref"}
    paper = page(TEXT, "https://doi.org/10.1/x").model_copy(update=about)
    plain = page("a web page", "https://a.example/")
    shelf, pdf_store = FakePages(), PdfStore(tmp_path / "kept")
    for words in (TEXT, "a web page"):
        await shelf.put(words)
    await pdf_store.keep(TEXT, b"%PDF-1.4 as it came")
    drawn = [claim(f"Finding {n}.", f"c{n}", of=TEXT, relevance=n / 10) for n in range(7)]
    state: RunState = {
        "pages": [paper, plain],
        "claims": drawn,
        "judgements": [judgement(3, found=["c1"])],
        "rereads": [Reread(page=paper.sha, sought=question(), round=2)],
    }
    assert await write_papers(state, shelf, pdf_store, tmp_path) == 1
    (entry,) = json.loads((tmp_path / "paper_index.json").read_text("utf-8"))
    assert (entry["doi"], entry["cited_by"], entry["author"]) == ("10.1/x", 7, "A. Writer")
    assert (entry["citation"], entry["key"]) == (None, "writertides")
    assert (entry["abstract"], entry["retracted"]) == ("We study tides.", "crossref")
    assert entry["rounds"] == [1, 2, 3]
    assert len(entry["key_findings"]) == 5
    assert entry["key_findings"][0] == drawn[6].statement
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
    nothing = PdfStore(tmp_path / "kept")
    await write_papers({"pages": [two, three]}, shelf, nothing, tmp_path)
    first = {e["sha"]: e["file"] for e in json.loads((tmp_path / "paper_index.json").read_text("utf-8"))}
    (tmp_path / "papers" / first[two.sha]).write_text("a person's notes", "utf-8")
    assert await write_papers({"pages": [one, two, three]}, shelf, nothing, tmp_path) == 3
    then = {e["sha"]: e["file"] for e in json.loads((tmp_path / "paper_index.json").read_text("utf-8"))}
    assert {sha: then[sha] for sha in first} == first
    assert len(set(then.values())) == 3
    assert (tmp_path / "papers" / first[two.sha]).read_text("utf-8") == "a person's notes"


async def test_an_index_that_was_broken_is_made_anew(tmp_path: Path) -> None:
    shelf = FakePages()
    await shelf.put("one")
    (tmp_path / "paper_index.json").write_text("[{]", "utf-8")
    paper = page("one", "https://arxiv.org/abs/2101.00001")
    assert await write_papers({"pages": [paper]}, shelf, PdfStore(tmp_path / "kept"), tmp_path) == 1
    assert json.loads((tmp_path / "paper_index.json").read_text("utf-8"))[0]["sha"] == paper.sha


async def test_a_run_without_papers_leaves_no_folder(tmp_path: Path) -> None:
    nothing, found = PdfStore(tmp_path / "kept"), [page("x", "https://a.example/")]
    assert await write_papers({"pages": found}, FakePages(), nothing, tmp_path) == 0
    assert not (tmp_path / "papers").exists()


def test_arxiv_and_printed_pages_make_a_paper() -> None:
    assert is_paper(page("x", "https://arxiv.org/abs/2101.00001"))
    assert is_paper(page("y", "https://a.example/y.pdf").model_copy(update={"starts": [0, 10]}))
    assert not is_paper(page("z", "https://a.example/?see=arxiv.org/abs/2101.00001"))
