"""The recall: what a thread knows is looked through, nothing is searched or fetched."""

from fakes.records import claim, known, page, question, quote, sha
from fakes.services import NO_SIGNALS, FakePageLeases, FakePages

from fathom.nodes.selector import selector
from fathom.state import ResearchState, RunConfig

POWER = "The barrage at Ouseport makes 240 megawatts of power. It has sixteen gates."
SILT = "Silt gathers behind the barrage at Ouseport every winter."
CHEESE = "A hard cheese ripens for eighteen months in a cool cellar."
COSTS = [f"Tidal power at plant {name} costs {n} euros." for n, name in enumerate("ABCDE", 30)]
ADDRESSES = {POWER: "https://a.example/power", SILT: "https://a.example/silt", CHEESE: "https://b.example"}


async def recalled(
    asked: str, *texts: str, kept: tuple[str, ...] | None = None, most: int = 5
) -> ResearchState:
    """What is recalled for one question, of pages with these texts."""
    pages = [
        page(text, ADDRESSES.get(text, f"https://c.example/{sha(text)}"), title="A page") for text in texts
    ]
    claims = [claim(text, name=f"c{n}", quotes=[quote(text, text)]) for n, text in enumerate(texts)]
    stored = FakePages({sha(text): text for text in (texts if kept is None else kept)})
    state: ResearchState = {
        "question": asked,
        "questions": [question(1, asked)],
        "known": known(pages=pages, claims=claims),
    }
    return await selector(
        state,
        run_config=RunConfig(sources=most),
        page_leases=FakePageLeases(),
        signals=NO_SIGNALS,
        pages=stored,
    )


async def test_pages_that_bear_on_the_question_are_read_again() -> None:
    update = await recalled("How long does a hard cheese ripen?", POWER, SILT, CHEESE)
    assert update["recalled"] == [sha(CHEESE)]
    assert [p.address for p in update["pages"]] == ["https://b.example"]
    assert update["claims"] == []
    assert update["visited"] == ["https://b.example"]
    assert update["failures"] == []


async def test_what_does_not_bear_on_it_is_let_go() -> None:
    update = await recalled("Which comet passed Jupiter?", POWER, SILT, CHEESE)
    assert (update["recalled"], update["pages"], update["claims"]) == ([], [], [])
    after = update["known"]
    assert (after.pages, after.claims, after.is_recalled, after.is_at_hand) == ([], [], True, False)
    assert after.turns == known().turns


async def test_claims_of_pages_that_are_not_read_again_are_carried_over() -> None:
    update = await recalled("How much does tidal power cost?", *COSTS)
    assert len(update["recalled"]) == 3
    others = [text for text in COSTS if sha(text) not in update["recalled"]]
    assert sorted(c.statement for c in update["claims"]) == others
    assert {c.question for c in update["claims"]} == {"Q1"}
    assert len(update["pages"]) == len(update["visited"]) == len(COSTS)


async def test_a_page_whose_text_is_gone_is_told_and_not_used() -> None:
    update = await recalled("How long does a hard cheese ripen?", POWER, CHEESE, kept=(POWER,))
    assert update["recalled"] == []
    assert update["pages"] == []
    assert [(failure.where, failure.what) for failure in update["failures"]] == [
        ("reading", "https://b.example")
    ]


async def test_a_follow_up_in_another_language_reads_what_it_cannot_compare() -> None:
    update = await recalled("경질 치즈는 얼마나 오래 숙성되나요?", CHEESE)
    assert update["recalled"] == [sha(CHEESE)]
