"""Pages are weighed together: what one lacks another may have, and one leads to another."""

from fakes.records import claim, page, sha
from fakes.services import FakePages

from fathom.evidence.link_paths import (
    MOST_PAGES,
    build_link_paths,
    cut_around,
    find_convergence,
    load_excerpts,
    load_link_paths,
    missing_words,
    propose_follow_up_queries,
)
from fathom.evidence.stopping import make_reason
from fathom.state.model_io import PageExcerpt

ASKED = "In which country was the builder of the Rance barrage born?"
BARRAGE = PageExcerpt("barrage", "Rance barrage", "The Rance barrage was planned by Ada Morin in 1960.")
BUILDER = PageExcerpt(
    "builder", "Ada Morin (engineer)", "Ada Morin, born in the country of Malta, was a builder."
)
COUNTRY = PageExcerpt("country", "Country music", "Country music was born in which state of the country?")
CANTEEN = PageExcerpt("canteen", "Canteen", "The canteen serves soup on Fridays.")


def test_a_page_that_a_good_page_names_comes_before_one_with_more_of_the_words() -> None:
    link_paths = build_link_paths(ASKED, [CANTEEN, COUNTRY, BUILDER, BARRAGE])
    assert set(link_paths.best[:2]) == {"barrage", "builder"}
    assert link_paths.best[-1] == "canteen"
    assert ("barrage", "builder") in link_paths.links
    assert set(missing_words(link_paths, "barrage")) == {"country", "builder", "born"}


def test_nothing_read_leads_nowhere() -> None:
    link_paths = build_link_paths(ASKED, [])
    assert (
        link_paths.best,
        propose_follow_up_queries(link_paths, [], 5),
        find_convergence(link_paths, []),
    ) == ([], [], None)


def test_names_are_followed_once_with_the_words_their_page_lacks() -> None:
    link_paths = build_link_paths(ASKED, [BARRAGE, CANTEEN])
    assert propose_follow_up_queries(link_paths, [], 5)[0] == "Ada Morin country builder born"
    assert not any(
        "Ada" in query for query in propose_follow_up_queries(link_paths, ["Ada Morin country"], 5)
    )
    assert propose_follow_up_queries(link_paths, [], 0) == []


def test_what_the_question_names_and_what_was_read_is_not_followed() -> None:
    queries = propose_follow_up_queries(build_link_paths(ASKED, [BARRAGE, BUILDER]), [], 5)
    assert not any(query.startswith(("Rance", "Ada")) for query in queries)


def test_korean_pages_lead_to_each_other_too() -> None:
    asked = "시화호 조력발전소를 설계한 사람의 고향은 어디인가?"
    plant = PageExcerpt("plant", "시화호 조력발전소", "시화호 조력발전소를 설계한 사람은 『윤가람』이다.")
    link_paths = build_link_paths(asked, [plant, PageExcerpt("soup", "국수", "점심 메뉴는 국수이다.")])
    assert link_paths.best[0] == "plant"
    assert propose_follow_up_queries(link_paths, [], 3)[0].startswith("윤가람")
    assert "고향은" in propose_follow_up_queries(link_paths, [], 3)[0]
    native = PageExcerpt("native", "윤가람", "윤가람의 고향은 통영이다.")
    assert build_link_paths(asked, [plant, native]).best == ["plant", "native"]


def test_evidence_is_settled_when_linked_pages_have_the_question_or_a_round_changed_little() -> None:
    found = find_convergence(build_link_paths(ASKED, [BARRAGE, BUILDER, CANTEEN]), [])
    assert found == make_reason("linked_pages", percent=100)
    loose = build_link_paths(ASKED, [BARRAGE, COUNTRY, CANTEEN])
    assert find_convergence(loose, []) is None
    assert find_convergence(loose, ["other", "another", "barrage"]) is None
    assert (
        find_convergence(loose, loose.best) is None
    )  # pages that do not lead to each other say nothing by staying
    joined = build_link_paths(
        ASKED, [BARRAGE, PageExcerpt("morin", "Ada Morin", "Ada Morin was born at sea."), CANTEEN]
    )
    assert find_convergence(joined, [*joined.best[:2], "other"]) == make_reason("best_pages", new=1, best=3)


def test_words_of_programs_common_words_and_orders_are_no_leads() -> None:
    text = (
        "The barrage keeps thread_id and PutRequest for Python. Use Ada Morin here. It writes python too, "
        "and UTF-8.\n\ncall(Iterator[str], x=[None], y={1: Klaus})\n"
    )
    queries = propose_follow_up_queries(
        build_link_paths(ASKED, [PageExcerpt("p", "Gates", text), CANTEEN]), [], 8
    )
    assert [query.split(" In ")[0][:9] for query in queries] == ["Ada Morin"]


def test_a_page_that_leaves_nothing_open_leads_nowhere() -> None:
    whole = PageExcerpt(
        "whole", "Rance", "The builder of the Rance barrage was born in the country of Ada Morin."
    )
    assert propose_follow_up_queries(build_link_paths(ASKED, [whole]), [], 5) == []


def test_parts_that_are_all_answered_are_settled_each_by_a_page_of_its_own() -> None:
    parts = ["How deep is the Rance?", "Who sweeps the canteen?"]
    deep = PageExcerpt("deep", "River", "The Rance is 12 metres deep.")
    swept = PageExcerpt("swept", "Staff", "Ola sweeps the canteen.")
    link_paths = build_link_paths(" ".join(parts), [deep, swept])
    assert find_convergence(link_paths, [], parts) == make_reason("parts", count=2)
    assert find_convergence(link_paths, []) is None
    assert find_convergence(build_link_paths(" ".join(parts), [deep, CANTEEN]), [], parts) is None


def test_a_comparison_is_settled_when_both_sides_were_read() -> None:
    asked = "Which is older, the Rance barrage or the Thorn barrage?"
    one = PageExcerpt("one", "Rance barrage", "The Rance barrage is 60 years old, or older.")
    two = PageExcerpt("two", "Thorn barrage", "The Thorn barrage is older.")
    assert find_convergence(build_link_paths(asked, [one, two]), [])


def test_the_same_pages_give_the_same_trails() -> None:
    pages = [CANTEEN, COUNTRY, BUILDER, BARRAGE]
    first, second = build_link_paths(ASKED, pages), build_link_paths(ASKED, pages)
    assert (first.best, first.worth, propose_follow_up_queries(first, [], 9)) == (
        second.best,
        second.worth,
        propose_follow_up_queries(second, [], 9),
    )


async def test_a_short_page_is_taken_whole_and_a_long_one_around_its_quotes() -> None:
    assert cut_around("short", [(0, 2)]) == "short"
    text = "start " + "x" * 5000 + " THE QUOTE " + "y" * 5000
    at = text.index("THE QUOTE")
    cut = cut_around(text, [(at, at + 9)])
    assert cut.startswith("start ")
    assert "THE QUOTE" in cut
    assert len(cut) < 1000
    assert len(cut_around(text, [(n, n + 50) for n in range(0, 9000, 100)])) < 2000


async def test_what_was_read_is_bounded_and_a_lost_text_is_left_out() -> None:
    store = FakePages()
    names = [await store.put(f"Text number {n}.") for n in range(MOST_PAGES + 9)]
    pages = [page("gone"), *(page(f"Text number {n}.", f"https://n{n}.example") for n in range(len(names)))]
    found = await load_excerpts(pages, [], store.get)
    assert len(found) == MOST_PAGES - 1  # the lost one had a place
    best = claim(of=f"Text number {len(names) - 1}.", relevance=0.9)
    assert names[-1] in {e.page for e in await load_excerpts(pages, [best], store.get)}
    assert (await load_link_paths(ASKED, [page("gone")], [], [], store.get)).best == []
    assert sha("Text number 0.") == names[0]
