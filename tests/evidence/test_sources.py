"""Who speaks, and who only repeats."""

from itertools import combinations
from typing import Any

import pytest
from fakes.records import page, quote, sha

from fathom.evidence.scoring import map_copies_to_originals
from fathom.evidence.sources import find_owner, is_official, list_independent_sources
from fathom.state import Page
from fathom.text.similarity import make_sketch

LONG = "The lagoon at Swale delivers 320 megawatts of tidal power to the grid."
KOREAN = "솔섬 조력발전소의 설비 용량은 254메가와트이며 군이 지었다."


def at(address: str, **words: Any) -> str:
    return find_owner(page(address, address, **words))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("https://www.bbc.co.uk/news/1", "https://m.bbc.co.uk/sport/2"),
        ("https://en.wikipedia.org/wiki/Tide", "https://ko.wikipedia.org/wiki/조석"),
        ("https://arxiv.org/abs/2401.00001v1", "https://export.arxiv.org/pdf/2401.00001v2.pdf"),
        ("https://github.com/swale/a", "https://github.com/swale/b"),
        ("https://blog.naver.com/swale/1", "https://m.blog.naver.com/swale/2"),
        ("https://www.host.example/a", "https://host.example/b"),
        ("http://10.0.0.1/a", "http://10.0.0.1/b"),
    ],
)
def test_pages_of_one_owner(left: str, right: str) -> None:
    assert at(left) == at(right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("https://www.bbc.co.uk/", "https://www.itv.co.uk/"),
        ("https://kosis.go.kr/a", "https://police.go.kr/a"),
        ("https://swale.github.io/", "https://merrow.github.io/"),
        ("https://github.com/swale/a", "https://github.com/merrow/a"),
        ("https://swale.tistory.com/1", "https://merrow.tistory.com/1"),
        ("https://arxiv.org/abs/2401.00001", "https://arxiv.org/abs/2401.00002"),
        ("file:///notes/a.md", "file:///notes/b.md"),
        ("https://one.example/", "https://two.example/"),
    ],
)
def test_pages_of_two_owners(left: str, right: str) -> None:
    assert at(left) != at(right)


def test_a_work_is_one_source_wherever_it_is_printed() -> None:
    assert at("https://a.example/x", doi="10.1/ABC") == at("https://b.example/y", doi="10.1/abc ")
    assert at("https://a.example/x", doi="10.1/abc") != at("https://a.example/x", doi="10.1/abd")


@pytest.mark.parametrize(
    ("address", "is_so"),
    [
        ("https://www.energy.gov/x", True),
        ("https://www.ons.gov.uk/x", True),
        ("https://kosis.go.kr/x", True),
        ("https://www.who.int/x", True),
        ("https://ec.europa.eu/x", True),
        ("https://mit.edu/x", True),
        ("https://snu.ac.kr/x", True),
        ("https://gov.example/x", False),
        ("https://someone.ac/x", False),
        ("https://who.int.example/x", False),
        ("file:///x.gov", False),
        ("", False),
    ],
)
def test_who_is_official(address: str, is_so: bool) -> None:
    assert is_official(page("x", address)) is is_so


def heard(*said: tuple[str, str], **pages: Page) -> list[str]:
    """The sources behind quotes, given as name of the page and words."""
    return list_independent_sources(
        [quote(text, of) for of, text in said], {page.sha: page for page in pages.values()}
    )


def test_two_owners_in_their_own_words_are_two_sources() -> None:
    one, two = page("one", "https://one.example/"), page("two", "https://two.example/")
    assert heard(("one", LONG), ("two", "Swale's lagoon makes 0.32 GW."), one=one, two=two) == [
        "one.example",
        "two.example",
    ]


@pytest.mark.parametrize("text", [LONG, KOREAN])
def test_a_paragraph_printed_twice_is_one_source(text: str) -> None:
    one, two = page("one", "https://one.example/"), page("two", "https://two.example/")
    assert heard(("one", text), ("two", f"As they say: {text} So far."), one=one, two=two) == ["one.example"]


def test_a_few_words_in_common_may_be_chance() -> None:
    one, two = page("one", "https://one.example/"), page("two", "https://two.example/")
    assert (
        len(heard(("one", "It makes 320 megawatts."), ("two", "It makes 320 megawatts."), one=one, two=two))
        == 2
    )


def test_the_same_author_and_title_is_one_source_and_no_author_is_none() -> None:
    one = page("one", "https://one.example/", title="Tides", author="A. Writer")
    two = page("two", "https://two.example/", title="TIDES", author="a. writer")
    assert len(heard(("one", "x"), ("two", "y"), one=one, two=two)) == 1
    nameless = [p.model_copy(update={"author": None}) for p in (one, two)]
    assert len(heard(("one", "x"), ("two", "y"), one=nameless[0], two=nameless[1])) == 2


def test_copies_are_one_source_through_a_chain_of_copies() -> None:
    words = " ".join(f"word{n} of the tide report" for n in range(80))
    texts = {"one": words, "two": f"{words} Menu", "three": "quite another text about bread and its baking"}
    pages = {
        name: page(name, f"https://{name}.example/").model_copy(update={"sketch": make_sketch(text)})
        for name, text in texts.items()
    }
    assert heard(*((name, name) for name in texts), **pages) == ["one.example", "three.example"]


def test_a_page_that_is_not_known_is_a_source_of_its_own() -> None:
    assert heard(("one", "x"), ("two", "y")) == sorted([sha("one"), sha("two")])


AROUND = {
    "text": ("", ""),
    "html": (
        "Harbour Times. By our own reporter, posted on Tuesday. ",
        " Read also: bread prices rise again.",
    ),
    "docx": (
        "Local news in brief from the valley and the coast. ",
        " Comments are closed for everybody here.",
    ),
    "pdf": ("Harbour Times ", " 1"),
}


@pytest.mark.parametrize(
    "text",
    [
        "The tidal lagoon at Swale was closed for nine days in March after a gate jammed. Divers "
        "freed it on the twelfth, and nobody was hurt. Repairs cost 41,000 crowns, which the county pays "
        "from its harbour fund.",
        "솔섬 조력발전소는 3월에 수문이 막혀 아흐레 동안 멈췄다. 잠수사들이 12일에 "
        "수문을 풀었고, 군은 다친 사람이 없다고 밝혔다. 수리비 4100만 원은 군의 항만 기금에서 낸다.",
    ],
)
def test_short_copies_and_renderings_of_one_text_count_once(text: str) -> None:
    pages = {}
    for how, (before, after) in AROUND.items():
        whole = f"{before}{text}{after}"
        found = page(how, f"https://{how}.example/", title=how, how=how)
        pages[how] = found.model_copy(update={"sketch": make_sketch(whole), "chars": len(whole)})
    assert len(heard(*((name, f"{name} says") for name in pages), **pages)) == 1
    for one, other in combinations(pages.values(), 2):
        assert len(set(map_copies_to_originals([one, other]).values())) == 1
