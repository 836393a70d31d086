"""What writer and checker are shown: each passage once, and what is made of a table."""

from fakes.records import claim, points, section_brief

from fathom.evidence.checks.derivation import Passage
from fathom.llm.roles import writer
from fathom.llm.roles.answer_forms import WriteAnswer
from fathom.llm.roles.verifier import checker_prompt
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
    text = checker_prompt("refuter", CheckInput(items, [told], {"a": passage}), items).fill().user
    assert text.count("In spring it is cold. […] They leave.") == 1


def test_sentences_that_rest_on_the_same_do_not_repeat_it() -> None:
    items = [
        SentenceToCheck(text, "fact", ["a"], rests_on=["Divers were seen."]) for text in ("One.", "Two.")
    ]
    text = checker_prompt("checker", CheckInput(items, [claim(name="a")], {}), items).fill().user
    assert text.count("Divers were seen.") == 1
    assert "rests on: the same as sentence 1" in text
