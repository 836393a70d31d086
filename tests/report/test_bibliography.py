"""BibTeX that every reader takes: whatever a page says of itself, keys are unique and braces close."""

from typing import Any

import pytest
from bibtex import read
from fakes import page
from hypothesis import given
from hypothesis import strategies as st

from fathom.report.bibliography import authors_of, bibliography, keys_of
from fathom.state import Page


def source(place: int = 1, **words: Any) -> Page:
    return page(f"text {place}", f"https://a.example/{place}", **words)


def test_a_paper_with_a_doi_is_an_article_with_authors_and_year() -> None:
    paper = source(
        title="Tides & Turbines: 50% of {C}apacity_1",
        author="Jules Verne, Ada Lovelace",
        doi="10.1000/x_{1}",
        published="1869-05-01",
    )
    ((key, entry),) = read(bibliography([paper])).items()
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
    first, second = read(bibliography([paper, plain])).values()
    assert (first["kind"], first["eprint"], first["archiveprefix"]) == ("misc", "2101.00001", "arXiv")
    assert (second["kind"], "doi" in second, "year" in second, "author" in second) == (
        "misc", False, False, False,
    )  # fmt: skip


def test_keys_that_would_be_the_same_get_letters_and_stay_when_others_join() -> None:
    same = [source(n, title="Tides", author="Jules Verne", published="1869") for n in range(30)]
    keys = list(keys_of(same).values())
    assert keys[:3] == ["verne1869tides", "verne1869tidesa", "verne1869tidesb"]
    assert len(set(keys)) == 30
    assert list(keys_of([*same, source(99)]).values())[:30] == keys
    chosen = read(bibliography(same, [same[2].sha]))
    assert list(chosen) == ["verne1869tidesb"]


def test_korean_names_and_titles_are_kept_and_the_key_is_plain() -> None:
    paper = source(title="온돌의 원리", author="김철수, 이영희", published="2021-03-01", doi="10.1/k")
    ((key, entry),) = read(bibliography([paper])).items()
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
    assert authors_of(said) == names


def test_initials_behind_a_name_are_a_first_name() -> None:
    (entry,) = read(bibliography([source(author="Verne JG, Lovelace A")])).values()
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
    assert len(read(bibliography(pages))) == len(pages)
