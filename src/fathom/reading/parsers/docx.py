"""Word documents (DOCX), by python-docx: headings, paragraphs, lists, tables and the words of links.

A zip that unpacks to too much and XML with a DTD are refused before python-docx sees them. Leaves out notes,
pictures and deleted text.
"""

import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import Any

import docx
from docx.document import Document as WordDocument
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.opc.exceptions import OpcError
from docx.oxml.ns import qn
from docx.text.paragraph import Paragraph
from lxml import etree  # type: ignore[import-untyped]

from fathom.errors import Unreadable
from fathom.reading import Anchor, Document, build_document, heading_block, table_block
from fathom.text.normalization import one_line

_MAX_BYTES = 50_000_000
_CHUNK_BYTES = 1 << 20
_DTD = re.compile(rb"<\0?!\0?(?:D\0?O\0?C\0?T\0?Y\0?P\0?E|E\0?N\0?T\0?I\0?T\0?Y)")
_HEADING = re.compile(r"(?:heading|überschrift|titre|제목)\s*([1-9])", re.IGNORECASE)
_SPACES = {qn("w:tab"): " ", qn("w:br"): " ", qn("w:cr"): " ", qn("w:noBreakHyphen"): "-"}
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"  # says all twice
# The zip module says RuntimeError to a password and NotImplementedError to a strange compression.
_BROKEN_FILE = (
    zipfile.BadZipFile,
    etree.LxmlError,
    zlib.error,
    OpcError,
    OSError,
    EOFError,
    ValueError,
    KeyError,
    AttributeError,
    RuntimeError,
)


def read_docx(body: bytes, *, name: str) -> Document:
    """Read a Word document as its words."""
    with open_word(body, name) as word:
        blocks = list(word_blocks(word, _words, _list_line))
        about = _about(word)
        anchors = list(_anchors(word))
    return build_document(blocks, how="docx", name=name, anchors=anchors, **about)


@contextmanager
def open_word(body: bytes, name: str) -> Iterator[WordDocument]:
    """Open a Word document; what breaks while it is read becomes one Unreadable."""
    try:
        _check_parts(body, name)
        word = docx.Document(BytesIO(body))
        etree.strip_elements(word.element, _FALLBACK, with_tail=False)
        yield word
    except Unreadable:
        raise
    except _BROKEN_FILE as error:
        raise Unreadable(
            f"{name} is not a Word document that can be opened: {one_line(str(error))}"
        ) from error


def _check_parts(body: bytes, name: str) -> None:
    """Refuse what unpacks to too much, whatever the zip says of its sizes, and XML that defines entities."""
    unpacked = 0
    with zipfile.ZipFile(BytesIO(body)) as parts:
        for path in parts.namelist():
            is_xml = path.endswith((".xml", ".rels"))
            with parts.open(path) as part:
                before = b""
                while chunk := part.read(_CHUNK_BYTES):
                    unpacked += len(chunk)
                    if unpacked > _MAX_BYTES:
                        raise Unreadable(f"{name} unpacks to more than {_MAX_BYTES:,} bytes")
                    if is_xml and _DTD.search(before + chunk):
                        raise Unreadable(f"{name} defines XML entities, which no Word document does")
                    before = chunk[-32:]


def _about(word: WordDocument) -> dict[str, str | None]:
    try:
        word.part.package.part_related_by(RELATIONSHIP_TYPE.CORE_PROPERTIES)
    except KeyError:
        return {}  # python-docx would make some up
    core = word.core_properties
    return {
        "title": core.title or None,
        "author": core.author or None,
        "language": core.language or None,
        "published": core.created.date().isoformat() if core.created else None,
    }


def _anchors(word: WordDocument) -> Iterator[Anchor]:
    """The links of the document to places outside of it."""
    for link in word.element.body.iter(qn("w:hyperlink")):
        target = word.part.rels.get(link.get(qn("r:id"), ""))
        if target is not None and target.is_external:
            before = "".join(_words(node) for node in reversed(list(link.itersiblings(preceding=True))))
            yield Anchor(target.target_ref, _words(link), before)


def word_blocks(
    word: WordDocument, words: Callable[[Any], str], list_line: Callable[[Paragraph], str], parent: Any = None
) -> Iterator[str]:
    """Headings, paragraphs, lists and tables, also those inside content controls.

    `words` writes what a paragraph or cell says; `list_line` writes an item of a list, and nothing for other
    paragraphs.
    """
    entries: list[str] = []
    for node in word.element.body if parent is None else parent:
        paragraph = Paragraph(node, word) if node.tag == qn("w:p") else None
        level = heading_level(paragraph) if paragraph is not None else 0
        if paragraph is not None and not level and (entry := list_line(paragraph)):
            entries.append(entry)
            continue
        yield "\n".join(entries)
        entries = []
        if paragraph is not None:
            yield heading_block(level, words(node)) if level else one_line(words(node))
        elif node.tag == qn("w:tbl"):
            yield table_block([words(cell) for cell in row.tc_lst] for row in node.tr_lst)
        elif node.tag == qn("w:sdt"):
            inner = node.find(qn("w:sdtContent"))
            yield from word_blocks(word, words, list_line, inner) if inner is not None else ()
    yield "\n".join(entries)


def _list_line(paragraph: Paragraph) -> str:
    numbering = paragraph._p.find(f"{qn('w:pPr')}/{qn('w:numPr')}")
    is_listed = numbering is not None or style_name(paragraph).startswith("List ")
    words = one_line(_words(paragraph._p)) if is_listed else ""
    level = numbering.find(qn("w:ilvl")) if numbering is not None else None
    depth = level.get(qn("w:val"), "0") if level is not None else "0"
    return f"{'  ' * min(int(depth), 8)}- {words}" if words and depth.isdecimal() else ""


def style_name(paragraph: Paragraph) -> str:
    """The name of a paragraph's style, which Word writes in English in every language."""
    return str((paragraph.style.name if paragraph.style else None) or "")


def heading_level(paragraph: Paragraph) -> int:
    """How deep a heading stands; 0 for what is no heading."""
    named = style_name(paragraph)
    if found := _HEADING.fullmatch(named) or _HEADING.fullmatch(paragraph._p.style or ""):
        return int(found.group(1))
    return 1 if named == "Title" else 0


def _words(node: Any) -> str:
    """All words in a node, also those of links and insertions, which python-docx's own `text` leaves out."""
    parts: list[str] = []
    for inner in node.iter():
        if inner.tag == qn("w:t"):
            parts.append(inner.text or "")
        elif inner.tag == qn("w:p") and parts:
            parts.append(" ")
        else:
            parts.append(_SPACES.get(inner.tag, ""))
    return "".join(parts)
