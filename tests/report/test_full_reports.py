"""Reports with everything a report can have, in both languages, in every form they are given out in."""

import re
from html.parser import HTMLParser
from typing import Any

import pytest
from fakes.full_reports import CLAIMS, ENGLISH_SECTIONS, GROWTH, KOREAN, TEXTS, full_result, state_of
from fakes.records import claim, gap, heading, judgement, page, question

from fathom.errors import Unreadable
from fathom.evidence.claims import check_stored_quote
from fathom.report.certainty import describe_status
from fathom.report.formats.html import render_html
from fathom.report.layout import lay_out_blocks
from fathom.report.ledger import Ledger
from fathom.report.listings import render_quotes
from fathom.report.publish import publish_report
from fathom.report.rerender import describe_ledger, prepare_any, rerender_report
from fathom.report.statistics import render_statistics
from fathom.report.verify import Verification, verify_report
from fathom.state import (
    Block,
    ControlTally,
    Failure,
    Outline,
    Rejected,
    RunConfig,
    Section,
    Sentence,
)
from fathom.text.messages import ENGLISH

NOTE = ENGLISH("report.inference")
BOTH = pytest.mark.parametrize("words", [{}, KOREAN], ids=["English", "Korean"])


def checked(ledger: Ledger) -> Verification:
    return verify_report(
        ledger, lambda quote: check_stored_quote(quote, TEXTS.get(quote.page)), ledger.report
    )


def read_back(**words: Any) -> Ledger:
    return Ledger.model_validate_json(full_result(**words).model_dump_json(), extra="ignore")


def with_sentences(*sentences: Sentence, **words: Any) -> list[Section]:
    return [Section(id="S1", title="Part", sentences=list(sentences), **words)]


@BOTH
def test_the_summary_stands_right_under_the_title_and_no_machinery_before_it(words: dict[str, Any]) -> None:
    report = full_result(**words).report
    first = full_result(**words).sections[0]
    lines = [line for line in report.splitlines() if line]
    assert lines[0].startswith("# ")
    assert lines[1] == f"## {first.title}"
    assert lines[2].startswith(first.sentences[0].text)
    assert not re.search(r"\d+ ?%", lines[2].replace("16 %", ""))


def test_a_summary_of_what_the_parts_said_before_is_not_shown() -> None:
    summary, *parts = state_of()["sections"]
    rewritten = [parts[0].model_copy(update={"basis": "written again"}), *parts[1:]]
    result = full_result(sections=[summary, *rewritten])
    assert "summary" not in {section.kind for section in result.sections}
    assert summary.sentences[0].text not in result.report


@BOTH
def test_no_score_rule_or_count_of_claims_is_in_the_report(words: dict[str, Any]) -> None:
    report = full_result(**words).report
    for machine in ("score", "0.84", "rounds", "sufficient", "LIKELY", "점수", "회 중", "그럴듯함"):
        assert machine not in report
    end = report[report.index("## How sure" if not words else "## 얼마나") :]
    lines = end.split("\n\n")[1].splitlines()
    assert 2 <= len(lines) <= 5


@BOTH
def test_a_report_made_again_from_its_ledger_is_the_same(words: dict[str, Any]) -> None:
    for has_quotes in (False, True):
        ledger = read_back(**words, run_config=RunConfig(quotes=has_quotes))
        made = rerender_report(ledger)
        assert made is not None
        assert made.markdown == ledger.report
        assert ("   > " in ledger.report) == has_quotes


@BOTH
def test_verification_knows_calculations_tables_and_inferences(words: dict[str, Any]) -> None:
    found = checked(read_back(**words))
    assert found.faults == []
    assert found.is_sound, [one for one in found.sentences if one.standing != "supported"]
    assert found.count("inference") == 2
    assert "2 inferences" in found.summary
    assert found.marked == 1


def test_a_figure_changed_in_a_tables_cell_is_found() -> None:
    sections = [section.model_dump() for section in ENGLISH_SECTIONS]
    sections[1]["sentences"][2]["text"] = "999,000"
    changed = [Section.model_validate(section) for section in sections]
    found = checked(read_back(sections=changed))
    assert [one.text for one in found.sentences if one.standing == "changed"] == ["999,000"]


def test_a_calculation_that_comes_to_something_else_is_found() -> None:
    wrong = GROWTH.model_copy(update={"result": "61 %"})
    told = Sentence(
        text="It grew by 61 %.",
        claims=["c1", "c2"],
        status="supported",
        kind="calculation",
        calculation=wrong,
    )
    found = checked(read_back(sections=with_sentences(told)))
    assert found.sentences[0].standing == "changed"
    assert "calculation" in found.sentences[0].why


@BOTH
def test_statistics_and_ledger_tell_of_controls_and_of_what_was_refused_twice(words: dict[str, Any]) -> None:
    tallies = [
        ControlTally(call=f"c{n}", verifier="m@1", language="ko", kind="figure", shown=2, missed=n)
        for n in (0, 1)
    ]
    refused = Rejected(
        page="p", count=1, why="not supported", statement="It sank twice.", reason="It never sank."
    )
    state = state_of(**words, control_tallies=tallies, rejected=[refused])
    told = render_statistics(state)
    assert re.search(r"^\| m@1 \| .* \| ko \| 4 \| 1 \|$", told, re.MULTILINE)
    assert "figure" not in told or not words
    assert "It sank twice. | It never sank." in told
    ledger = read_back(**words, control_tallies=tallies, rejected=[refused])
    assert ledger.control_tallies == tallies
    assert refused in ledger.rejected


def test_an_operand_that_no_quote_has_is_found() -> None:
    invented = GROWTH.model_copy(
        update={"operands": [GROWTH.operands[0].model_copy(update={"value": "100,000"}), GROWTH.operands[1]]}
    )
    told = Sentence(
        text="It grew by 378 %.", claims=["c1", "c2"], status="supported", kind="calculation",
        calculation=invented,
    )  # fmt: skip
    found = checked(read_back(sections=with_sentences(told)))
    assert found.sentences[0].standing == "changed"
    assert "100,000" in found.sentences[0].why


def test_a_calculation_shows_its_figures_once_and_cites_its_operands() -> None:
    report = full_result().report
    assert report.count("[a] (478,000 - 412,000) / 412,000 = 16 %, figures from [1]") == 1
    assert "That is 16 % more than the year before. [1][a]" in report
    assert "| +16 % [1][a] |" in report


def test_a_calculation_cites_the_sources_of_its_figures_also_where_the_sentence_names_no_claim_of_them() -> (
    None
):
    told = Sentence(
        text="It grew by 16 %.", claims=["c5"], status="supported", kind="calculation", calculation=GROWTH
    )
    assert (
        "It grew by 16 %. [1][2][a]" in full_result(sections=with_sentences(told), contradictions=[]).report
    )


def inferred(text: str) -> Sentence:
    return Sentence(text=text, claims=["c1"], status="supported", kind="inference")


@pytest.mark.parametrize(
    ("text", "is_signed"),
    [
        ("The pier pays off only if the growth lasts.", True),
        ("This suggests that the pier pays off.", False),
        ("The county should wait, so that the growth can be seen.", False),
        ("The line carried more people and the pier was dear.", True),
        ("부두 건설비는 노선이 늘어난 까닭이다.", True),
        ("이는 노선이 더 늘 수 있음을 시사한다.", False),
        ("군은 먼저 수요를 다시 세어야 할 것으로 보인다.", False),
    ],
)
def test_an_inference_is_worded_as_one_or_is_called_one(text: str, is_signed: bool) -> None:
    fact = Sentence(text="It opened in May.", claims=["c1"], status="supported")
    report = full_result(sections=with_sentences(fact, inferred(text)), contradictions=[]).report
    assert (f"{text[:-1]} {NOTE}." if is_signed else text) in report
    assert (NOTE in report) == is_signed


def test_a_sentence_that_sums_up_facts_with_conclusions_is_not_called_an_inference() -> None:
    fact = Sentence(text="It opened in May.", claims=["c1"], status="supported")
    told = inferred("The pier pays off.").model_copy(update={"is_summing": True})
    sections = with_sentences(fact, told, inferred("The gates fail."))
    report = full_result(sections=sections, contradictions=[]).report
    assert f"The pier pays off {NOTE}" not in report
    assert f"The gates fail {NOTE}" in report


def test_a_report_without_inferences_says_nothing_of_them() -> None:
    plain = full_result(sections=with_sentences(Sentence(text="So.", claims=["c1"], status="supported")))
    assert NOTE not in plain.report


@BOTH
def test_every_sentence_leads_to_its_own_marks_once_a_run(words: dict[str, Any]) -> None:
    report = prepare_any(full_result(**words))
    layouts = [layout for section in report.sections for layout in lay_out_blocks(section)]
    places: list[Sentence | Block] = [*report.sentences, *(layout.block for layout in layouts)]
    runs = [run for place in places if (run := report.marked_at(place))]
    rows = [cells for layout in layouts for cells in report.cited_by_rows(layout)]
    assert any(len(run) > 1 for run in (*runs, *rows))
    marked = [id(s) for run in (*runs, *rows) for s in run]
    assert len(marked) == len(set(marked))
    assert set(marked) == {id(s) for s in report.sentences if s.status != "connective"}


def test_neighbours_with_the_same_sources_are_cited_once() -> None:
    told = [
        ("One.", "c1", "fact"),
        ("Two.", "c1", "fact"),
        ("Bare.", "c1", "inference"),
        ("Three.", "c5", "fact"),
    ]
    sentences = [Sentence(text=t, claims=[c], status="supported", kind=k) for t, c, k in told]
    link = Sentence(text="But.", claims=[], status="connective", kind="link")
    last = Sentence(text="Four.", claims=["c5"], status="supported")
    made = full_result(sections=with_sentences(*sentences, link, last), contradictions=[])
    assert f"One. Two. Bare {NOTE}. [1] Three. [2] But. Four. [2]\n\n## " in made.report
    assert checked(Ledger.model_validate_json(made.model_dump_json())).is_sound


def test_a_part_or_a_column_of_inferences_is_marked_once() -> None:
    cells = [inferred("A."), inferred("B.")]
    made = full_result(sections=with_sentences(*cells), contradictions=[])
    assert re.search(rf"^## .* {re.escape(NOTE)}\n\nA. B. \[1\]$", made.report, re.MULTILINE)
    names = [
        Sentence(text=f"n{n}", claims=[], status="connective", kind="link", row=n, column=0) for n in (0, 1)
    ]
    facts = [Sentence(text=f"f{n}", claims=["c1"], status="supported", row=n, column=1) for n in (0, 1)]
    cells = [s.model_copy(update={"row": n, "column": 2}) for n, s in enumerate(cells)]
    blocks = [Block(kind="table", title="Costs", columns=["", "Fact", "Effect"])]
    made = full_result(sections=with_sentences(*names, *facts, *cells, blocks=blocks), contradictions=[])
    assert f"|  | Fact | Effect {NOTE} |" in made.report and "A. |" in made.report
    assert checked(Ledger.model_validate_json(made.model_dump_json())).is_sound


@pytest.mark.parametrize(
    ("opening", "is_signed"), [("Our reading: the gates fail.", False), ("Gates fail.", True)]
)
def test_a_paragraph_that_begins_as_our_reading_needs_no_signs(opening: str, is_signed: bool) -> None:
    fact = Sentence(text="The gates are old.", claims=["c1"], status="supported")
    told = [s.model_copy(update={"block": 1}) for s in (inferred(opening), inferred("They break in spring."))]
    made = full_result(sections=with_sentences(fact, *told, blocks=[Block(), Block()]), contradictions=[])
    assert (NOTE in made.report) == is_signed


@pytest.mark.parametrize("claims", ["c1 c1 c1 c1", "c1 c1 c5 c5", "c1 c5 c1 c1"])
def test_a_table_is_cited_at_its_caption_or_by_row(claims: str) -> None:
    cells = [
        Sentence(text=f"v{n}", claims=[c], status="supported", row=n // 2, column=1 + n % 2)
        for n, c in enumerate(claims.split())
    ]
    names = [
        Sentence(text=f"n{n}", claims=[], status="connective", kind="link", row=n, column=0) for n in (0, 1)
    ]
    blocks = [Block(kind="table", title="Costs", columns=["", "A", "B"])]
    made = full_result(sections=with_sentences(*names, *cells, blocks=blocks), contradictions=[])
    expected = {
        "c1 c1 c1 c1": ("**Costs** [1]\n", "| n0 | v0 | v1 |", "| n1 | v2 | v3 |"),
        "c1 c1 c5 c5": ("**Costs**\n", "| n0 | v0 | v1 | [1] |", "| n1 | v2 | v3 | [2] |"),
        "c1 c5 c1 c1": ("**Costs**\n", "| n0 | v0 | v1 | [1][2] |", "| n1 | v2 | v3 | [1] |"),
    }
    assert all(line in made.report for line in expected[claims])
    assert checked(Ledger.model_validate_json(made.model_dump_json())).is_sound


def test_a_row_that_lost_its_content_and_a_table_without_rows_are_gone() -> None:
    label = Sentence(text="Upkeep", claims=[], status="connective", block=1, row=0, column=0)
    known = Sentence(text="Ferries run.", claims=["c1"], status="supported")
    blocks = [Block(), Block(kind="table", title="Costs", columns=["", "2024"])]
    result = full_result(sections=with_sentences(known, label, blocks=blocks))
    assert "Upkeep" not in result.report
    assert "Costs" not in result.report
    assert checked(Ledger.model_validate_json(result.model_dump_json())).is_sound


def test_ugly_cells_do_not_break_a_table() -> None:
    cells = [
        Sentence(text=text, claims=["c1"], status="supported", row=0, column=place)
        for place, text in enumerate(("a | b\n| c", "# 478,000 <b>", "x"))
    ]
    blocks = [Block(kind="table", columns=["one | two"])]
    table = full_result(sections=with_sentences(*cells, blocks=blocks)).report.split("## Part\n\n")[1]
    rows = table.split("\n\n")[0].splitlines()
    assert len(rows) == 3
    assert {row.replace("\\|", "").count("|") for row in rows} == {5}


def test_a_sentence_of_a_block_that_is_not_there_is_still_shown() -> None:
    odd = Sentence(text="Ferries run.", claims=["c1"], status="supported", block=7)
    assert "Ferries run. [1]" in full_result(sections=with_sentences(odd, blocks=[Block()])).report


def test_extracts_say_so_first_and_keep_their_lines() -> None:
    passage = "Restrictions:\n- Sequences are not copied.\n- [x](https://evil.example) <b>"
    state: Any = {
        "question": "What are the restrictions?",
        "questions": [question(1)],
        "pages": [page("text", "https://docs.example/a")],
        "claims": [claim(passage, name="c1", of="text")],
        "judgements": [judgement(stop="sufficient")],
        "outline": Outline(title="Restrictions", headings=[heading("c1")]),
        "sections": [
            Section(
                id="S1",
                title="Passages",
                blocks=[Block(kind="extract", title="Chapter 3 › Limits")],
                sentences=[Sentence(text=passage, claims=["c1"], status="supported")],
            )
        ],
    }
    made = publish_report(state, kind="extracts")
    assert made.kind == "extracts"
    assert made.markdown.startswith("*Extracts, not a report")
    assert "> Restrictions:\n> - Sequences are not copied.\n> - x \\<b>\n" in made.markdown
    assert "https://evil" not in made.markdown
    assert "Nothing important" not in made.markdown
    assert describe_status(made.status, [], ENGLISH, made.kind) == "extracts, not a report"


class Outer(HTMLParser):
    """Tags, links and visible words of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.ids: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.tags.append(tag)
        self.links += [given["href"] or ""] if "href" in given else []
        self.ids += [given["id"] or ""] if "id" in given else []


@BOTH
def test_the_page_has_the_same_content_and_every_link_inside_it_leads_somewhere(
    words: dict[str, Any],
) -> None:
    result = full_result(**words)
    text = render_html(result)
    found = Outer(text)
    for section in result.sections:
        assert f">{section.title}</h2>" in text
        assert all(sentence.text.rstrip(".") in text for sentence in section.sentences)
    inner = {link[1:] for link in found.links if link.startswith("#")}
    assert inner <= set(found.ids)
    assert {link for link in found.links if not link.startswith("#")} == {c.address for c in result.citations}
    assert not {"script", "img", "iframe", "form", "input"} & set(found.tags)


def test_the_quote_behind_a_mark_is_that_of_its_sentence() -> None:
    text = render_html(full_result())
    row = text[text.index("<td>412,000") :].partition("</tr>")[0]
    assert "The northern line carried 412,000 passengers in 2023." in row
    assert "Drivers wait" not in row


@BOTH
def test_statistics_have_what_the_report_leaves_out(words: dict[str, Any]) -> None:
    told = render_statistics(state_of(**words))
    for known in ("model-a", "engine-b", "northern ferry passengers", "closed.example/minutes", "0.0040"):
        assert known in told
    assert "The line is the busiest of all." in told
    assert "https://closed" not in told
    assert describe_ledger(full_result(), ENGLISH) == "complete"


def test_statistics_of_a_run_that_has_just_begun_say_so() -> None:
    assert "Nothing has happened yet." in render_statistics({"question": "What?"})


def test_status_and_words_agree_when_something_important_is_open() -> None:
    words: dict[str, Any] = {
        "judgements": [
            judgement(gaps=[gap("high", "The fees")], stop="answered", because="x").model_copy(
                update={"coverage": 1.0}
            )
        ]
    }
    result = full_result(**words)
    assert result.status == "unsure"
    assert "The fees" in result.report
    assert "Nothing important" not in result.report
    assert describe_ledger(result, ENGLISH).startswith("unsure: something important")
    assert "unsure: something important" in render_statistics(state_of(**words))
    assert "100" not in result.report.replace("https", "")


def test_a_partial_report_says_why() -> None:
    lost = [Failure(where="search: tavily", what="ferry costs", why="the key was refused")]
    assert (
        "It is incomplete: search: tavily: ferry costs (the key was refused)."
        in full_result(failures=lost).report
    )


class Texts:
    """The texts of the example, but for one that is gone."""

    def __init__(self, gone: str = "") -> None:
        self._gone = gone

    async def get(self, sha: str) -> str:
        if sha == self._gone:
            raise Unreadable("gone")
        return TEXTS[sha]


async def test_quotes_are_listed_with_their_place_and_what_they_are_cited_for() -> None:
    told = await render_quotes(state_of(), Texts())
    for claimed in CLAIMS:
        assert f"> {claimed.quotes[0].text}" in told
    assert "Harbour Board yearbook › Fleet" in told
    assert "- for: Skippers credit the new terminal." in told
    assert all(sha in told for sha in TEXTS)
    gone = next(iter(TEXTS))
    assert "› Fleet" not in await render_quotes(state_of(), Texts(gone))
    assert "Nothing is cited yet." in await render_quotes({"question": "What?"}, Texts())
