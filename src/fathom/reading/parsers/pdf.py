"""PDF files: their text layer, by pdfium.

Scanned pages have none and are refused.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import accumulate
from threading import Lock

import pypdfium2

from fathom.errors import Unreadable
from fathom.reading import Document, EmptyDocument, build_document, tidy_blocks
from fathom.reading.parsers.plain_text import text_blocks

PDFIUM_LOCK = Lock()  # pdfium must not be entered by two threads, not even with two documents
_SOFT_HYPHEN = re.compile("[\x02\u00ad\ufffe]\\s*")
_KOREAN_WRAP = re.compile(r"(?<=\w)\n(?=[가-힣])")
_DATE = re.compile(r"D:(\d{4})(\d{2})(\d{2})")


def read_pdf(body: bytes, *, name: str) -> Document:
    """The text of all pages, a block a paragraph; the document knows where each page begins."""
    with PDFIUM_LOCK:
        try:
            pdf = pypdfium2.PdfDocument(body)
            try:
                pages = list(_pages(pdf))
                about = pdf.get_metadata_dict(skip_empty=True)
            finally:
                pdf.close()
        except pypdfium2.PdfiumError as error:
            raise Unreadable(f"{name} is not a PDF that can be opened: {error}") from error
    blocks = [tidy_blocks(page_blocks(page)) for page in pages]
    try:
        found = build_document(
            [block for page in blocks for block in page],
            how="pdf",
            name=name,
            title=about.get("Title"),
            published=_date(about.get("CreationDate", "")),
            author=about.get("Author"),
        )
    except EmptyDocument:
        raise Unreadable(f"{name} has no text layer") from None
    lengths = (sum(len(block) + len("\n\n") for block in page) for page in blocks[:-1])
    return replace(found, pages=tuple(accumulate(lengths, initial=0)))


def _pages(pdf: pypdfium2.PdfDocument) -> Iterator[str]:
    for number in range(len(pdf)):
        page = pdf[number]
        words = page.get_textpage()
        yield words.get_text_range()
        words.close()
        page.close()


def page_blocks(page: str) -> list[str]:
    """A line that ends early ends its paragraph: pdfium gives no blank lines between paragraphs."""
    page = _SOFT_HYPHEN.sub("", page.replace("\r\n", "\n"))
    # pdfium keeps the space at a line's end if there was one; a Korean line without it broke inside a word.
    page = _KOREAN_WRAP.sub("", page)
    return [line for block in text_blocks(page) for line in block.split("\n")]


def _date(stamp: str) -> str | None:
    found = _DATE.match(stamp)
    return "-".join(found.groups()) if found else None
