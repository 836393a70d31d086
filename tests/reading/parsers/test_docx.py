"""Tests of reading Word documents."""

import io
import re
import zipfile

import docx as word
import pytest

from fathom.errors import Unreadable
from fathom.reading import EmptyDocument
from fathom.reading.parsers import parse_document

TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
SPACE = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
LINK = '<w:hyperlink w:anchor="gauge"><w:r><w:t>the gauge</w:t></w:r></w:hyperlink>'
CORE = """<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties"
 xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/">
<dc:title>Lake report</dc:title><dc:creator>Ada Kim</dc:creator><dc:language>en-GB</dc:language>
<dcterms:created>2024-03-05T10:00:00Z</dcterms:created></cp:coreProperties>"""


def paragraph(words: str, properties: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>{words}</w:t></w:r></w:p>"


def styled(words: str, style: str) -> str:
    return paragraph(words, f'<w:pStyle w:val="{style}"/>')


def entry(words: str, level: int = 0) -> str:
    return paragraph(words, f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="1"/></w:numPr>')


def table(*rows: tuple[str, ...]) -> str:
    cells = ("".join(f"<w:tc>{paragraph(cell)}</w:tc>" for cell in row) for row in rows)
    return f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in cells)}</w:tbl>"


def docx(inside: str, core: str = "", head: str = "") -> bytes:
    """A Word file with this inside: the parts around it are the template's."""
    template, out = io.BytesIO(), io.BytesIO()
    word.Document().save(template)
    with zipfile.ZipFile(template) as known, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        for path in known.namelist():
            part = known.read(path)
            if path == "word/document.xml":
                part = f"{head}<w:document {SPACE}><w:body>{inside}</w:body></w:document>".encode()
            elif path == "docProps/core.xml":
                part = core.encode()
            elif path == "_rels/.rels" and not core:
                part = re.sub(rb"<Relationship [^>]*core-properties[^>]*/>", b"", part)
            if part:
                made.writestr(path, part)
    return out.getvalue()


def in_utf16(body: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(body)) as known, zipfile.ZipFile(out, "w") as made:
        for path in known.namelist():
            part = known.read(path)
            made.writestr(path, part.decode().encode("utf-16") if path == "word/document.xml" else part)
    return out.getvalue()


def test_a_document_keeps_its_shape() -> None:
    inside = (
        styled("Lakes", "Title")
        + styled("Levels", "Heading2")
        + "<w:p><w:r><w:t>The lake </w:t></w:r><w:del><w:r><w:delText>fell</w:delText></w:r></w:del>"
        + "<w:r><w:t>rose.</w:t><w:br/><w:t>호수가 올랐다.</w:t></w:r></w:p>"
        + entry("Snow melted.")
        + entry("Early.", 1)
        + styled("By hand.", "ListBullet")
        + f"<w:p><w:r><w:t>See </w:t></w:r>{LINK}<w:ins><w:r><w:t> or ask</w:t></w:r></w:ins></w:p>"
        + table(("Month", "Level"), ("May", "12"))
        + f"<w:sdt><w:sdtContent>{paragraph('The end.')}</w:sdtContent></w:sdt>"
    )
    document = parse_document(docx(inside, CORE), content_type=TYPE, name="https://x.example/1")
    assert document.text.split("\n\n") == [
        "# Lakes",
        "## Levels",
        "The lake rose. 호수가 올랐다.",
        "- Snow melted.\n  - Early.\n- By hand.",
        "See the gauge or ask",
        "| Month | Level |\n| May | 12 |",
        "The end.",
    ]
    assert (document.title, document.author, document.language) == ("Lake report", "Ada Kim", "en-GB")
    assert (document.published, document.how) == ("2024-03-05", "docx")


@pytest.mark.parametrize("kind", [None, "application/octet-stream", "application/zip"])
def test_a_document_is_recognised_by_its_inside(kind: str | None) -> None:
    assert parse_document(docx(paragraph("Words.")), content_type=kind, name="x").how == "docx"


def test_without_properties_the_first_heading_is_the_title() -> None:
    assert (
        parse_document(docx(styled("Tides", "Heading1")), content_type=TYPE, name="a.docx").title == "Tides"
    )


def test_a_document_without_words_is_empty() -> None:
    with pytest.raises(EmptyDocument):
        parse_document(docx(paragraph("")), content_type=TYPE, name="x")


def test_what_unpacks_without_end_is_unreadable() -> None:
    bomb = docx(paragraph("a" * 60_000_000))
    assert len(bomb) < 200_000
    with pytest.raises(Unreadable, match="x unpacks to more than 50,000,000 bytes"):
        parse_document(bomb, content_type=TYPE, name="x")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_document_that_defines_entities_is_refused_before_it_is_parsed(encoding: str) -> None:
    lots = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 9))
    head = f'<!DOCTYPE d [<!ENTITY e0 "boom"><!ENTITY file SYSTEM "file:///etc/hostname">{lots}]>'
    body = docx(paragraph("Safe &e8; &file; words."), head=head)
    if encoding == "utf-16":
        body = in_utf16(body)
    with pytest.raises(Unreadable, match="x defines XML entities"):
        parse_document(body, content_type=TYPE, name="x")


@pytest.mark.parametrize(
    "body", [b"PK\x03\x04 word/ garbage", b"no zip", docx(paragraph("Words."))[:-40], docx("<w:p>")]
)
def test_a_broken_document_is_unreadable(body: bytes) -> None:
    with pytest.raises(Unreadable, match="x is not a Word document that can be opened"):
        parse_document(body, content_type=TYPE, name="x")


def test_a_zip_of_something_else_is_unreadable() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        made.writestr("word/other.xml", "<a/>")
    with pytest.raises(Unreadable, match="x is not a Word document"):
        parse_document(out.getvalue(), content_type=TYPE, name="x")
