"""Pages are weighed together: what one lacks another may have, and one leads to another."""

from fakes import FakePages, claim, page, sha

from fathom.evidence.excerpts import MOST_PAGES, Excerpt, around, excerpts
from fathom.evidence.leads import follow_ups, walked
from fathom.evidence.settling import settled
from fathom.evidence.trails import follow, missing_words

ASKED = "In which country was the builder of the Rance barrage born?"
BARRAGE = Excerpt("barrage", "Rance barrage", "The Rance barrage was planned by Ada Morin in 1960.")
BUILDER = Excerpt(
    "builder", "Ada Morin (engineer)", "Ada Morin, born in the country of Malta, was a builder."
)
COUNTRY = Excerpt("country", "Country music", "Country music was born in which state of the country?")
CANTEEN = Excerpt("canteen", "Canteen", "The canteen serves soup on Fridays.")


def test_a_page_that_a_good_page_names_comes_before_one_with_more_of_the_words() -> None:
    trails = follow(ASKED, [CANTEEN, COUNTRY, BUILDER, BARRAGE])
    assert set(trails.best[:2]) == {"barrage", "builder"}
    assert trails.best[-1] == "canteen"
    assert ("barrage", "builder") in trails.links
    assert set(missing_words(trails, "barrage")) == {"country", "builder", "born"}


def test_nothing_read_leads_nowhere() -> None:
    trails = follow(ASKED, [])
    assert (trails.best, follow_ups(trails, [], 5), settled(trails, [])) == ([], [], "")


def test_names_are_followed_once_with_the_words_their_page_lacks() -> None:
    trails = follow(ASKED, [BARRAGE, CANTEEN])
    assert follow_ups(trails, [], 5)[0] == "Ada Morin country builder born"
    assert not any("Ada" in query for query in follow_ups(trails, ["Ada Morin country"], 5))
    assert follow_ups(trails, [], 0) == []


def test_what_the_question_names_and_what_was_read_is_not_followed() -> None:
    queries = follow_ups(follow(ASKED, [BARRAGE, BUILDER]), [], 5)
    assert not any(query.startswith(("Rance", "Ada")) for query in queries)


def test_korean_pages_lead_to_each_other_too() -> None:
    asked = "시화호 조력발전소를 설계한 사람의 고향은 어디인가?"
    plant = Excerpt("plant", "시화호 조력발전소", "시화호 조력발전소를 설계한 사람은 『윤가람』이다.")
    trails = follow(asked, [plant, Excerpt("soup", "국수", "점심 메뉴는 국수이다.")])
    assert trails.best[0] == "plant"
    assert follow_ups(trails, [], 3)[0].startswith("윤가람")
    assert "고향은" in follow_ups(trails, [], 3)[0]
    native = Excerpt("native", "윤가람", "윤가람의 고향은 통영이다.")
    assert follow(asked, [plant, native]).best == ["plant", "native"]


def test_evidence_is_settled_when_linked_pages_have_the_question_or_a_round_changed_little() -> None:
    assert "question" in settled(follow(ASKED, [BARRAGE, BUILDER, CANTEEN]), [])
    loose = follow(ASKED, [BARRAGE, COUNTRY, CANTEEN])
    assert settled(loose, []) == ""
    assert settled(loose, ["other", "another", "barrage"]) == ""
    assert settled(loose, loose.best) == ""  # pages that do not lead to each other say nothing by staying
    joined = follow(ASKED, [BARRAGE, Excerpt("morin", "Ada Morin", "Ada Morin was born at sea."), CANTEEN])
    assert settled(joined, [*joined.best[:2], "other"]) == "1 of the 3 best pages is new"


def test_words_of_programs_common_words_and_orders_are_no_leads() -> None:
    text = (
        "The barrage keeps thread_id and PutRequest for Python. Use Ada Morin here. It writes python too, "
        "and UTF-8.\n\ncall(Iterator[str], x=[None], y={1: Klaus})\n"
    )
    queries = follow_ups(follow(ASKED, [Excerpt("p", "Gates", text), CANTEEN]), [], 8)
    assert [query.split(" In ")[0][:9] for query in queries] == ["Ada Morin"]


def test_a_page_that_leaves_nothing_open_leads_nowhere() -> None:
    whole = Excerpt(
        "whole", "Rance", "The builder of the Rance barrage was born in the country of Ada Morin."
    )
    assert follow_ups(follow(ASKED, [whole]), [], 5) == []


def test_parts_that_are_all_answered_are_settled_each_by_a_page_of_its_own() -> None:
    parts = ["How deep is the Rance?", "Who sweeps the canteen?"]
    deep = Excerpt("deep", "River", "The Rance is 12 metres deep.")
    swept = Excerpt("swept", "Staff", "Ola sweeps the canteen.")
    trails = follow(" ".join(parts), [deep, swept])
    assert settled(trails, [], parts) == "each of the 2 parts has a page that has all of it"
    assert settled(trails, []) == ""
    assert settled(follow(" ".join(parts), [deep, CANTEEN]), [], parts) == ""


def test_a_comparison_is_settled_when_both_sides_were_read() -> None:
    asked = "Which is older, the Rance barrage or the Thorn barrage?"
    one = Excerpt("one", "Rance barrage", "The Rance barrage is 60 years old, or older.")
    two = Excerpt("two", "Thorn barrage", "The Thorn barrage is older.")
    assert settled(follow(asked, [one, two]), [])


def test_the_same_pages_give_the_same_trails() -> None:
    pages = [CANTEEN, COUNTRY, BUILDER, BARRAGE]
    first, second = follow(ASKED, pages), follow(ASKED, pages)
    assert (first.best, first.worth, follow_ups(first, [], 9)) == (
        second.best,
        second.worth,
        follow_ups(second, [], 9),
    )


async def test_a_short_page_is_taken_whole_and_a_long_one_around_its_quotes() -> None:
    assert around("short", [(0, 2)]) == "short"
    text = "start " + "x" * 5000 + " THE QUOTE " + "y" * 5000
    at = text.index("THE QUOTE")
    cut = around(text, [(at, at + 9)])
    assert cut.startswith("start ")
    assert "THE QUOTE" in cut
    assert len(cut) < 1000
    assert len(around(text, [(n, n + 50) for n in range(0, 9000, 100)])) < 2000


async def test_what_was_read_is_bounded_and_a_lost_text_is_left_out() -> None:
    store = FakePages()
    names = [await store.put(f"Text number {n}.") for n in range(MOST_PAGES + 9)]
    pages = [page("gone"), *(page(f"Text number {n}.", f"https://n{n}.example") for n in range(len(names)))]
    found = await excerpts(pages, [], store.get)
    assert len(found) == MOST_PAGES - 1  # the lost one had a place
    best = claim(of=f"Text number {len(names) - 1}.", relevance=0.9)
    assert names[-1] in {e.page for e in await excerpts(pages, [best], store.get)}
    assert (await walked(ASKED, [page("gone")], [], [], store.get)).best == []
    assert sha("Text number 0.") == names[0]
