"""Where the links of a document stand in its text."""

from io import BytesIO
from typing import Any

import docx
import pytest
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from hypothesis import given
from hypothesis import strategies as st

from fathom.reading import Anchor, Document, locate_links
from fathom.reading.parsers import parse_document

HERE = "https://news.example/a/b"
FILLER = (
    "<p>The coast road was closed for two days while the cable was laid, and the harbour stayed open.</p>" * 4
)


def web(body: str, head: str = "") -> Document:
    page = f"<html><head><title>T</title>{head}</head><body><article>{body}{FILLER}</article></body></html>"
    return parse_document(page.encode(), content_type="text/html", name=HERE)


def shown(document: Document) -> dict[str, str]:
    """Each address with the words of the text where its link stands."""
    return {link.address: document.text[link.start : link.end] for link in document.links}


@pytest.mark.parametrize(
    ("href", "address"),
    [
        ("https://inst.example/r?x=1#page=2", "https://inst.example/r?x=1"),
        ("/report.pdf", "https://news.example/report.pdf"),
        ("c", "https://news.example/a/c"),
        ("//inst.example/r", "https://inst.example/r"),
    ],
)
def test_a_link_of_a_web_page_stands_where_its_words_do(href: str, address: str) -> None:
    found = web(
        f'<p>It rose, <code>x</code> says, as <a href="{href}">the <b>Tidal</b> Institute</a> found.</p>'
    )
    assert shown(found) == {address: "the Tidal Institute"}


@pytest.mark.parametrize(
    "href",
    [
        "#top",
        "javascript:alert(1)",
        "mailto:a@b.example",
        "file:///etc/passwd",
        "https://u:p@inst.example/",
        HERE,
        "http://[broken",
        "https://x.example/" + "a" * 600,
        "https://news.example/a/b#part",
    ],
)
def test_what_leads_nowhere_else_on_the_web_is_no_link(href: str) -> None:
    assert web(f'<p>It rose, as <a href="{href}">the institute</a> found in a year of work.</p>').links == ()


def test_a_footnote_is_the_link_in_its_note() -> None:
    note = '<ol><li id="n1">Institute, <a href="https://inst.example/r">Report</a>, 2024.</li></ol>'
    body = '<p>The lagoon delivers 320 megawatts at spring tide.<sup><a href="#n1">[1]</a></sup></p>'
    found = web(body + note)
    marks = [link for link in found.links if link.start < found.text.index("coast")]
    assert marks[0].address == "https://inst.example/r"
    assert found.text[: marks[0].start].rstrip("[ ").endswith(("spring tide.", "spring tide"))


def test_links_of_menus_are_left_out_and_a_base_is_heeded() -> None:
    menu = '<nav><a href="https://menu.example/">The menu of this site</a></nav>'
    found = web(
        f'{menu}<p>As <a href="r">the institute</a> found.</p>', '<base href="https://base.example/x/">'
    )
    assert list(shown(found)) == ["https://base.example/x/r"]


def test_links_of_markdown_and_addresses_written_out() -> None:
    text = (
        "# T\n\nAs [the `Tidal` *Institute*](/r.pdf) found. See [more][1] at https://bare.example/y.\n\n"
        "[1]: https://ref.example/z\n"
    )
    found = parse_document(text.encode(), content_type="text/markdown", name=HERE)
    assert shown(found) == {
        "https://news.example/r.pdf": "the `Tidal` Institute",
        "https://ref.example/z": "more",
        "https://bare.example/y": "https://bare.example/y",
    }


def test_links_of_a_word_document() -> None:
    word = docx.Document()
    paragraph = word.add_paragraph("According to ")
    target = paragraph.part.relate_to("https://inst.example/r", RELATIONSHIP_TYPE.HYPERLINK, is_external=True)
    link: Any = OxmlElement("w:hyperlink")
    link.set(qn("r:id"), target)
    link.append(paragraph.add_run("the institute")._r)
    paragraph._p.append(link)
    paragraph.add_run(", it rose.")
    body = BytesIO()
    word.save(body)
    found = parse_document(body.getvalue(), content_type=None, name="/notes/a.docx")
    assert found.text == "According to the institute, it rose."
    assert shown(found) == {"https://inst.example/r": "the institute"}


def test_links_are_bounded() -> None:
    many = "".join(
        f'<p>As <a href="https://x{n}.example/">institute number {n}</a> found.</p>' for n in range(900)
    )
    assert 100 < len(web(many).links) <= 300


@given(st.text(max_size=40), st.text(max_size=10), st.text(max_size=10), st.text(max_size=10))
def test_no_anchor_breaks_it(text: str, address: str, words: str, before: str) -> None:
    for link in locate_links(text, [Anchor(address, words, before)], "https://a.example/"):
        assert 0 <= link.start < link.end <= len(text)


def test_what_a_browser_shows_within_a_sentence_is_not_cut_out() -> None:
    found = web(
        '<p>It opened on <time datetime="2019-02-02">2 February 2019</time> with 10<sup>6</sup> lamps.</p>'
    )
    assert "It opened on 2 February 2019 with 10⁶ lamps." in found.text


@pytest.mark.parametrize(
    "body",
    [
        "<p>The 2018 model of the car was sold until 2020-05-04 in all shops of the country.</p>",
        '<p>Men first walked on the Moon on <time datetime="1969-07-20">20 July 1969</time>, and many'
        " watched it at home on their sets.</p>",
        '<table><tr><td>Opened</td><td><time datetime="1969-07-20">then</time></td></tr></table>',
    ],
)
def test_a_date_in_the_text_is_no_publication_date(body: str) -> None:
    assert web(body, '<meta name="description" content="On 2018-01-01 it was sold.">').published is None


def test_a_date_that_stands_alone_or_in_the_markup_is() -> None:
    assert (
        web('<p class="by"><time datetime="2021-03-04">4 March</time></p><p>It rose.</p>').published
        == "2021-03-04"
    )
    meta = '<meta property="article:published_time" content="2022-05-06T07:00:00Z">'
    assert web("<p>It rose in 2018.</p>", meta).published == "2022-05-06"
