"""Word documents (DOCX): headings, paragraphs, lists and tables, from the XML inside the zip.

Reads parts up to a size and follows no reference, so that neither the zip nor the XML can blow up. Does not
know styles beyond headings, and leaves out notes, pictures and deleted text.
"""

import re
import zipfile
import zlib
from collections.abc import Iterator
from io import BytesIO

from lxml import etree  # type: ignore[import-untyped]

from fathom.errors import Unreadable
from fathom.reading.blocks import document, heading, one_line, table
from fathom.reading.port import Document

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"  # says all twice
_MAX_PART_BYTES = 50_000_000
_HEADING = re.compile(r"(?:heading|überschrift|titre|제목)\s*([1-6])", re.IGNORECASE)
_ABOUT = {
    "title": "{http://purl.org/dc/elements/1.1/}title",
    "author": "{http://purl.org/dc/elements/1.1/}creator",
    "language": "{http://purl.org/dc/elements/1.1/}language",
    "published": "{http://purl.org/dc/terms/}created",
}
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_SAID = {f"{_W}tab": " ", f"{_W}br": " ", f"{_W}cr": " ", f"{_W}noBreakHyphen": "-"}
# The zip module says RuntimeError to a password and NotImplementedError to a strange compression.
_BROKEN = (
    zipfile.BadZipFile,
    etree.LxmlError,
    zlib.error,
    OSError,
    EOFError,
    ValueError,
    KeyError,
    RuntimeError,
)


def is_docx(body: bytes) -> bool:
    """Whether some bytes look like a zip with a Word document in it."""
    return body.startswith(b"PK\x03\x04") and b"word/" in body


def read_docx(body: bytes, *, name: str) -> Document:
    """A Word document as its words."""
    try:
        with zipfile.ZipFile(BytesIO(body)) as parts:
            main = _part(parts, "word/document.xml", name)
            about = _about(parts, name)
            etree.strip_elements(main, _FALLBACK, with_tail=False)
    except Unreadable:
        raise
    except _BROKEN as error:
        raise Unreadable(
            f"{name} is not a Word document that can be opened: {one_line(str(error))}"
        ) from error
    inside = main.find(f"{_W}body")
    return document(_blocks(inside) if inside is not None else (), how="docx", name=name, **about)


def _part(parts: zipfile.ZipFile, path: str, name: str) -> etree._Element:
    with parts.open(path) as part:
        # What the zip says of its sizes may be a lie: only as much as is allowed is ever inflated.
        xml = part.read(_MAX_PART_BYTES + 1)
    if len(xml) > _MAX_PART_BYTES:
        raise Unreadable(f"{name} unpacks to more than {_MAX_PART_BYTES:,} bytes")
    return etree.fromstring(xml, etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False))


def _about(parts: zipfile.ZipFile, name: str) -> dict[str, str | None]:
    if "docProps/core.xml" not in parts.namelist():
        return {}
    core = _part(parts, "docProps/core.xml", name)
    said = {key: one_line(core.findtext(tag) or "") or None for key, tag in _ABOUT.items()}
    dated = _DATE.match(said["published"] or "")
    return {**said, "published": dated.group() if dated else None}


def _blocks(parent: etree._Element) -> Iterator[str]:
    entries: list[str] = []
    for node in parent:
        if node.tag == f"{_W}p" and (entry := _entry(node)):
            entries.append(entry)
            continue
        yield "\n".join(entries)
        entries = []
        if node.tag == f"{_W}p":
            yield _paragraph(node)
        elif node.tag == f"{_W}tbl":
            rows = node.findall(f"{_W}tr")
            yield table((_words(cell) for cell in row.findall(f"{_W}tc")) for row in rows)
        elif node.tag == f"{_W}sdt":
            inner = node.find(f"{_W}sdtContent")
            yield from _blocks(inner) if inner is not None else ()
    yield "\n".join(entries)


def _entry(node: etree._Element) -> str:
    """A line of a list; nothing for a paragraph that is none."""
    level = node.find(f"{_W}pPr/{_W}numPr/{_W}ilvl")
    is_entry = node.find(f"{_W}pPr/{_W}numPr") is not None and not _level(node)
    words = one_line(_words(node)) if is_entry else ""
    depth = level.get(f"{_W}val") if level is not None else "0"
    return f"{'  ' * min(int(depth), 8)}- {words}" if words and depth and depth.isdecimal() else ""


def _paragraph(node: etree._Element) -> str:
    level = _level(node)
    return heading(level, _words(node)) if level else one_line(_words(node))


def _level(node: etree._Element) -> int:
    """How deep a heading stands; 0 for what is no heading."""
    style = node.find(f"{_W}pPr/{_W}pStyle")
    named = str(style.get(f"{_W}val") or "") if style is not None else ""
    if found := _HEADING.fullmatch(named):
        return int(found.group(1))
    return 1 if named.lower() == "title" else 0


def _words(node: etree._Element) -> str:
    parts: list[str] = []
    for inner in node.iter():
        if inner.tag == f"{_W}t":
            parts.append(inner.text or "")
        elif inner.tag == f"{_W}p" and parts:
            parts.append(" ")
        else:
            parts.append(_SAID.get(inner.tag, ""))
    return "".join(parts)
