"""Reports as other tools hand them out: every citation survives the format."""

from io import BytesIO

import docx
import pytest
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml import OxmlElement
from docx.oxml.ns import qn

from fathom.audit.marked_text import mark_report
from fathom.audit.statements import split_report
from fathom.errors import Unreadable

A, B, C = "https://a.example/one", "https://b.example/two", "https://c.example/three"


def addresses(body: bytes, name: str) -> dict[str, list[str]]:
    """The addresses that each checked statement cites."""
    document = mark_report(body, content_type=None, name=name)
    report = split_report(document.text, document.title)
    known = {source.id: source.address for source in report.sources}
    return {one.text: [known[key] for key in one.cites] for one in report.checked}


CHAT_PAGE = f"""<!doctype html><html><head><title>Towers</title></head><body>
<nav><a href="/x">Home 1</a></nav><main><h1>Towers of the coast</h1>
<p>The tower at Merrow is 48 metres high.<sup><a href="#fn1">1</a></sup>
It cost 3 million<sup><a href="#fn2">[2]</a></sup>.</p><ul><li>It was painted in 1960
(<a href="{C}">c.example</a>).</li></ul><table><tr><th>Tower</th><th>Height</th></tr><tr><td>Swale</td>
<td>51 m <a href="{A}">source</a></td></tr></table></main>
<footer><h2>Sources</h2><ol><li id="fn1">Tower page <a href="{A}">{A}</a> <a href="#r1">↩</a></li>
<li id="fn2">Costs, <a href="{B}">b.example</a></li></ol></footer></body></html>"""

PLUS_PAGE = f"""<article><h2>Towers</h2><p>The tower at Merrow is 48 metres high<sup>1</sup><sup>2</sup>.
Its area is 90 m<sup>2</sup>.</p><p>Sources:</p><ol><li><a href="{A}">Tower page</a></li>
<li><a href="{B}">Costs</a></li></ol></article>"""


def test_a_page_with_linked_footnotes_and_a_table() -> None:
    assert addresses(CHAT_PAGE.encode(), "chat.html") == {
        "The tower at Merrow is 48 metres high.": [A],
        "It cost 3 million.": [B],
        "It was painted in 1960.": [C],
        "Swale; Height: 51 m": [A],
    }


def test_a_page_with_raised_numbers_and_a_list_below() -> None:
    found = addresses(PLUS_PAGE.encode(), "plus.html")
    assert found["The tower at Merrow is 48 metres high."] == [A, B]
    assert found["Its area is 90 m²."] == []


def word_report() -> bytes:
    """A Word file with a link in the text, a footnote, a raised number, and a numbered list of sources."""
    word = docx.Document()
    word.add_heading("Towers of the coast", 1)
    paragraph = word.add_paragraph("The tower at Merrow is 48 metres high (")
    link = OxmlElement("w:hyperlink")
    link.set(qn("r:id"), word.part.relate_to(A, RELATIONSHIP_TYPE.HYPERLINK, is_external=True))
    run, text = OxmlElement("w:r"), OxmlElement("w:t")
    text.text = "Archive"
    run.append(text)
    link.append(run)
    paragraph._p.append(link)
    paragraph.add_run("). It cost 3 million.")
    note = OxmlElement("w:footnoteReference")
    note.set(qn("w:id"), "2")
    paragraph.add_run()._r.append(note)
    other = word.add_paragraph("It was painted in 1960.")
    other.add_run("1").font.superscript = True
    word.add_heading("Sources", 2)
    word.add_paragraph(f"Painters. {C}", style="List Number")
    space = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    notes = (
        f'<w:footnotes xmlns:w="{space}"><w:footnote w:id="2"><w:p><w:r><w:t>Costs, {B}</w:t></w:r></w:p>'
        "</w:footnote></w:footnotes>"
    )
    kind = "application/vnd.openxmlformats-officedocument.wordprocessingml.footnotes+xml"
    part = Part(PackURI("/word/footnotes.xml"), kind, notes.encode(), word.part.package)
    word.part.relate_to(part, f"{RELATIONSHIP_TYPE.FOOTNOTES}")
    file = BytesIO()
    word.save(file)
    return file.getvalue()


def test_a_word_file_with_links_footnotes_and_a_list() -> None:
    assert addresses(word_report(), "report.docx") == {
        "The tower at Merrow is 48 metres high.": [A],
        "It cost 3 million.": [B],
        "It was painted in 1960.": [C],
    }


def test_the_list_of_sources_that_word_itself_makes_is_read() -> None:
    word = docx.Document()
    word.add_paragraph("The tower at Merrow is 48 metres high [1].")
    word.add_heading("References", 2)
    entry = word.add_paragraph(f"[1] Archive. {A}")._p
    control, content = OxmlElement("w:sdt"), OxmlElement("w:sdtContent")
    entry.addprevious(control)
    control.append(content)
    content.append(entry)
    file = BytesIO()
    word.save(file)
    assert addresses(file.getvalue(), "report.docx") == {"The tower at Merrow is 48 metres high.": [A]}


def pdf_report() -> bytes:
    """A PDF with a link over words that wrap, raised numbers, a power, a wrapped address and two lists."""
    typst = pytest.importorskip("typst")
    source = (
        f"#set page(width: 9cm, height: auto)\n#show heading: set text(size: 16pt)\n= Towers of the coast\n\n"
        f'The tower at Merrow is 48 metres high (#link("{A}")[the archive of the county of Merrow]). '
        "It covers 90 m#super[2] and cost 3 million.#super[1] It was painted in 1960.#super[2]\n\n"
        f'== Sources\n\n+ Costs. #link("{B}")\n+ Painters. #link("{C}")[{C[:20]}…]\n'
    )
    return bytes(typst.compile(source.encode()))


def test_a_pdf_with_links_raised_numbers_and_headings() -> None:
    assert addresses(pdf_report(), "report.pdf") == {
        "The tower at Merrow is 48 metres high.": [A],
        "It covers 90 m² and cost 3 million.": [B],
        "It was painted in 1960.": [C],
    }


def test_captions_of_pages_and_word_files_mean_their_rows() -> None:
    page = (
        f'<article><h1>Ships</h1><table><caption>Ships a year<sup><a href="#n1">[1]</a></sup></caption>'
        "<tr><th>Year</th><th>Ships</th></tr><tr><td>2023</td><td>351</td></tr></table>"
        f'<ol><li id="n1">Harbour, <a href="{A}">{A}</a></li></ol></article>'
    )
    word = docx.Document()
    word.add_paragraph("Ships a year [1]", style="Caption")
    table = word.add_table(rows=2, cols=2)
    for cell, words in zip(table._cells, ("Year", "Ships", "2023", "351"), strict=True):
        cell.text = words
    word.add_heading("References", 2)
    word.add_paragraph(f"[1] Harbour. {A}")
    file = BytesIO()
    word.save(file)
    for body, name in ((page.encode(), "page.html"), (file.getvalue(), "report.docx")):
        assert addresses(body, name) == {"2023; Ships: 351": [A]}, name


def test_markdown_and_text_are_taken_as_they_are() -> None:
    said = f"The tower is 48 metres high [1].\n\nSources\n[1] Tower {A}\n"
    assert list(addresses(said.encode(), "report.txt").values()) == [[A]]
    assert list(addresses(f"---\ntitle: T\n---\n{said}".encode(), "report.md").values()) == [[A]]


@pytest.mark.parametrize(
    ("body", "name"),
    [(b"PK\x03\x04 word/ broken", "x.docx"), (b"%PDF-1.7 broken", "x.pdf"), (b"\0\1\2\3", "x")],
)
def test_what_cannot_be_read_is_said_in_one_sentence(body: bytes, name: str) -> None:
    with pytest.raises(Unreadable, match=name):
        mark_report(body, content_type=None, name=name)
