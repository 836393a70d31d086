"""What writer and checker are shown: each passage once, and what is made of a table."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from fakes.records import claim, heading, points, section_brief

from fathom.evidence.checks.derivation import Passage
from fathom.llm.roles import writer
from fathom.llm.roles.answer_forms import WriteAnswer
from fathom.llm.roles.evidence import checker_prompt
from fathom.llm.roles.writer import key_points
from fathom.report.sentence_checks import CheckInput
from fathom.state.model_io import SentenceToCheck, SourceText


def test_a_quote_that_its_passage_shows_is_not_repeated_with_its_claim() -> None:
    seen, unseen = claim("Divers come.", name="a", of="one"), claim("Gates rust.", name="b", of="two")
    sources = [SourceText(seen.quotes[0].page, "One", passages=f"Before. {seen.quotes[0].text} After.")]
    by_key = key_points(points(seen, unseen))
    brief = section_brief(*by_key.values(), sources=sources)
    text = writer.writer_prompt(brief, brief.headings, by_key, "English").fill().user
    assert text.count(seen.quotes[0].text) == 2  # the claim and its passage
    assert f"quote: {unseen.quotes[0].text}" in text


def test_a_heading_over_the_row_names_that_is_missing_is_filled_in() -> None:
    row = {"cells": [{"text": "Rance"}, {"text": "240 MW", "claims": ["E1"]}]}
    form = WriteAnswer.model_validate({"blocks": [{"kind": "table", "columns": ["Power"], "rows": [row]}]})
    by_key = key_points(points(claim()))
    headings = section_brief(*by_key.values()).headings
    assert writer.read_sections(form, headings, by_key, [])[0].blocks[0].columns == ["", "Power"]


def test_a_refuter_sees_what_stands_around_a_quote_once_and_without_the_quote() -> None:
    told = claim("Divers come.", name="a", said="Divers come.")
    passage = Passage(("Divers come.",), around="In spring it is cold. Divers come. They leave.")
    items = [
        SentenceToCheck("Divers come.", "inference", ["a"]),
        SentenceToCheck("They come.", "inference", ["a"]),
    ]
    text = (
        checker_prompt("refuter", CheckInput(items, [told], {"a": passage}), items, language="English")
        .fill()
        .user
    )
    assert text.count("In spring it is cold. […] They leave.") == 1


def test_sentences_that_rest_on_the_same_do_not_repeat_it() -> None:
    items = [
        SentenceToCheck(text, "fact", ["a"], rests_on=["Divers were seen."]) for text in ("One.", "Two.")
    ]
    text = checker_prompt("checker", CheckInput(items, [claim(name="a")], {}), items).fill().user
    assert text.count("Divers were seen.") == 1
    assert "rests on: the same as sentence 1" in text


TWO_PARTS = [heading("a", name="S1"), heading("b", name="S2", title="Gates")]


def read(*blocks: dict[str, Any], limits: Sequence[str] = ()) -> list[list[str]]:
    by_key = key_points(points(claim("Divers come.", name="a"), claim("Gates rust.", name="b")))
    form = WriteAnswer.model_validate({"blocks": list(blocks)})
    return [
        [s.text for s in part.sentences] for part in writer.read_sections(form, TWO_PARTS, by_key, limits)
    ]


def test_blocks_go_to_the_parts_they_name_and_nameless_ones_follow() -> None:
    said = [{"text": "One.", "claims": ["E1"]}, {"text": "Two.", "claims": ["E2"]}]
    first, second = {"part": "S2", "sentences": said[:1]}, {"part": "", "sentences": said[1:]}
    assert read(first, second, {"part": "s1", "sentences": said}) == [["One.", "Two."], ["One.", "Two."]]


def test_without_any_part_named_sentences_go_where_their_claims_belong() -> None:
    said = [{"text": "One.", "claims": ["E2"]}, {"text": "Two.", "claims": ["E1"]}, {"text": "Three."}]
    assert read({"sentences": said}) == [["Two.", "Three."], ["One."]]


def test_a_key_of_a_limit_makes_a_limit() -> None:
    form = WriteAnswer.model_validate(
        {"blocks": [{"part": "S1", "sentences": [{"text": "Nobody knows.", "claims": ["L2"]}]}]}
    )
    (told,) = writer.read_sections(form, TWO_PARTS[:1], key_points(points(claim())), ["x", "No figures."])
    assert [(s.kind, s.limits, s.status) for s in told.sentences] == [
        ("limit", ["No figures."], "connective")
    ]


def test_a_claim_of_two_parts_is_shown_once() -> None:
    by_key = key_points(points(claim("Divers come.", name="a")))
    shared = [heading("a", name="S1"), heading("a", name="S2")]
    brief = replace(section_brief(*by_key.values()), headings=shared)
    text = writer.writer_prompt(brief, shared, by_key, "English").fill().user
    assert text.count("E1: Divers come.") == 1
    assert "from above: E1" in text
