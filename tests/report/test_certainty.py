"""The tables about agreement and disagreement."""

import re
from typing import Any

import pytest
from fakes.records import claim, gap, heading, judgement, page, question, section, sentence

from fathom.report.certainty import (
    ReportBasis,
    describe_certainty,
    describe_progress,
    describe_status,
    dispute_rows,
    find_doubts,
    relevant_disputes,
    report_status,
)
from fathom.report.layout import DisputeRow
from fathom.report.publish import publish_report
from fathom.report.statistics import certainty_table
from fathom.state import Contradiction, ContradictionSide, Failure, Finding, Outline, Report, Status, Tag
from fathom.text.messages import ENGLISH, KOREAN, Messages


def outcome(**words: Any) -> ReportBasis:
    given: dict[str, Any] = {
        "judgement": judgement(stop="sufficient"),
        "sections": [section(sentence("x", "c1"))],
        "questions": [question(1)],
        "used": [claim()],
        "findings": [tagged_finding("LIKELY")],
        "failures": [],
    }
    return ReportBasis(**{**given, **words})


def tagged_finding(tag: Tag) -> Finding:
    return Finding(
        id=tag,
        statement="x",
        question="Q1",
        claims=["c1"],
        independent_sources=["a"],
        confidence=0.6,
        tag=tag,
    )


@pytest.mark.parametrize(
    ("words", "status", "why"),
    [
        ({}, "complete", []),
        ({"used": []}, "failed", ["thin"]),
        ({"judgement": judgement(stop="budget used up")}, "partial", []),
        ({"failures": [Failure(where="model", what="x", why="y")]}, "partial", []),
        ({"failures": [Failure(where="search: tavily", what="x", why="y")]}, "partial", []),
        ({"failures": [Failure(where="reading", what="x", why="y")]}, "complete", []),
        ({"sections": [section(sentence("x", "c1")), section(name="S2")]}, "partial", []),
        ({"sections": [section(sentence("x", "c1")).model_copy(update={"is_quoted": True})]}, "partial", []),
        ({"judgement": judgement(gaps=[gap("medium"), gap("low")])}, "complete", []),
        ({"judgement": judgement(gaps=[gap("high")])}, "unsure", ["open"]),
        ({"questions": [question(1), question(2)]}, "complete", []),
        ({"questions": [question(1), question(2), question(3)]}, "unsure", ["thin"]),
        ({"used": [claim(relevance=0.4)]}, "unsure", ["thin"]),
        ({"questions": []}, "complete", []),
        ({"findings": [tagged_finding("UNCERTAIN"), tagged_finding("HIGH")]}, "complete", []),
        (
            {
                "findings": [
                    tagged_finding("UNCERTAIN"),
                    tagged_finding("CONTRADICTED"),
                    tagged_finding("HIGH"),
                ]
            },
            "unsure",
            ["weak"],
        ),
        (  # a dispute about something that does not bear on the question
            {
                "used": [claim(name="c2"), claim(relevance=0.2)],
                "findings": [tagged_finding("CONTRADICTED"), tagged_finding("CONTRADICTED")],
            },
            "complete",
            [],
        ),
        (
            {
                "used": [claim(name="c2"), claim()],
                "findings": [tagged_finding("CONTRADICTED"), tagged_finding("CONTRADICTED")],
            },
            "unsure",
            ["weak"],
        ),
        ({"findings": []}, "complete", []),
        (
            {
                "judgement": judgement(gaps=[gap("high")], stop="budget used up"),
                "used": [claim(relevance=0.1)],
            },
            "partial",
            ["open", "thin"],
        ),
    ],
)
def test_a_report_says_how_far_to_trust_it(words: dict[str, Any], status: Status, why: list[str]) -> None:
    made = outcome(**words)
    assert (report_status(made), find_doubts(made)) == (status, why)


def test_doubts_are_told_with_the_status_in_both_languages() -> None:
    assert describe_status("complete", [], ENGLISH) == "complete"
    assert describe_status("unsure", ["open"], ENGLISH) == "unsure: something important was not found"
    assert describe_status("partial", ["thin"], ENGLISH).startswith("partial: fewer than half")
    assert describe_status("failed", ["thin"], ENGLISH) == "nothing found"
    assert describe_status("unsure", ["open", "weak"], KOREAN).startswith("확실하지 않음: 중요한 것을")


@pytest.mark.parametrize(
    ("kind", "asked", "is_weak"),
    [
        ("number", "When did the Orla plant open?", False),
        ("number", "오를라 발전소는 언제 문을 열었나?", False),
        ("number", "Who built the Orla plant?", False),
        ("date", "Where is the Orla plant?", False),
        ("date", "When did the Orla plant open?", True),
        ("date", "How old is the Orla plant?", True),
        ("number", "How much does the Orla plant make?", True),
        ("number", "When did the Orla plant open, and how much does it make?", True),
        ("number", "When did the Orla plant open, and what limits it?", True),
        ("number", "What is the Orla plant?", True),
        ("other", "When did the Orla plant open?", True),
    ],
)
def test_a_dispute_about_what_was_not_asked_does_not_lower_the_status(
    kind: str, asked: str, is_weak: bool
) -> None:
    words = {"findings": [tagged_finding("CONTRADICTED")], "contradictions": [dispute(kind=kind)]}
    assert (find_doubts(outcome(question=asked, **words)) == ["weak"]) is is_weak


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (ENGLISH, "Sources also disagree about 1 thing that this report does not tell"),
        (KOREAN, "1가지에 대해서도"),
    ],
)
def test_a_dispute_that_the_report_does_not_tell_is_counted(words: Messages, said: str) -> None:
    other = SIDES[1].model_copy(update={"claims": ["c9"], "value": "9 MW"})
    untold = dispute(id="y", sides=[SIDES[1], other])
    found = [
        describe_certainty(outcome(contradictions=known), "complete", [], {"c1": [1]}, words)
        for known in ([dispute()], [dispute(), untold], [dispute(), dispute(id="z", is_certain=False)])
    ]
    assert [said in " ".join(lines) for lines in found] == [False, True, False]


@pytest.mark.parametrize("words", [ENGLISH, KOREAN])
def test_progress_never_sounds_complete_while_something_important_is_open(words: Messages) -> None:
    enough = describe_progress(1.0, has_high_gap=False, words=words)
    told = {describe_progress(covered, True, words) for covered in (0.0, 0.5, 1.0)}
    assert enough not in told
    assert describe_progress(0.8, False, words) != enough


SIDES = [
    ContradictionSide(claims=["c1"], value="320 megawatts", pages=["a"], published=["2024-05-01T10:00"]),
    ContradictionSide(claims=["c2", "c3"], value="280 MW", pages=["b", "c"], published=[None, None]),
]


def dispute(**words: Any) -> Contradiction:
    given = {"id": "x", "kind": "number", "question": "Q1", "about": "The lagoon makes … .", "sides": SIDES}
    return Contradiction.model_validate({**given, **words})


def finding(name: str, tag: str, about: str = "Q1") -> Finding:
    given = {
        "statement": "x",
        "question": about,
        "claims": [name],
        "independent_sources": ["v"],
        "confidence": 0.6,
    }
    return Finding.model_validate({"id": name, "tag": tag, **given})


def test_a_dispute_is_a_row_a_side_with_value_numbers_and_dates() -> None:
    rows = dispute_rows([dispute()], {"c1": [1], "c2": [2], "c3": [3, 2]}, ENGLISH)
    assert rows == [
        DisputeRow("The lagoon makes … .", "320 megawatts", [1], "2024-05-01", "open"),
        DisputeRow("", "280 MW", [2, 3], "undated", "open"),
    ]


def test_a_settled_dispute_names_its_rule_beside_the_side_it_favours() -> None:
    entry = dispute(settled_by="newer official figure", favoured=1)
    first, second = dispute_rows([entry], {"c1": [1], "c2": [2]}, ENGLISH)
    assert (first.settled, second.settled) == ("", "for this one: newer official figure")
    assert "더 새로운 공식 수치" in dispute_rows([entry], {"c1": [1], "c2": [2]}, KOREAN)[1].settled


@pytest.mark.parametrize("numbers", [{}, {"c1": [1]}, {"c1": [1], "c2": []}])
def test_a_dispute_of_which_a_side_cannot_be_cited_is_not_shown(numbers: dict[str, list[int]]) -> None:
    assert dispute_rows([dispute()], numbers, ENGLISH) == []


def test_words_of_sources_cannot_break_the_table() -> None:
    evil = "a | b\n| [x](https://evil.example/y) <b>"
    sides = [SIDES[0].model_copy(update={"value": evil}), SIDES[1]]
    text = made(contradictions=[dispute(about=evil, sides=sides)]).markdown
    table = re.split("disagree.*\n\n", text)[1].split("\n\n")[0]
    assert len(table.splitlines()) == 4
    assert "https://evil" not in text
    assert "](" not in text
    assert table.splitlines()[2].replace("\\|", "").count("|") == 6


def test_how_sure_counts_findings_by_part_of_the_question() -> None:
    findings = [
        finding("a", "HIGH"),
        finding("b", "LIKELY"),
        finding("d", "HIGH", "Q2"),
    ]
    asked = [question(1, "What is it?"), question(2, "What does it cost?"), question(3, "Why?")]
    table, legend = certainty_table(findings, asked, ENGLISH)
    assert table.splitlines() == [
        "| Part of the question | HIGH | LIKELY |",
        "| --- | --- | --- |",
        "| What is it? | 1 | 1 |",
        "| What does it cost? | 1 |  |",
    ]
    assert "HIGH: two independent sources say it." in legend
    assert "VERIFIED" not in legend
    assert "| 질문의 부분 | 높음 |" in certainty_table(findings[:1], asked, KOREAN)[0]
    assert certainty_table([], asked, ENGLISH) == []


def made(**words: Any) -> Report:
    texts = {"c1": "one", "c2": "two", "c3": "three"}
    said = {
        "c1": "The lagoon makes 320 megawatts.",
        "c2": "The lagoon makes 280 MW.",
        "c3": "It makes 280 MW.",
    }
    return publish_report(
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


def test_a_dispute_about_something_the_report_does_not_tell_is_not_shown() -> None:
    beside = [claim(f"Seals eat {n} fish a day.", name=f"s{n}", of="one") for n in (5, 7)]
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


def test_without_disputes_there_is_no_table() -> None:
    assert "|" not in made().markdown


def test_a_sentence_that_tells_one_side_of_an_open_dispute_is_marked() -> None:
    one, both = sentence("It makes 280 MW.", "c2"), sentence("280 or 320 MW.", "c1", "c2")
    text = made(contradictions=[dispute()], sections=[section(one, both)]).markdown
    assert "It makes 280 MW. [1]‡ 280 or 320 MW. [1][2]\n" in text
    assert "## Where sources disagree (marked ‡)" in text
    settled = dispute(settled_by="newer official figure", favoured=1)
    assert "‡" not in made(contradictions=[settled], sections=[section(one, both)]).markdown
    assert "‡" not in made(contradictions=[dispute()], sections=[section(both)]).markdown
    aside = one.model_copy(update={"text": "It feeds a town."})  # the same claim, without its disputed figure
    assert "‡" not in made(contradictions=[dispute()], sections=[section(aside)]).markdown.split("## ")[1]


def test_two_disputes_over_the_same_figures_are_one() -> None:
    again = dispute(id="other", about="the same, as another rule found it")
    told = [section(sentence("Divers come.", "c1"))]
    other = [SIDES[0], SIDES[1].model_copy(update={"value": "290 MW"})]
    assert relevant_disputes([dispute(), again], told) == [dispute()]
    assert len(relevant_disputes([dispute(), dispute(id="other", sides=other)], told)) == 2
