"""Which kind of document some bytes are, and what reads that kind.

Adding a kind is one file and one line in each table.
"""

import asyncio
import re
from email.message import Message
from pathlib import Path, PurePosixPath
from typing import Literal

from fathom.errors import Unreadable
from fathom.reading import Document, EmptyDocument
from fathom.reading.parsers.feeds import is_feed, read_feed, read_json
from fathom.reading.parsers.html import declared_charset, read_html
from fathom.reading.parsers.markdown import read_markdown
from fathom.reading.parsers.plain_text import decode, read_plain, read_table
from fathom.reading.parsers.python_package import read_metadata, read_python
from fathom.reading.parsers.rst import read_rst

DocumentKind = Literal[
    "html", "pdf", "docx", "feed", "json", "table", "markdown", "rst", "python", "metadata", "text"
]

_BY_TYPE: dict[str, DocumentKind] = {
    "text/html": "html",
    "application/xhtml+xml": "html",
    "application/pdf": "pdf",
    "application/x-pdf": "pdf",
    "text/markdown": "markdown",
    "text/x-markdown": "markdown",
    "text/x-rst": "rst",
    "text/prs.fallenstein.rst": "rst",
    "text/x-python": "python",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "application/rss+xml": "feed",
    "application/atom+xml": "feed",
    "application/feed+json": "json",
    "application/json": "json",
    "text/csv": "table",
    "text/tab-separated-values": "table",
    "application/xml": "text",
}

_BY_SUFFIX: dict[str, DocumentKind] = {
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".pdf": "pdf",
    ".docx": "docx",
    ".csv": "table",
    ".tsv": "table",
    ".md": "markdown",
    ".markdown": "markdown",
    ".rst": "rst",
    ".py": "python",
    ".txt": "text",
    ".text": "text",
}

READABLE_SUFFIXES = frozenset(_BY_SUFFIX)  # what a folder of documents is searched for
_BY_NAME: dict[str, DocumentKind] = {"METADATA": "metadata", "PKG-INFO": "metadata"}


def _read_pdf(body: bytes, *, name: str) -> Document:
    from fathom.reading.parsers.pdf import read_pdf  # takes a while to import, and most pages are none

    return read_pdf(body, name=name)


def _read_docx(body: bytes, *, name: str) -> Document:
    from fathom.reading.parsers.docx import read_docx  # as above

    return read_docx(body, name=name)


_BYTE_READERS = {"pdf": _read_pdf, "docx": _read_docx, "feed": read_feed}

_READERS = {
    "html": read_html,
    "json": read_json,
    "table": read_table,
    "markdown": read_markdown,
    "rst": read_rst,
    "python": read_python,
    "metadata": read_metadata,
    "text": read_plain,
}

_HTML = re.compile(
    rb"\s*+(?:<\?xml[^>]*>\s*+)?(?:(?><!--.*?-->)\s*+)*+<(?:!doctype\s+html|html[\s>])",
    re.IGNORECASE | re.DOTALL,
)

_MARKDOWN = re.compile(r"^(?:#{1,4} \S|```|\|.*\|$|[-*] \*\*)", re.MULTILINE)
_MARKDOWN_SIGNS = 3
_XML_TYPES = frozenset({"", "application/xml", "text/xml", "text/plain", "text/html"})
_VAGUE_TYPES = frozenset({"", "text/plain", "application/octet-stream", "binary/octet-stream"})


def is_document(path: Path) -> bool:
    """Whether a file of a folder counts, by its name alone."""
    return path.name in _BY_NAME or path.suffix.lower() in _BY_SUFFIX


def parse_document(body: bytes, *, content_type: str | None, name: str) -> Document:
    """The document in some bytes; Unreadable if it is of no known kind, Empty if it has nothing to say."""
    if not body.strip():
        raise EmptyDocument(f"{name} is empty")
    kind = detect_kind(body, content_type=content_type, name=name)
    if kind in _BYTE_READERS:
        return _BYTE_READERS[kind](body, name=name)
    text = decode_text(body, content_type=content_type, name=name)
    if kind == "text" and len(_MARKDOWN.findall(text)) >= _MARKDOWN_SIGNS:
        kind = "markdown"  # notes and raw files are often Markdown under another name
    return _READERS[kind](text, name=name)


def decode_text(body: bytes, *, content_type: str | None, name: str) -> str:
    """The text in some bytes, by what the server, the bytes and the page itself say of their encoding."""
    charset = _split_content_type(content_type)[1]
    if detect_kind(body, content_type=content_type, name=name) == "html":
        charset = charset or declared_charset(body)
    return decode(body, charset=charset, name=name)


def detect_kind(body: bytes, *, content_type: str | None, name: str) -> DocumentKind:
    """Which kind some bytes will be read as; Unreadable if it is none that is known."""
    media, path = _split_content_type(content_type)[0], PurePosixPath(name)
    if b"%PDF-" in body[:1024] and media in {*_VAGUE_TYPES, "application/pdf", "application/x-pdf"}:
        return "pdf"
    is_word = body.startswith(b"PK\x03\x04") and b"word/" in body  # a zip with a Word document in it
    if is_word and media in {*_VAGUE_TYPES, "application/zip"}:
        return "docx"
    if media in _XML_TYPES and is_feed(body):
        return "feed"
    if media in _BY_TYPE:
        return _BY_TYPE[media]
    named = _BY_NAME.get(path.name) or _BY_SUFFIX.get(path.suffix.lower())
    if media in _VAGUE_TYPES and named and named not in _BYTE_READERS:
        return named
    if media.endswith("+json"):
        return "json"
    if media in _VAGUE_TYPES and _HTML.match(body[:4096]):
        return "html"
    if media.startswith("text/"):
        return "text"
    if media in _VAGUE_TYPES and named:
        return named
    raise Unreadable(f"{name} is of a kind that cannot be read ({media or path.suffix or 'no known ending'})")


def _split_content_type(content_type: str | None) -> tuple[str, str | None]:
    if not content_type:
        return "", None
    message = Message()
    message["Content-Type"] = content_type
    return content_type.partition(";")[0].strip().lower(), message.get_content_charset()


async def parse_in_thread(body: bytes, *, content_type: str | None, name: str) -> Document:
    """The document in some bytes, parsed beside the event loop but without a limit on what it may cost."""
    return await asyncio.to_thread(parse_document, body, content_type=content_type, name=name)
