"""The tables about agreement and disagreement."""

from typing import Any

import pytest
from fakes import claim, heading, judgement, page, question, section, sentence

from fathom.report.markdown import body
from fathom.report.publishing import published
from fathom.report.weights import certainty, disagreements, open_disputes
from fathom.report.words import ENGLISH, KOREAN
from fathom.state import Contradiction, Finding, Outline, Report, Side

SIDES = [
    Side(claims=["c1"], value="320 megawatts", pages=["a"], published=["2024-05-01T10:00"]),
    Side(claims=["c2", "c3"], value="280 MW", pages=["b", "c"], published=[None, None]),
]


def dispute(**words: Any) -> Contradiction:
    given = {"id": "x", "kind": "number", "question": "Q1", "about": "The lagoon makes … .", "sides": SIDES}
    return Contradiction.model_validate({**given, **words})


def finding(name: str, tag: str, about: str = "Q1") -> Finding:
    given = {"statement": "x", "question": about, "claims": [name], "voices": ["v"], "confidence": 0.6}
    return Finding.model_validate({"id": name, "tag": tag, **given})


def test_a_dispute_is_a_row_a_side_with_value_numbers_and_dates() -> None:
    numbers = {"c1": [1], "c2": [2], "c3": [3, 2]}
    title, table = disagreements([dispute()], numbers, ENGLISH)
    assert title == "## Where sources disagree"
    assert table.splitlines()[2:] == [
        "| The lagoon makes … . | “320 megawatts” | [1] | 2024-05-01 | open |",
        "|  | “280 MW” | [2][3] | undated | open |",
    ]


def test_a_settled_dispute_names_its_rule_beside_the_side_it_favours() -> None:
    entry = dispute(settled_by="newer official figure", favoured=1)
    lines = disagreements([entry], {"c1": [1], "c2": [2]}, ENGLISH)[1].splitlines()
    assert lines[2].endswith("| 2024-05-01 |  |")
    assert lines[3].endswith("| for this one: newer official figure |")
    assert "더 새로운 공식 수치" in disagreements([entry], {"c1": [1], "c2": [2]}, KOREAN)[1]


@pytest.mark.parametrize("numbers", [{}, {"c1": [1]}, {"c1": [1], "c2": []}])
def test_a_dispute_of_which_a_side_cannot_be_cited_is_not_shown(numbers: dict[str, list[int]]) -> None:
    assert disagreements([dispute()], numbers, ENGLISH) == []


def test_words_of_sources_cannot_break_the_table() -> None:
    evil = "a | b\n| [x](https://evil.example/y) <b>"
    sides = [SIDES[0].model_copy(update={"value": evil}), SIDES[1]]
    table = disagreements([dispute(about=evil, sides=sides)], {"c1": [1], "c2": [2]}, ENGLISH)[1]
    assert len(table.splitlines()) == 4
    assert "https://evil" not in table
    assert "](" not in table
    assert table.splitlines()[2].replace("\\|", "").count("|") == 6


def test_how_sure_counts_what_the_report_tells_by_part_of_the_question() -> None:
    findings = [
        finding("a", "HIGH"),
        finding("b", "LIKELY"),
        finding("c", "LIKELY"),
        finding("d", "HIGH", "Q2"),
    ]
    asked = [question(1, "What is it?"), question(2, "What does it cost?"), question(3, "Why?")]
    title, table, legend = certainty(findings, asked, {"a": [1], "b": [2], "d": [1], "c": []}, ENGLISH)
    assert title == "## How sure"
    assert table.splitlines() == [
        "| Part of the question | HIGH | LIKELY |",
        "| --- | --- | --- |",
        "| What is it? | 1 | 1 |",
        "| What does it cost? | 1 |  |",
    ]
    assert "HIGH: two independent sources say it." in legend
    assert "VERIFIED" not in legend
    assert "| 질문의 부분 | 높음 |" in certainty(findings, asked, {"a": [1], "d": [1]}, KOREAN)[1]
    assert certainty(findings, asked, {}, ENGLISH) == []


def made(**words: Any) -> Report:
    texts = {"c1": "one", "c2": "two", "c3": "three"}
    said = {
        "c1": "The lagoon makes 320 megawatts.",
        "c2": "The lagoon makes 280 MW.",
        "c3": "It makes 280 MW.",
    }
    return published(
        {
            "question": "What is it?",
            "questions": [question(1)],
            "pages": [page(text, f"https://{text}.example/", title=text) for text in texts.values()],
            "claims": [claim(said[name], name=name, of=text) for name, text in texts.items()],
            "judgements": [judgement(stop="sufficient", because="score")],
            "outline": Outline(title="A report", headings=[heading("c2")]),
            "sections": [section(sentence("The lagoon makes 280 MW.", "c2"))],
            **words,  # type: ignore[typeddict-item]
        }
    )


def test_sources_of_the_table_only_are_numbered_after_those_of_the_text() -> None:
    report = made(contradictions=[dispute()])
    assert [(c.number, c.title) for c in report.citations] == [(1, "two"), (2, "one"), (3, "three")]
    assert "“320 megawatts” | [2] |" in report.markdown
    assert "“280 MW” | [1][3] |" in report.markdown
    quotes = [quote.text for citation in report.citations for quote in citation.quotes]
    for side in SIDES:
        assert any(side.value in quote for quote in quotes)


def test_a_dispute_that_does_not_bear_on_the_question_is_not_shown() -> None:
    beside = [claim(f"Seals eat {n} fish a day.", name=f"s{n}", of="one", relevance=0.4) for n in (5, 7)]
    sides = [
        side.model_copy(update={"claims": [c.id], "value": c.statement})
        for side, c in zip(SIDES, beside, strict=True)
    ]
    known = [claim("The lagoon makes 280 MW.", name="c2", of="two"), *beside]
    assert "Seals" not in made(claims=known, contradictions=[dispute(sides=sides)]).markdown
    told = section(sentence("Seals eat 5 fish a day.", "s5"))
    assert (
        "“Seals eat 7" in made(claims=known, contradictions=[dispute(sides=sides)], sections=[told]).markdown
    )
    near = [known[0], beside[0], beside[1].model_copy(update={"relevance": 0.5})]
    assert "“Seals eat 5" in made(claims=near, contradictions=[dispute(sides=sides)]).markdown


def test_without_findings_and_disputes_there_are_no_tables() -> None:
    assert "|" not in made().markdown


def test_how_sure_is_one_line_for_a_question_of_one_part() -> None:
    findings, numbers = [finding("a", "HIGH"), finding("b", "LIKELY")], {"a": [1], "b": [2]}
    line = certainty(findings, [question(1, "What is it?")], numbers, ENGLISH)[1]
    assert line.startswith("HIGH: 1 of 2 (two independent sources say it). LIKELY: 1 of 2 (")
    assert certainty(findings, [question(1)], numbers, KOREAN)[1].startswith("높음: 2개 중 1개 (")


def test_a_sentence_that_sources_dispute_says_so_until_a_rule_settles_it() -> None:
    numbers = {"c1": [1], "c2": [2]}
    told = [section(sentence("The lagoon makes 320 megawatts.", "c1"), sentence("It is old.", "c9"))]
    for words, remark in ((ENGLISH, "(disputed, see below)"), (KOREAN, "(출처가 엇갈림, 아래 참고)")):
        text = body(told, numbers, words, open_disputes([dispute()], numbers, words))[1]
        assert text.startswith(f"The lagoon makes 320 megawatts. [1] {remark}")
        assert text.count(remark) == 1
    settled = dispute(settled_by="newer official figure", favoured=1)
    assert open_disputes([settled], numbers, ENGLISH) == {}
    assert open_disputes([dispute()], {"c1": [1]}, ENGLISH) == {}
