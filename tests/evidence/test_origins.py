"""What a page gives to another source, and who is primary."""

from typing import Any

import pytest
from fakes.records import claim, page, quote, sha

from fathom.evidence.corroboration import make_findings
from fathom.evidence.scoring import map_copies_to_originals, map_pages_to_sources
from fathom.evidence.sources import (
    find_origin,
    find_origins,
    find_primary_pages,
    is_same_document,
    keep_used_origins,
    list_independent_sources,
)
from fathom.reading.parsers import parse_document
from fathom.state import Page, Quote
from fathom.text.similarity import make_sketch

LINK = "https://inst.example/r"
TIDES = " ".join(
    f"In year {n} the basin at Swale filled {n * 7 % 90} times and the keeper wrote {n * 13 % 70} down."
    for n in range(40)
)


def read(markdown: str, address: str = "https://news.example/a", **words: Any) -> Page:
    found = parse_document(markdown.encode(), content_type="text/markdown", name=address)
    made = page(found.text, address, **words)
    return made.model_copy(
        update={"origins": find_origins(found.text, found.links), "sketch": make_sketch(found.text)}
    )


def words_of(markdown: str, wanted: str) -> tuple[Page, Quote]:
    """The page, and a quote of it."""
    text = parse_document(markdown.encode(), content_type="text/markdown", name="https://news.example/a").text
    return read(markdown), quote(wanted, text, text.index(wanted)).model_copy(
        update={"end": text.index(wanted) + len(wanted)}
    )


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (f"According to [the institute]({LINK}), it makes 320 megawatts.", "it makes 320 megawatts"),
        (f"It makes 320 megawatts, [a study]({LINK}) by the institute found.", "It makes 320 megawatts"),
        (f"The institute [said]({LINK}) it makes 320 megawatts.", "it makes 320 megawatts"),
        (
            f"Figures from [the office]({LINK}) show 320 megawatts. It also found that fish pass.",
            "that fish pass",
        ),
        (f"The plant makes 320 megawatts.\n\nSource: [Institute]({LINK})", "The plant makes 320 megawatts."),
        (f"| Year | MW |\n|---|---|\n| 2024 | 320 |\n\nSource: [Institute]({LINK})", "| 2024 | 320 |"),
        (
            f"A study by the institute found 320 megawatts. Read the [full report]({LINK}).",
            "found 320 megawatts",
        ),
        (f"The plant makes 320 megawatts [[1]]({LINK}).", "The plant makes 320 megawatts"),
        (f"[통계청]({LINK})에 따르면 지난해 합계출산율은 0.75명이다.", "지난해 합계출산율은 0.75명"),
        (f"통계청이 발표한 [자료]({LINK})를 보면 출생아는 23만 명이다.", "출생아는 23만 명"),
        (f"[한국은행]({LINK}) 조사 결과 물가는 2.3% 올랐다.", "물가는 2.3% 올랐다"),
        (f"지난해 합계출산율은 0.75명이다.\n\n자료: [통계청]({LINK})", "지난해 합계출산율은 0.75명"),
        (f"출생아가 늘었다고 [통계청]({LINK})은 26일 밝혔다.", "출생아가 늘었다고"),
    ],
)
def test_a_statement_that_is_given_to_a_linked_source(text: str, wanted: str) -> None:
    where, said = words_of(f"# News\n\nThe mayor cut a ribbon here.\n\n{text}\n", wanted)
    origin = find_origin(said, where)
    assert origin is not None
    assert origin.address == LINK
    assert origin.words


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (f"The plant at [Swale]({LINK}) makes 320 megawatts.", "makes 320 megawatts"),
        ("According to the institute, it makes 320 megawatts.", "it makes 320 megawatts"),
        (
            f"According to [the institute]({LINK}), fish pass.\n\nThe plant makes 320 megawatts.",
            "makes 320 mega",
        ),
        (
            f"The mayor said it makes 320 megawatts, and we like [boats]({LINK}) a lot here.",
            "makes 320 megawatts",
        ),
        (f"[솔섬]({LINK})의 발전소는 254메가와트를 만든다.", "254메가와트를 만든다"),
    ],
)
def test_a_statement_of_the_pages_own(text: str, wanted: str) -> None:
    where, said = words_of(f"# News\n\n{text}\n", wanted)
    assert find_origin(said, where) is None


def test_of_two_links_the_one_beside_the_words_is_the_origin() -> None:
    text = (
        f"According to [the institute]({LINK}), use of [Python](https://python.example/) in the plant rose."
    )
    assert [origin.address for origin in read(text).origins] == [LINK]


def test_only_origins_that_claims_stand_on_are_kept() -> None:
    second = "According to [two](https://b.example/), fish pass."
    text = f"According to [one]({LINK}), it makes 320 megawatts.\n\n{second}"
    where, said = words_of(text, "it makes 320 megawatts")
    assert len(where.origins) == 2
    kept = keep_used_origins(where, [claim(quotes=[said])])
    assert [origin.address for origin in kept.origins] == [LINK]


def test_a_page_that_names_its_source_is_no_second_source() -> None:
    where, said = words_of(
        f"According to [the institute]({LINK}), it makes 320 megawatts.", "it makes 320 mega"
    )
    own = page("The lagoon has a power of 320 MW.", LINK)
    told = quote("The lagoon has a power of 320 MW.", "The lagoon has a power of 320 MW.")
    both = {where.sha: where, own.sha: own}
    assert list_independent_sources([said, told], both) == ["inst.example"]
    assert (
        len(
            list_independent_sources(
                [said, told], {where.sha: where.model_copy(update={"origins": []}), own.sha: own}
            )
        )
        == 2
    )


def test_two_pages_that_name_one_source_are_one_source_even_if_it_was_not_read() -> None:
    one, said = words_of(
        f"According to [the institute]({LINK}), it makes 320 megawatts.", "it makes 320 mega"
    )
    two = one.model_copy(update={"sha": sha("two"), "address": "https://other.example/x", "sketch": ""})
    again = said.model_copy(update={"page": two.sha, "text": "the plant is rated at 320 MW"})
    assert list_independent_sources([said, again], {one.sha: one, two.sha: two}) == ["inst.example"]


def test_a_copied_press_release_is_one_source() -> None:
    release = page("r", "https://maker.example/press-releases/1", sketch=make_sketch(TIDES))
    copied = page("c", "https://paper.example/x", sketch=make_sketch(f"{TIDES[:2600]} Our reporter saw it."))
    other = page(
        "o",
        "https://third.example/x",
        sketch=make_sketch("Somebody else wrote of it at length."),
    )
    quotes = [quote("a figure", "r"), quote("the same figure said otherwise", "c"), quote("again", "o")]
    assert len(list_independent_sources(quotes, {p.sha: p for p in (release, copied, other)})) == 2


@pytest.mark.parametrize(
    ("left", "right", "count"),
    [
        (
            "The lagoon at Swale delivers 320 megawatts of power to our grid at every spring tide of it",
            "The lagoon at Swale delivers 320 megawatts of power to our grid at every spring tide, so",
            1,
        ),
        (
            "솔섬 조력발전소의 설비 용량은 254메가와트이며 해마다 5억 킬로와트시의 전기를 만든다고 한다.",
            "솔섬 조력발전소의 설비 용량은 254메가와트이며 해마다 5억 킬로와트시의 전기를 만듭니다.",
            1,
        ),
        ("The lagoon delivers 320 megawatts.", "The lagoon gives 320 megawatts.", 2),
        (
            "The lagoon at Swale delivers 320 megawatts of power to our grid at every spring tide of it",
            "Engineers measured 320 megawatts at the turbines of Swale when the spring tide stood highest",
            2,
        ),
    ],
)
def test_a_sentence_copied_with_a_word_changed_is_one_source(left: str, right: str, count: int) -> None:
    pages = {sha("a"): page("a", "https://one.example/"), sha("b"): page("b", "https://two.example/")}
    assert len(list_independent_sources([quote(left, "a"), quote(right, "b")], pages)) == count


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (
            {"address": "https://arxiv.org/abs/2401.00001v1"},
            {"address": "https://x.example/p", "doi": "10.48550/arXiv.2401.00001"},
        ),
        (
            {"address": "https://doi.org/10.1234/Abc.5"},
            {"address": "https://pub.example/article/10.1234/abc.5.pdf"},
        ),
        (
            {"address": "https://a.example/", "how": "pdf", "sketch": make_sketch(TIDES)},
            {"address": "https://b.example/", "sketch": make_sketch(f"{TIDES[:3400]} Menu Home Contact")},
        ),
        (
            {"address": "https://a.example/", "title": "Levels of the basin", "sketch": make_sketch(TIDES)},
            {
                "address": "https://b.example/",
                "title": "Levels of the Basin",
                "sketch": make_sketch(TIDES[:1800]),
            },
        ),
    ],
)
def test_renderings_of_one_document_are_one_source(left: dict[str, Any], right: dict[str, Any]) -> None:
    one, two = page("one", **left), page("two", **right)
    assert is_same_document(one, two)
    assert len(set(map_copies_to_originals([one, two]).values())) == 1
    assert len(set(map_pages_to_sources([one, two]).values())) == 1


def test_documents_of_one_title_with_other_words_are_two() -> None:
    one = page("one", "https://a.example/", title="Annual report", sketch=make_sketch(TIDES))
    two = page(
        "two",
        "https://b.example/",
        title="Annual report",
        sketch=make_sketch(TIDES.replace("basin", "hall").replace("year", "week")),
    )
    assert not is_same_document(one, two)


def test_who_is_named_by_others_or_publishes_its_own_is_primary() -> None:
    news = read(f"According to [the institute]({LINK}), it makes 320 megawatts.")
    own = page("own", LINK)
    office = page("office", "https://kostat.go.kr/x")
    paper = page("paper", "https://pub.example/x", doi="10.1/x")
    release = page("release", "https://maker.example/newsroom/lagoon")
    blog = page("blog", "https://blog.example/x")
    file = page("file", "file:///notes/press-releases/x.md")
    found = find_primary_pages([news, own, office, paper, release, blog, file])
    assert found == {own.sha, office.sha, paper.sha, release.sha}


def test_a_primary_source_is_the_first_of_equals_and_marked() -> None:
    news, said = words_of(
        f"According to [the institute]({LINK}), it makes 320 megawatts.", "it makes 320 mega"
    )
    own = page("The lagoon makes 320 megawatts.", LINK)
    first = claim("It makes 320 megawatts.", "c1", quotes=[said], relevance=0.9)
    second = claim(
        "The lagoon makes 320 megawatts.", "c2", quotes=[quote(own.title, own.title)], relevance=0.8
    )
    second = second.model_copy(update={"quotes": [said.model_copy(update={"page": own.sha})]})
    [told] = make_findings([[first, second]], [news, own])
    assert (told.claims, told.primary, told.is_primary) == (["c2", "c1"], [own.sha], True)
    weak = second.model_copy(update={"relevance": 0.3})
    assert make_findings([[first, weak]], [news, own])[0].claims == ["c1", "c2"]
    assert not make_findings([[first]], [news])[0].is_primary
