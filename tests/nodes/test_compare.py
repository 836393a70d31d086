"""The nodes of an update: intake and compare. Nothing that was known is lost."""

from typing import Any, cast

from fakes.records import claim, earlier, hit, page, query, quote, sha
from fakes.run_parts import empty_forecast
from fakes.services import FakePageLeases, FakePages, FakeRunConfigs

from fathom.nodes.compare import compare
from fathom.nodes.intake import intake
from fathom.state import Claim, Failure, Reading, ReadingRound, RunConfig

THEN = "The plant makes 240 megawatts. Divers come in spring. Nobody counts the seals."
NOW = "News of the plant. The plant makes 250 megawatts. Divers come in spring. Nobody counts the seals."
BEFORE = page(THEN)


def said(words: str, text: str, name: str) -> Claim:
    return claim(words, name=name, quotes=[quote(words, text, text.index(words))])


POWER = said("The plant makes 240 megawatts.", THEN, "c1")
DIVERS = said("Divers come in spring.", THEN, "c2")


async def compared(now: str | None, *drawn: Claim, kept: FakePages | None = None, **words: Any) -> Any:
    """What became of the page and its claims."""
    pages = kept or FakePages({sha(THEN): THEN})
    if now is not None:
        await pages.put(now)
    reading = {"hit": hit(), "before": BEFORE, "known": [POWER, DIVERS], **words}
    state: ReadingRound = {
        "readings": [cast(Reading, reading)],
        "pages": [page(now)] if now is not None else [],
        "claims": list(drawn),
        "failures": words.get("failures", []),
    }
    update = cast(Any, await compare(state, pages=pages))
    return update["pages"], update["claims"].value


async def test_an_update_asks_every_query_again_once_and_remembers_what_was_read() -> None:
    asked = [query("tides", "scout"), query("tides", "r1q1"), query("silt", "r1q2")]
    update = await intake(
        {"question": "What?", "earlier": earlier(asked=asked, offered=["https://b.example/unread"])},
        run_config=RunConfig(),
        run_configs=FakeRunConfigs(),
        page_leases=FakePageLeases(),
        forecaster=empty_forecast,
    )
    assert [(q.id, q.text, q.round) for q in update["queries"]] == [("r2q1", "tides", 2), ("r2q2", "silt", 2)]
    assert update["visited"] == ["https://a.example/x", "https://b.example/unread"]
    assert (update["outline"], update["sections"]) == (earlier().outline, earlier().sections)


async def test_a_page_that_says_the_same_keeps_its_claims() -> None:
    _, claims = await compared(THEN)
    assert claims == [POWER, DIVERS]


async def test_a_page_that_cannot_be_read_keeps_its_claims_and_is_marked() -> None:
    pages, claims = await compared(
        None, failures=[Failure(where="reading", what="https://a.example/x", why="404")]
    )
    assert claims == [POWER, DIVERS]
    assert pages == [BEFORE.model_copy(update={"gone": "404"})]


async def test_a_claim_whose_words_moved_keeps_its_name_and_gets_its_new_place() -> None:
    _, claims = await compared(NOW)
    assert claims[0].id == "c2"
    found = claims[0].quotes[0]
    assert found.page == sha(NOW)
    assert NOW[found.start : found.end] == "Divers come in spring."


async def test_what_was_drawn_anew_counts_only_if_the_page_did_not_say_it_before() -> None:
    new = said("The plant makes 250 megawatts.", NOW, "n1")
    again = said("Divers come in spring.", NOW, "n2")
    old = said("Nobody counts the seals.", NOW, "n3")
    _, claims = await compared(NOW, new, again, old)
    assert [c.statement for c in claims] == ["Divers come in spring.", "The plant makes 250 megawatts."]
    assert claims[0].id == "c2"


async def test_a_quotation_is_followed_by_what_stands_in_its_place() -> None:
    _, claims = await compared(NOW)
    assert [c.statement for c in claims] == ["Divers come in spring.", "The plant makes 250 megawatts."]
    found = claims[1].quotes[0]
    assert (found.page, NOW[found.start : found.end]) == (sha(NOW), found.text)
    assert claims[1].id != "c1"


async def test_a_statement_in_other_words_is_not_followed_by_words_of_code() -> None:
    told = POWER.model_copy(update={"statement": "It is strong."})
    _, claims = await compared(NOW, known=[told])
    assert claims == []


async def test_the_part_of_a_longer_quote_that_still_stands_is_not_lost() -> None:
    both = said("The plant makes 240 megawatts. Divers come in spring.", THEN, "c9")
    told = both.model_copy(update={"statement": "Strong, and dived to."})
    part = said("Divers come in spring.", NOW, "n1")
    other = said("Nobody counts the seals.", NOW, "n2")
    _, claims = await compared(NOW, part, other, known=[told])
    assert [c.id for c in claims] == ["n1"]


async def test_without_the_earlier_text_all_that_is_drawn_counts() -> None:
    old = said("Nobody counts the seals.", NOW, "n3")
    _, claims = await compared(NOW, old, kept=FakePages())
    assert [c.id for c in claims][::2] == ["c2", "n3"]


async def test_a_paper_of_which_only_the_landing_page_is_left_is_gone() -> None:
    before = BEFORE.model_copy(update={"how": "pdf"})
    pages, claims = await compared(NOW, before=before)
    assert claims == [POWER, DIVERS]
    assert "another form" in pages[0].gone
