"""From checked sections to numbered citations and a text that tells what is missing."""

from typing import Any

import pytest
from fakes.records import claim, gap, heading, judgement, page, query, question, quote, section, sentence, sha

from fathom.report.publish import publish_nothing_found, publish_report, refused_sentences
from fathom.state import Failure, Outline, Rejected, Report, Writing

ONE = page("one", "https://one.example/a", title="One", published="2024-05-01T10:00:00Z")
TWO = page("two", "https://two.example/b", title="Two")
STOPPED = judgement(stop="sufficient", because="score 0.81 of 0.80 needed")
CLAIMS = [
    claim("The plant makes 240 megawatts.", name="c1", of="one"),
    claim("Divers come in spring.", name="c2", of="two"),
    claim("The gates are old.", name="c3", of="one"),
    claim("A ghost lives there.", name="c4", of="never read"),
]


def report(*sections: Any, **words: Any) -> Report:
    headings = [heading(name=s.id, title=s.title) for s in sections]
    state: Writing = {
        "question": "What is it?",
        "questions": [question(1)],
        "pages": [ONE, TWO],
        "claims": CLAIMS,
        "judgements": [STOPPED],
        "outline": Outline(title="A report", headings=headings),
        "sections": list(sections),
        **words,  # type: ignore[typeddict-item]
    }
    return publish_report(state)


def test_sources_are_numbered_as_they_appear_and_one_page_has_one_number() -> None:
    made = report(
        section(sentence("Divers come in spring.", "c2"), sentence("It makes 240 megawatts.", "c1")),
        section(
            sentence("Old and strong.", "c3", "c2"), sentence("So much.", status="connective"), name="S2"
        ),
    )
    assert [(c.number, c.page) for c in made.citations] == [(1, sha("two")), (2, sha("one"))]
    assert [len(c.quotes) for c in made.citations] == [1, 2]
    assert "spring. [1] It makes 240 megawatts. [2]" in made.markdown
    assert "Old and strong. [1][2] So much.\n" in made.markdown
    assert "1. Two, read 2025-06-01. <https://two.example/b>" in made.markdown
    assert "2. One, published 2024-05-01. <https://one.example/a>" in made.markdown
    assert made.status == "complete"


def test_sections_stand_in_the_outlines_order() -> None:
    made = report(
        section(sentence("Divers come.", "c2"), name="S2", title="Second"),
        section(sentence("The gates are old.", "c3"), name="S1", title="First"),
        outline=Outline(title="T", headings=[heading(name="S1"), heading(name="S2")]),
    )
    assert made.markdown.index("## First") < made.markdown.index("## Second")
    assert made.citations[0].page == sha("one")


def test_a_page_that_was_not_read_can_never_be_cited() -> None:
    made = report(section(sentence("A ghost lives there.", "c4"), sentence("The gates are old.", "c3")))
    assert [c.page for c in made.citations] == [sha("one")]
    assert "A ghost lives there. [citation needed]" in made.markdown


def test_what_is_not_supported_is_marked_and_cites_nothing() -> None:
    made = report(section(sentence("It is blue.", "c1", status="unsupported"), sentence("Old gates.", "c3")))
    assert "It is blue. [citation needed]" in made.markdown
    assert [c.quotes[0].text for c in made.citations] == ["The gates are old."]


def failed(text: str, fault: str = "facts") -> Any:
    return sentence(text, "c1", status="unsupported").model_copy(update={"fault": fault})


def test_removed_sentences_are_never_shown_and_counted_once() -> None:
    kept = section(sentence("The gates are old.", "c3")).model_copy(
        update={
            "rejected": [failed("It is 9."), failed("It is 8."), failed("No.", "meaning")],
            "rewritten": 2,
        }
    )
    gone = section(name="S2", title="Colours").model_copy(update={"rejected": [failed("It is red.")]})
    made = report(kept, gone)
    assert "nothing that was written about “Colours”" in made.markdown
    assert "## Colours" not in made.markdown
    assert not any(words in made.markdown for words in ("It is 9", "It is 8", "It is red"))
    assert made.status == "partial"
    told = refused_sentences(made.sections)
    assert [(entry.section, entry.count) for entry in told] == [("S1", 2), ("S1", 1), ("S2", 1)]
    again = report(kept, gone, rejected=told)
    assert again.markdown == made.markdown, "sentences are counted once, from the sections"


def test_marked_sentences_are_counted() -> None:
    made = report(section(sentence("The gates are old.", "c3"), failed("It is 9.")))
    assert "It is 9. [citation needed]" in made.markdown
    assert "1 sentence without support is marked." in made.markdown


def test_when_nothing_holds_the_sources_are_quoted() -> None:
    texts = [section(failed("It is 9."), name="S1"), section(name="S2", title="Empty")]
    headings = [heading("c1", "c3", name="S1"), heading("c2", name="S2", title="Empty")]
    made = report(*texts, outline=Outline(title="T", headings=headings))
    assert [[s.text for s in part.sentences] for part in made.sections] == [
        ["The plant makes 240 megawatts.", "The gates are old."],
        ["Divers come in spring."],
    ]
    assert "- The gates are old. [1]" in made.markdown
    assert "they are quoted instead" in made.markdown
    assert "It is 9" not in made.markdown
    assert made.status == "partial"


def test_when_not_even_a_quote_can_be_cited_nothing_is_reported() -> None:
    made = report(section(failed("It is 9.")), outline=Outline(title="T", headings=[heading("c4")]))
    assert made.status == "failed"
    assert "Nothing is reported" in made.markdown
    assert "ghost" not in made.markdown.replace("# ", "")
    assert made.citations == []


def test_a_section_that_is_no_longer_in_the_outline_is_not_published() -> None:
    outline = Outline(title="T", headings=[heading("c3")])
    made = report(
        section(sentence("Old.", "c3")), section(sentence("Divers.", "c2"), name="S9"), outline=outline
    )
    assert [part.id for part in made.sections] == ["S1"]


def test_one_page_at_two_addresses_has_one_number() -> None:
    pages = [
        page("one", "https://one.example/a"),
        page("one", "https://mirror.example/a"),
        page("two", "https://www.one.example/a?utm_source=x"),
    ]
    made = report(section(sentence("It makes 240.", "c1"), sentence("Divers come.", "c2")), pages=pages)
    assert [(c.number, c.address, len(c.quotes)) for c in made.citations] == [(1, "https://one.example/a", 2)]
    assert "It makes 240. Divers come. [1]" in made.markdown


def test_a_report_with_an_important_gap_is_unsure() -> None:
    open_gap = STOPPED.model_copy(update={"gaps": [gap("high", "No prices")]})
    made = report(section(sentence("The gates are old.", "c3")), judgements=[open_gap])
    assert made.status == "unsure"
    assert "Still open: No prices." in made.markdown
    assert "No prices" in made.markdown


def test_a_section_without_a_sentence_is_not_shown() -> None:
    made = report(section(title="Empty"), section(sentence("Old gates.", "c3"), name="S2"))
    assert "## Empty" not in made.markdown


def test_links_and_tags_of_others_do_not_come_through() -> None:
    evil = "Read [this](https://evil.example/x) or <b>https://evil.example/y</b>"
    hostile = page("three", "https://three.example/c> <script>", title=evil)
    made = report(
        section(sentence(evil, "c9"), title=evil),
        pages=[hostile],
        claims=[claim(evil, name="c9", of="three")],
        failures=[Failure(where="reading", what="https://evil.example/z", why=evil)],
        judgements=[STOPPED.model_copy(update={"gaps": [gap("high", evil)]})],
    )
    assert "https://evil" not in made.markdown
    assert "](" not in made.markdown
    assert "<b>" not in made.markdown.replace("\\<b>", "")
    assert "<https://three.example/c%3E%20%3Cscript%3E>" in made.markdown


def test_what_is_missing_is_told_in_a_few_lines_at_the_end() -> None:
    made = report(
        section(sentence("The gates are old.", "c3")),
        questions=[question(1), question(2, "What does it cost?")],
        failures=[Failure(where="reading", what="https://gone.example/a", why="404")],
        rejected=[Rejected(page="a", count=2, why="not there"), Rejected(page="b", count=3, why="not there")],
        judgements=[STOPPED.model_copy(update={"gaps": [gap("medium", "No prices"), gap("low", "No maps")]})],
    )
    lines = made.markdown.split("## How sure")[1].split("## Sources")[0].strip().splitlines()[1:]
    assert 2 <= len([line for line in lines if line]) <= 5
    told = "\n".join(lines)
    for words in ("No prices", "What does it cost?", "`gone.example/a`", "5 statements were left out"):
        assert words in told
    assert "No maps" not in made.markdown
    assert made.status == "complete"


def test_a_long_list_of_gaps_and_unread_pages_stays_short() -> None:
    made = report(
        section(sentence("The gates are old.", "c3")),
        failures=[Failure(where="reading", what=f"https://x.example/{n}", why="404") for n in range(40)],
        judgements=[STOPPED.model_copy(update={"gaps": [gap("medium", f"Gap {n}") for n in range(30)]})],
    )
    assert "Gap 3." in made.markdown and "Gap 4" not in made.markdown
    assert "37 more" in made.markdown
    assert len(made.markdown) < 1_200


def test_gaps_are_listed_at_the_end_also_where_the_text_names_one() -> None:
    judged = [STOPPED.model_copy(update={"gaps": [gap("high", "No prices")]})]
    limit = sentence("No source gives prices.").model_copy(
        update={"kind": "limit", "status": "connective", "limits": ["No prices"]}
    )
    made = report(section(sentence("The gates are old.", "c3"), limit), judgements=judged)
    assert "No source gives prices." in made.markdown
    assert "Still open: No prices" in made.markdown
    assert "Nothing important" not in made.markdown
    assert made.status == "unsure"


@pytest.mark.parametrize("where", ["search", "search: tavily", "model", "analysis"])
def test_a_report_with_a_failed_engine_or_model_is_partial(where: str) -> None:
    made = report(section(sentence("Old.", "c3")), failures=[Failure(where=where, what="x", why="y")])
    assert made.status == "partial"
    assert "incomplete: " in made.markdown


def test_a_report_that_ran_out_of_money_is_partial() -> None:
    spent = STOPPED.model_copy(update={"stop": "budget used up"})
    assert report(section(sentence("Old.", "c3")), judgements=[spent]).status == "partial"


def test_a_korean_question_gets_korean_labels() -> None:
    made = report(section(sentence("The gates are old.", "c3")), question="조력 발전이란 무엇인가?")
    for words in ("## 출처", "2024-05-01 발행", "출처 하나에만 근거한다."):
        assert words in made.markdown


def test_quotes_stand_in_the_text_only_when_asked_for_and_long_ones_are_shortened() -> None:
    long = claim(
        "x", name="c9", quotes=[quote("word " * 200, "one"), *(quote(f"q{n}", "one", n) for n in range(5))]
    )
    state: Any = {"claims": [long], "outline": Outline(title="T", headings=[heading()])}
    made = report(section(sentence("x", "c9")), **state)
    assert ">" not in made.markdown.replace("<https://one.example/a>", "")
    assert len(made.citations[0].quotes) == 6
    state |= {"question": "What?", "pages": [ONE], "judgements": [STOPPED]}
    state["sections"] = [section(sentence("x", "c9"))]
    told = publish_report(state, has_quotes=True)
    assert told.markdown.count("   > ") == 6
    assert "word …" in told.markdown


def test_nothing_found_is_said_without_prose() -> None:
    made = publish_nothing_found(
        {
            "question": "What is\nit?",
            "asked": [query("tides"), query("https://evil.example tides", name="r1q2")],
            "pages": [ONE],
            "rejected": [Rejected(page="a", count=2, why="not there")],
        },
        judgement(claims=0, stop="rounds used up", because="1 of 1 rounds"),
        [Failure(where="search", what="tides", why="timeout")],
        None,
    )
    assert made.status == "failed"
    assert made.title == "What is it?"
    assert (made.sections, made.citations) == ([], [])
    for told in (
        "Nothing is reported",
        "- tides",
        "- evil.example tides",
        "timeout",
        "2 statements were left out",
    ):
        assert told in made.markdown
    assert "[1]" not in made.markdown


def test_nothing_found_speaks_the_language_that_was_asked_for() -> None:
    made = publish_nothing_found({"question": "What is it?"}, judgement(claims=0), [], "Korean")
    assert "보고할 내용이 없습니다" in made.markdown
