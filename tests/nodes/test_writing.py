"""From outline to publishing: no sentence leaves without support, or without a mark."""

from typing import Any

import pytest
from fakes import FakeBudget, FakeModel, claim, cost, heading, judgement, page, section, sentence

from fathom.errors import Unreadable
from fathom.llm.port import Objection
from fathom.nodes.check import check
from fathom.nodes.outline import outline
from fathom.nodes.publish import publish
from fathom.nodes.rewrite import rewrite
from fathom.nodes.section import section as write
from fathom.nodes.settle import settle
from fathom.report.outlining import basis_of
from fathom.state import Chapter, Heading, Outline, RunConfig, Section, Sentence, Writing

CLAIMS = [
    claim("The Rance plant makes 240 megawatts.", name="a"),
    claim("Divers come in spring.", name="b"),
    claim("The gates are old.", name="c"),
]


async def outlined(*headings: Heading, title: str = "T") -> Outline:
    model = FakeModel(outlines=[Outline(title=title, headings=list(headings))], costs=[cost()])
    update = await outline({"question": "What is it?", "claims": CLAIMS}, model=model)
    assert update["costs"] == [cost()]
    return update["outline"]


async def test_a_claim_stands_under_one_heading_and_unknown_ones_under_none() -> None:
    made = await outlined(
        heading("a", "x", "a", name=""),
        heading("a", "y", name=""),
        heading("b", "a", name="Z", title="Notes"),
    )
    assert [(h.id, h.claims) for h in made.headings] == [("S1", ["a"]), ("S2", ["b"])]


@pytest.mark.parametrize("headings", [[], [heading()], [heading("x", "y")]])
async def test_a_model_that_forgot_the_claims_still_leaves_a_report(headings: list[Heading]) -> None:
    made = await outlined(*headings, title="  ")
    assert made.title == "What is it?"
    assert [(h.id, h.title, h.claims) for h in made.headings] == [("S1", "What is it?", ["a", "b", "c"])]


async def test_an_outline_that_is_there_is_kept_and_costs_nothing() -> None:
    earlier = Outline(title="T", headings=[heading("a")], question="What is it?", seen=["a"])
    update = await outline(
        {"question": "What is it?", "claims": CLAIMS, "outline": earlier}, model=FakeModel()
    )
    assert [(h.id, h.title, h.claims) for h in update["outline"].headings] == [
        ("S1", "What is known", ["a", "b", "c"])
    ]
    assert "costs" not in update


async def test_the_outline_of_another_question_is_not_kept() -> None:
    earlier = Outline(title="T", headings=[heading("a")], question="What was it?", seen=["a"])
    model = FakeModel(outlines=[Outline(title="Report", headings=[heading("b")])])
    update = await outline({"question": "What is it?", "claims": CLAIMS, "outline": earlier}, model=model)
    assert (update["outline"].title, update["outline"].question) == ("Report", "What is it?")


async def written(*sentences: Any) -> Section:
    model = FakeModel(written=[section(*sentences, name="wrong", title="wrong")])
    given: Chapter = {"question": "What?", "heading": heading("a", "b"), "claims": CLAIMS[:2]}
    return (await write(given, model=model))["draft"]


async def test_a_section_is_written_from_its_own_claims_only() -> None:
    made = await written(
        sentence("Both.", "a", "c", "a", "b"),
        sentence("  "),
        sentence("So much.", status="supported"),
        sentence("Only unknown.", "c", "zz"),
        sentence("Unknown to the model already.", status="unsupported"),
        sentence("Tides are dangerous.", status="connective"),
    )
    assert (made.id, made.title) == ("S1", "What is known")
    assert made.basis == basis_of(heading("a", "b"), {c.id: c for c in CLAIMS})
    assert [(s.text, s.claims, s.status, s.fault) for s in made.sentences] == [
        ("Both.", ["a", "b"], "supported", None),
        ("So much.", [], "connective", None),
        ("Only unknown.", [], "unsupported", "unknown"),
        ("Unknown to the model already.", [], "unsupported", "unknown"),
        ("Tides are dangerous.", [], "unsupported", "uncited"),
    ]


async def test_a_paragraph_that_came_as_one_sentence_is_checked_sentence_by_sentence() -> None:
    made = await written(sentence("Divers come in spring [E2]. They like the 7 gates. (E1)", "b"))
    assert [(s.text, s.claims) for s in made.sentences] == [
        ("Divers come in spring.", ["b"]),
        ("They like the 7 gates.", ["b"]),
    ]


async def checked(text: Section, *objections: Objection) -> tuple[list[tuple[str, str]], FakeModel]:
    model = FakeModel(objections=[list(objections)], costs=[cost()])
    update = await check({"draft": text, "claims": CLAIMS}, model=model)
    return [(s.status, s.why) for s in update["draft"].sentences], model


async def test_what_code_refuses_and_what_is_quoted_is_not_shown_to_the_model() -> None:
    found, model = await checked(
        section(
            sentence("The Rance plant makes 240 megawatts.", "a"),
            sentence("The Rance plant makes 250 megawatts.", "a"),
            sentence("In Brittany divers come in spring.", "b"),
            sentence("So much for that.", status="connective"),
            sentence("Divers arrive in spring.", "b"),
        )
    )
    assert [status for status, _ in found] == [
        "supported", "unsupported", "unsupported", "connective", "supported",
    ]  # fmt: skip
    assert "250" in found[1][1]
    shown, used = model.asked[0]
    assert [s.text for s in shown.sentences] == ["Divers arrive in spring."]
    assert [c.id for c in used] == ["b"]


async def test_a_claim_that_says_otherwise_is_no_longer_cited_for_a_sentence() -> None:
    span = "The main span of the Orla Bridge is {} metres long."
    known = [claim(span.format(n), name=f"m{n}", of=f"p{n}") for n in (410, 412)]
    text = section(sentence(span.format(410), "m410", "m412"), sentence(span.format(415), "m410", "m412"))
    update = await check({"draft": text, "claims": known}, model=FakeModel())
    first, second = update["draft"].sentences
    assert (first.status, first.claims) == ("supported", ["m410"])
    assert second.status == "unsupported"


async def test_a_section_of_quotes_needs_no_model() -> None:
    update = await check(
        {"draft": section(sentence("Divers come in spring", "b")), "claims": CLAIMS}, model=FakeModel()
    )
    assert update["draft"].sentences[0].status == "supported"


async def test_the_models_objections_fail_what_they_name_and_nothing_else() -> None:
    text = section(
        sentence("Divers come in spring.", "b"),
        sentence("The gates are worn.", "c"),
        sentence("Divers arrive in spring.", "b"),
        sentence("It has 7 gates.", "c"),
    )
    found, _ = await checked(
        text, Objection(0, "not old"), Objection(2, "x"), Objection(99, "x"), Objection(-1, "x")
    )
    assert found[:3] == [("supported", ""), ("unsupported", "not old"), ("supported", "")]
    assert found[3][0] == "unsupported"


async def test_a_check_that_fails_stops_the_run_where_it_stands() -> None:
    with pytest.raises(Unreadable):
        await check(
            {"draft": section(sentence("The gates are worn.", "c")), "claims": CLAIMS},
            model=FakeModel(objections=[Unreadable("no")]),
        )


FAILED = section(
    sentence("Divers come in spring.", "b"),
    sentence("It has 7 gates.", "c", status="unsupported"),
    sentence("It is blue.", status="unsupported"),
    sentence("It is red.", "c", status="unsupported"),
)


async def rewritten(*anew: Sentence) -> Chapter:
    model = FakeModel(rewrites=[list(anew)], costs=[cost()])
    given: Chapter = {"question": "What?", "heading": heading(), "claims": CLAIMS, "draft": FAILED}
    update = await rewrite(given, model=model)
    assert [s.text for s in model.asked[0].sentences] == ["It has 7 gates.", "It is blue.", "It is red."]
    return {**given, **update}


async def test_all_failed_sentences_are_rewritten_in_one_thought_and_only_they_are_checked_again() -> None:
    update = await rewritten(
        sentence("The gates are aged [1].", "c"), sentence(""), sentence("Divers come in spring.", "b")
    )
    assert [s.text for s in update["draft"].sentences] == [
        "Divers come in spring.", "The gates are aged.", "It is blue.", "It is red.",
    ]  # fmt: skip
    assert update["rewritten"] == [1]
    model = FakeModel(objections=[[]])
    again = await check(update, model=model)
    assert [s.text for s in model.asked[0][0].sentences] == ["The gates are aged."]
    settled = (await settle({**update, **again}, run_config=RunConfig()))["sections"][0]
    assert [s.text for s in settled.sentences] == ["Divers come in spring.", "The gates are aged."]
    assert [s.text for s in settled.rejected] == ["It is blue.", "It is red."]
    assert settled.rewritten == 1


async def test_a_rewrite_without_a_claim_or_with_too_few_answers_changes_nothing() -> None:
    update = await rewritten(sentence("So much for that.", status="connective"))
    assert (update["draft"], update["rewritten"]) == (FAILED, [])


async def test_what_still_fails_is_marked_when_asked_for() -> None:
    settled = (await settle({"draft": FAILED}, run_config=RunConfig(unsupported="mark")))["sections"][0]
    assert (settled.sentences, settled.rejected) == (FAILED.sentences, [])


async def test_a_section_that_only_connects_is_gone() -> None:
    text = section(
        sentence("So much for that.", status="connective"), sentence("It is red.", "c", status="unsupported")
    )
    settled = (await settle({"draft": text}, run_config=RunConfig()))["sections"][0]
    assert settled.sentences == []
    assert [s.text for s in settled.rejected] == ["It is red."]


async def test_publishing_needs_nothing_but_the_state_and_tells_what_was_cut_off() -> None:
    state: Writing = {
        "question": "What is it?",
        "pages": [page()],
        "claims": CLAIMS,
        "judgements": [judgement(stop="sufficient")],
        "outline": Outline(title="T", headings=[heading("a")]),
        "sections": [section(sentence("The Rance plant makes 240 megawatts.", "a"))],
    }
    lost = cost("cut off", 0.5)
    update = await publish(
        {**state, "costs": [cost("k")]}, budget=FakeBudget(cut_off=(cost("k"), lost)), run_config=RunConfig()
    )
    assert update["costs"] == [lost]  # nothing that was told already
    report = update["report"]
    assert (report.status, len(report.citations)) == ("complete", 1)
    assert "megawatts. [1]" in report.markdown
