"""Every format says the same: each is read back with a library of its own and compared with the ledger."""

import io
import json
import re
from collections.abc import Callable, Iterator
from ctypes import c_int, create_string_buffer
from pathlib import Path
from typing import Any, get_args

import docx
import pypdfium2
import pytest
from checks.bibtex_reader import read_bibtex
from fakes.full_reports import charted_words, full_result, state_of
from fakes.records import claim, heading, judgement, page, section, sentence
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import html  # type: ignore[import-untyped]

from fathom.errors import BadInput
from fathom.report.bibliography import make_bibtex_keys
from fathom.report.formats import FormatName
from fathom.report.formats.registry import FORMATS, format_of, render_as
from fathom.report.layout import cited_numbers, filled_formula, note_inference
from fathom.report.ledger import LEDGER_FORMAT, Ledger
from fathom.report.rerender import prepare_any
from fathom.result import ResearchResult
from fathom.state import Block, Citation, Outline, Section, Sentence

BOTH = pytest.mark.parametrize("language", ["en", "ko"])
_GLUE = re.compile("[\\s\u200b\u2060*`\\\\|]")


def report_of(language: str = "en") -> ResearchResult:
    return full_result(**charted_words(language))


def bare(text: str) -> str:
    """Words without what formats lay out in other ways: space, joiners, marks of Markdown."""
    return _GLUE.sub("", text)


def markdown_text(body: bytes) -> str:
    return body.decode()


def html_text(body: bytes) -> str:
    tree = html.fromstring(body.decode())
    for hidden in tree.xpath("//*[@class='quote'] | //figure | //head"):
        hidden.drop_tree()
    return str(tree.text_content())


def pdf_pages(body: bytes) -> list[str]:
    document = pypdfium2.PdfDocument(body)
    texts = [one.get_textpage().get_text_bounded().replace("\r\n", "\n") for one in document]
    # PDFium has a sign of its own for a hyphen at the end of a line.
    return [re.sub(r"\n?\d+ / \d+\s*$", "", text).replace("\x02", "-") for text in texts]


def pdf_text(body: bytes) -> str:
    return "\n".join(pdf_pages(body))


def docx_text(body: bytes) -> str:
    document = docx.Document(io.BytesIO(body))
    told = document.element.body.iter(f"{{{document.element.nsmap['w']}}}t")
    return "".join(one.text or "" for one in told)


READERS: dict[str, Callable[[bytes], str]] = {
    "markdown": markdown_text,
    "html": html_text,
    "pdf": pdf_text,
    "docx": docx_text,
}


def told_sentences(ledger: Ledger) -> Iterator[str]:
    """Every sentence with its marks, from the ledger alone."""
    report = prepare_any(ledger)
    for one in report.sentences:
        found = cited_numbers(one, report.numbers)
        marks = "".join(f"[{number}]" for number in found)
        if one.calculation and found:
            marks += f"[{report.letters[filled_formula(one), one.calculation.result]}]"
        marks += "‡" if report.is_disputed(one) else ""
        marks += report.words("report.unsupported") if one.status == "unsupported" else ""
        text = note_inference(one.text, report.words) if report.is_inference_at(one) else one.text
        # Of a run with the same marks the last one shows them.
        yield bare(text) + (bare(marks) if report.marked_at(one) else "")


@BOTH
@pytest.mark.parametrize("name", READERS)
def test_every_sentence_stands_in_every_format_in_order_with_its_citations(name: str, language: str) -> None:
    ledger = report_of(language)
    text, place = bare(READERS[name](render_as(ledger, name))), 0
    for one in told_sentences(ledger):
        found = text.find(one, place)
        assert found >= 0, f"{one!r} is not in {text[place : place + 300]!r}"
        place = found + len(one)
    for part in ledger.sections:
        assert bare(part.title) in text


@BOTH
@pytest.mark.parametrize("name", READERS)
def test_every_source_dispute_and_doubt_stands_in_every_format(name: str, language: str) -> None:
    ledger = report_of(language)
    text = bare(READERS[name](render_as(ledger, name)))
    report = prepare_any(ledger)
    for citation in ledger.citations:
        assert bare(citation.title) in text
        assert bare(citation.address) in text
    for row in report.disputes:
        assert bare(row.value) in text
    for line in report.certainty:
        assert bare(line) in text
    for _, one in report.calculations:
        assert bare(filled_formula(one)) in text


@BOTH
def test_json_is_the_ledger_itself(language: str) -> None:
    result = report_of(language)
    again = Ledger.model_validate_json(render_as(result, "json"), extra="ignore")
    assert again.sections == result.sections
    assert again.citations == result.citations
    assert "output_format" not in json.loads(render_as(result, "json"))


def test_the_table_has_every_format_and_each_file_finds_its_own() -> None:
    assert set(FORMATS) == set(get_args(FormatName))
    for name, one in FORMATS.items():
        assert format_of(Path(f"Report{one.ending.upper()}")).name == name
    with pytest.raises(BadInput, match="known are markdown, html"):
        render_as(full_result(), "odt")


def test_a_result_gives_the_format_that_was_asked_for() -> None:
    result = full_result().model_copy(update={"output_format": "html"})
    assert result.render().startswith(b"<!doctype html>")
    assert result.render("markdown").decode() == result.report


@pytest.mark.parametrize("name", FORMATS)
def test_the_same_ledger_gives_the_same_report(name: str) -> None:
    again = Ledger.model_validate_json(report_of("ko").model_dump_json(), extra="ignore")
    first, second = render_as(report_of("ko"), name), render_as(again, name)
    if name == "json":  # a ledger has no field of its own for what only a result has
        assert json.loads(first)["sections"] == json.loads(second)["sections"]
    elif name == "docx":  # a zip notes when it was packed
        assert docx_text(first) == docx_text(second)
    else:
        assert first == second


@BOTH
def test_a_pdf_is_tagged_has_contents_and_links_only_to_sources(language: str) -> None:
    result = report_of(language)
    document = pypdfium2.PdfDocument(render_as(result, "pdf"))
    raw = pypdfium2.raw
    assert raw.FPDFCatalog_IsTagged(document)
    assert raw.FPDFDoc_GetJavaScriptActionCount(document) == 0
    assert document.count_attachments() == 0
    assert result.outline is not None
    assert document.get_metadata_value("Title") == result.outline.title
    titles = [entry.get_title() for entry in document.get_toc()]
    assert [part.title for part in result.sections] == [t for t in titles if t in _titles(result)]
    targets = [target for one in document for target in _targets(one, document)]
    assert {target for target in targets if target} == {citation.address for citation in result.citations}
    assert targets.count("") >= 20  # marks and contents lead to places in the document
    for number, one in enumerate(document, 1):
        assert one.get_textpage().get_text_bounded().rstrip().endswith(f"{number} / {len(document)}")


def _titles(result: Ledger) -> set[str]:
    return {part.title for part in result.sections}


def _targets(one: Any, document: Any) -> Iterator[str]:
    """The addresses that a page links to; empty for a place in the document itself."""
    raw, place, link = pypdfium2.raw, c_int(0), pypdfium2.raw.FPDF_LINK()
    while raw.FPDFLink_Enumerate(one, place, link):
        action = raw.FPDFLink_GetAction(link)
        kind = raw.FPDFAction_GetType(action) if action else raw.PDFACTION_GOTO
        assert kind in (raw.PDFACTION_GOTO, raw.PDFACTION_URI)
        if kind == raw.PDFACTION_GOTO:
            assert raw.FPDFLink_GetDest(document, link)
            yield ""
            continue
        size = raw.FPDFAction_GetURIPath(document, action, None, 0)
        held = create_string_buffer(size)
        raw.FPDFAction_GetURIPath(document, action, held, size)
        yield held.value.decode()


@BOTH
def test_a_word_document_has_real_headings_tables_and_links(language: str) -> None:
    result = report_of(language)
    document = docx.Document(io.BytesIO(render_as(result, "docx")))
    headings = [p.text for p in document.paragraphs if p.style and p.style.name == "Heading 1"]
    assert [part.title for part in result.sections] == [h for h in headings if h in _titles(result)]
    assert len(document.tables) == 4
    w = document.element.nsmap["w"]
    assert all(table._tbl.findall(f".//{{{w}}}tblHeader") for table in document.tables)
    names = {one.get(f"{{{w}}}name") for one in document.element.iter(f"{{{w}}}bookmarkStart")}
    anchors = {one.get(f"{{{w}}}anchor") for one in document.element.iter(f"{{{w}}}hyperlink")} - {None}
    assert {f"s{citation.number}" for citation in result.citations} <= anchors <= names
    outer = {rel.target_ref for rel in document.part.rels.values() if rel.is_external}
    assert outer == {citation.address for citation in result.citations}
    fonts = document.styles["Normal"].element.rPr.rFonts
    assert fonts.get(f"{{{w}}}eastAsia") == "Malgun Gothic"
    pictures = document.inline_shapes
    assert len(pictures) == 2
    described = [p._inline.docPr.get("descr") or "" for p in pictures]
    assert "2020 301,000" in described[0]
    assert ("450만" if language == "ko" else "4.5 million") in described[1]


def test_every_numbered_list_of_a_word_document_begins_at_one() -> None:
    words = charted_words()
    twice = [part.model_copy(update={"id": "S5"}) for part in words["sections"] if part.id == "S2"]
    parts = [*words["outline"].headings, heading(name="S5")]
    result = full_result(
        **{
            **words,
            "sections": [*words["sections"], *twice],
            "outline": words["outline"].model_copy(update={"headings": parts}),
        }
    )
    document = docx.Document(io.BytesIO(render_as(result, "docx")))
    listed = [p for p in document.paragraphs if p.style and p.style.name == "List Number"]
    numbered = [p._p.xpath("./w:pPr/w:numPr/w:numId/@w:val")[0] for p in listed]
    assert len(numbered) == 4
    assert len(set(numbered)) == 2


@pytest.mark.parametrize(("question", "language"), [("왜 그런가?", "ko-KR"), ("Why?", "en-US")])
def test_word_is_told_the_language_and_counts_the_pages(question: str, language: str) -> None:
    word = docx.Document(io.BytesIO(render_as(rude_ledger(question=question), "docx")))
    said = word.styles.element.xpath("//w:lang/@w:val | //w:lang/@w:eastAsia")
    assert said and set(said) == {language}
    normal = word.styles["Normal"].element
    assert normal.xpath("./w:pPr/w:autoSpaceDE/@w:val | ./w:pPr/w:autoSpaceDN/@w:val") == ["0", "0"]
    assert normal.xpath("./w:pPr/w:wordWrap/@w:val") == ["1"]
    assert word.sections[0].footer._element.xpath(".//w:fldSimple/@w:instr") == ["PAGE"]


RUDE = (
    '#read("/etc/passwd") $x$ *a* _b_ @s1 <s1> \\u{41} ]) #panic() <script>alert(1)</script> &amp;'
    " \x00\x1b[31m \u202e\ufffe {{x}} =HYPERLINK(1)"
)


def rude_ledger(address: str = "https://a.example/x", **words: Any) -> Ledger:
    quoted = claim(RUDE, "c1", of="page one")
    cited = Citation(
        number=1, page=quoted.quotes[0].page, address=address, title=RUDE, published=None,
        fetched="2025-06-01", quotes=quoted.quotes,
    )  # fmt: skip
    held: dict[str, Any] = {
        "question": "Why?",
        "status": "complete",
        "report": "",
        "outline": Outline(title=RUDE, headings=[heading("c1")]),
        "sections": [section(sentence(RUDE, "c1"), title=RUDE)],
        "claims": [quoted],
        "sources": [page("page one", address, title=RUDE)],
        "citations": [cited],
        "judgements": [judgement()],
        **words,
    }
    return Ledger(format=LEDGER_FORMAT, fathom="0", run_id="r", **held)


@pytest.mark.parametrize("name", ["html", "pdf", "docx"])
def test_words_of_sources_are_words_whatever_they_look_like(name: str) -> None:
    text = bare(READERS[name](render_as(rude_ledger(), name)))
    for words in ('#read("/etc/passwd")', "$x$", "@s1", "#panic()", "<script>alert(1)</script>", "{{x}}"):
        assert bare(words) in text
    assert "root:" not in text


@pytest.mark.parametrize(
    "address", ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "https://[b"]
)
def test_what_a_reader_would_run_is_no_link(address: str) -> None:
    ledger = rude_ledger(address)
    document = pypdfium2.PdfDocument(render_as(ledger, "pdf"))
    assert not [target for one in document for target in _targets(one, document) if target]
    word = docx.Document(io.BytesIO(render_as(ledger, "docx")))
    assert not [rel for rel in word.part.rels.values() if rel.is_external]
    tree = html.fromstring(render_as(ledger, "html").decode())
    assert all(link.startswith("#") for link in tree.xpath("//@href"))
    assert not tree.xpath("//script | //@src | //*[starts-with(name(@*), 'on')]")


@settings(max_examples=20, deadline=None)
@given(st.text(max_size=80), st.text(max_size=40))
def test_whatever_is_written_files_can_be_made_and_read(words: str, title: str) -> None:
    told = sentence(words, "c1")
    ledger = rude_ledger(sections=[section(told, title=title)], outline=Outline(title=title, headings=[]))
    for name, reader in READERS.items():
        reader(render_as(ledger, name) or b"-")


def test_letters_that_the_font_lacks_do_not_stop_a_pdf() -> None:
    ledger = rude_ledger(sections=[section(sentence("Ferries ⛴️ run. تعمل العبارات", "c1"))])
    document = pypdfium2.PdfDocument(render_as(ledger, "pdf"))
    assert pypdfium2.raw.FPDFCatalog_IsTagged(document)


def test_emoji_are_no_boxes_in_a_pdf() -> None:
    words = "Ferries ⛴️ run 🚢🇰🇷. Done ✅, not ❌. Family 👨‍👩‍👧 stays."
    text = pdf_text(render_as(rude_ledger(sections=[section(sentence(words, "c1"))]), "pdf"))
    assert "Ferries run. Done ✓, not ×. Family stays." in " ".join(text.split())


def test_a_ledger_that_lacks_much_is_still_made_in_every_format() -> None:
    bare_ledger = rude_ledger(judgements=[], outline=None)
    for name in FORMATS:
        made = render_as(bare_ledger, name)
        if name in ("html", "pdf", "docx"):
            assert "[1]" in READERS[name](made)
    nothing = rude_ledger(sections=[], citations=[], claims=[], outline=None, status="failed")
    for name in ("html", "pdf", "docx"):
        assert "Nothingisreported." in bare(READERS[name](render_as(nothing, name)))


def test_a_report_keeps_the_numbers_it_was_written_with() -> None:
    result = full_result()
    other = {citation.number: 5 - citation.number for citation in result.citations}
    told = [c.model_copy(update={"number": other[c.number]}) for c in result.citations]
    ledger = Ledger.model_validate_json(
        result.model_copy(update={"citations": told}).model_dump_json(), extra="ignore"
    )
    text = bare(html_text(render_as(ledger, "html")))
    assert bare("The northern line carried 478,000 passengers in 2024.[4]") in text


def test_references_are_the_same_sources_in_every_format() -> None:
    result = report_of("ko")
    cited = {citation.address for citation in result.citations}
    keys = {key for address, key in make_bibtex_keys(result.sources).items() if address in cited}
    items = json.loads(render_as(result, "csl-json"))
    assert set(read_bibtex(render_as(result, "bibtex").decode())) == {item["id"] for item in items} == keys
    records = [one for one in render_as(result, "ris").decode().split("ER  - \r\n") if one]
    assert {re.search(r"ID  - (.*)\r", one)[1] for one in records} == keys  # type: ignore[index]
    assert all(one.startswith("TY  - ") for one in records)
    yearbook = next(item for item in items if "통계연보" in item["title"])
    assert yearbook["author"] == [{"literal": "김철수"}, {"literal": "이영희"}]
    assert yearbook["issued"] == {"date-parts": [[2024, 12, 1]]}


def test_no_field_of_a_reference_begins_inside_another() -> None:
    ledger = rude_ledger(sources=[page("page one", title="A\r\nER  - \r\nTY  - BOOK", author="Verne, Jules")])
    lines = render_as(ledger, "ris").decode().split("\r\n")
    assert [line[:2] for line in lines if line] == ["TY", "ID", "TI", "AU", "UR", "Y2", "ER"]
    assert json.loads(render_as(ledger, "csl-json"))[0]["author"] == [{"family": "Verne", "given": "Jules"}]


def test_a_passage_keeps_its_lines_rows_and_place_in_every_format() -> None:
    passage = "## Limits\nRestrictions:\n- Sequences are not copied.\n| Part | Copied |\n| Rows | yes |"
    passage += "\n```\nx = 1\n```"
    state: Any = {
        "claims": [claim(passage, name="c1", of="text")],
        "pages": [page("text", "https://docs.example/a", title="Manual")],
        "contradictions": [],
        "findings": [],
        "outline": Outline(title="Restrictions", headings=[heading("c1")]),
        "sections": [
            Section(
                id="S1",
                title="Passages",
                blocks=[Block(kind="extract")],
                sentences=[Sentence(text="Restrictions:", claims=["c1"], status="supported")],
            )
        ],
    }
    assert state_of(**state)["report"].kind == "extracts"
    for name, reader in READERS.items():
        text = bare(reader(render_as(full_result(**state), name)))
        place = 0
        for words in ("Limits", "Restrictions:", "-Sequencesarenotcopied.", "Part", "Copied", "Rows", "x=1",
                      "—Manual[1]"):  # fmt: skip
            assert (place := text.find(words, place)) >= 0, (name, words, text)
