"""Outline, section, check, publish: no sentence leaves without support, or without a mark."""

from typing import Any

import pytest
from fakes import FakeMind, charge, claim, heading, judgement, page, section, sentence

from fathom.errors import Unreadable
from fathom.minds.port import Objection
from fathom.nodes.check import check
from fathom.nodes.outline import outline
from fathom.nodes.publish import publish
from fathom.nodes.section import section as write
from fathom.state import Heading, Knobs, Outline, Section, Writing

CLAIMS = [
    claim("The Rance plant makes 240 megawatts.", name="a"),
    claim("Divers come in spring.", name="b"),
    claim("The gates are old.", name="c"),
]


async def outlined(*headings: Heading, title: str = "T") -> Outline:
    mind = FakeMind(outlines=[Outline(title=title, headings=list(headings))], charges=[charge()])
    update = await outline({"question": "What is it?", "claims": CLAIMS}, mind=mind)
    assert update["charges"] == [charge()]
    return update["outline"]


async def test_a_claim_stands_under_one_heading_and_unknown_ones_under_none() -> None:
    made = await outlined(
        heading("a", "x", "a", name=""), heading("a", "y", name=""), heading("b", "a", name="Z")
    )
    assert [(h.id, h.claims) for h in made.headings] == [("S1", ["a"]), ("S2", ["b"])]


@pytest.mark.parametrize("headings", [[], [heading()], [heading("x", "y")]])
async def test_a_mind_that_forgot_the_claims_still_leaves_a_report(headings: list[Heading]) -> None:
    made = await outlined(*headings, title="  ")
    assert made.title == "What is it?"
    assert [(h.id, h.title, h.claims) for h in made.headings] == [("S1", "What is it?", ["a", "b", "c"])]


async def written(*sentences: Any) -> Section:
    mind = FakeMind(written=[section(*sentences, name="wrong", title="wrong")])
    given: Any = {"question": "What?", "heading": heading("a", "b"), "claims": CLAIMS[:2]}
    return (await write(given, mind=mind))["sections"][0]


async def test_a_section_is_written_from_its_own_claims_only() -> None:
    made = await written(
        sentence("Both.", "a", "c", "a", "b"),
        sentence("  "),
        sentence("So much.", status="supported"),
        sentence("Only unknown.", "c", "zz"),
        sentence("Unknown to the mind already.", status="unsupported"),
    )
    assert (made.id, made.title) == ("S1", "What is known")
    assert [(s.text, s.claims, s.status) for s in made.sentences] == [
        ("Both.", ["a", "b"], "supported"),
        ("So much.", [], "connective"),
        ("Only unknown.", [], "unsupported"),
        ("Unknown to the mind already.", [], "unsupported"),
    ]


async def checked(text: Section, *objections: Objection) -> tuple[list[tuple[str, str]], FakeMind]:
    mind = FakeMind(objections=[list(objections)], charges=[charge()])
    update = await check({"sections": [text], "claims": CLAIMS}, mind=mind)
    assert update["charges"] == [charge()]
    return [(s.status, s.why) for s in update["sections"][0].sentences], mind


async def test_numbers_and_names_that_are_not_quoted_are_marked_in_code() -> None:
    found, mind = await checked(
        section(
            sentence("The Rance plant makes 240 megawatts.", "a"),
            sentence("The Rance plant makes 250 megawatts.", "a"),
            sentence("In Brittany divers come in spring.", "b"),
            sentence("Since 1966 much has changed.", status="connective"),
            sentence("So much for that.", status="connective"),
        )
    )
    assert [status for status, _ in found] == [
        "supported", "unsupported", "unsupported", "unsupported", "connective",
    ]  # fmt: skip
    assert found[1][1] == "not in its quotes: 250"
    shown, used = mind.asked[0]
    assert [c.id for c in used] == ["a"]
    assert shown.sentences[1].status == "unsupported"


async def test_the_minds_objections_mark_what_they_name_and_nothing_else() -> None:
    text = section(
        sentence("Divers come in spring.", "b"),
        sentence("The gates are worn.", "c"),
        sentence("So much.", status="connective"),
        sentence("It has 7 gates.", "c"),
    )
    found, _ = await checked(
        text,
        Objection(1, "not old"),
        Objection(2, "x"),
        Objection(3, "x"),
        Objection(99, "x"),
        Objection(-1, "x"),
    )
    assert found[:3] == [("supported", ""), ("unsupported", "not old"), ("unsupported", "x")]
    assert found[3] == ("unsupported", "not in its quotes: 7")


async def test_no_objection_holds_against_a_sentence_that_is_its_quote() -> None:
    found, _ = await checked(section(sentence("Divers come in spring", "b")), Objection(0, "not so"))
    assert found == [("supported", "")]


async def test_every_section_is_checked_and_keeps_its_place() -> None:
    mind = FakeMind(objections=[[], [Objection(0, "no")]])
    texts = [section(sentence("Divers arrive in spring.", "b"), name=f"S{n}") for n in (1, 2)]
    update = await check({"sections": texts, "claims": CLAIMS}, mind=mind)
    assert [(s.id, s.sentences[0].status) for s in update["sections"]] == [
        ("S1", "supported"),
        ("S2", "unsupported"),
    ]


async def test_a_check_that_fails_stops_the_run_where_it_stands() -> None:
    with pytest.raises(Unreadable):
        await check({"sections": [section()], "claims": []}, mind=FakeMind(objections=[Unreadable("no")]))


async def test_publishing_needs_nothing_but_the_state() -> None:
    state: Writing = {
        "question": "What is it?",
        "knobs": Knobs(),
        "pages": [page()],
        "claims": CLAIMS,
        "judgements": [judgement(stop="sufficient")],
        "outline": Outline(title="T", headings=[heading("a")]),
        "sections": [section(sentence("The Rance plant makes 240 megawatts.", "a"))],
    }
    report = (await publish(state))["report"]
    assert (report.status, len(report.citations)) == ("complete", 1)
    assert "megawatts. [1]" in report.markdown
