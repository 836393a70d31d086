"""Tests of reading PDF files."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from fathom.errors import Unreadable
from fathom.reading.parsers.pdf import read_pdf


def test_lines_become_paragraphs_across_pages(pdf_of: Callable[..., bytes]) -> None:
    first = [
        "The tide rises twice a day because the moon",
        "pulls the water towards itself.",
        "It falls as often.",
    ]
    body = pdf_of([first, ["Second page."]], title="Tides", created="D:20240305120000Z")
    document = read_pdf(body, name="tides.pdf")
    assert document.text.split("\n\n") == [
        "The tide rises twice a day because the moon pulls the water towards itself. It falls as often.",
        "Second page.",
    ]
    assert (document.title, document.published, document.how) == ("Tides", "2024-03-05", "pdf")


@pytest.mark.parametrize("made", ["untitled", "Microsoft Word - tides_v3.docx", "tides-final.indd"])
def test_a_title_that_a_program_made_up_is_not_taken(pdf_of: Callable[..., bytes], made: str) -> None:
    body = pdf_of(
        [
            [
                "Tides",
                "The sea falls twice a day in all harbours of the north,",
                "and it rises as often, whoever looks.",
            ]
        ],
        title=made,
    )
    assert read_pdf(body, name="x/t.pdf").title == "Tides"


def test_without_metadata_the_file_gives_the_title(pdf_of: Callable[..., bytes]) -> None:
    document = read_pdf(pdf_of([["Words."]]), name="/a/tides.pdf")
    assert (document.title, document.published) == ("tides.pdf", None)


def test_a_scan_has_no_text_layer(pdf_of: Callable[..., bytes]) -> None:
    with pytest.raises(Unreadable, match=r"scan\.pdf has no text layer"):
        read_pdf(pdf_of([[]]), name="scan.pdf")


@pytest.mark.parametrize("body", [b"%PDF-1.4\ngarbage", b"%PDF-", b"\x00" * 100])
def test_a_broken_file_is_unreadable(body: bytes) -> None:
    with pytest.raises(Unreadable, match=r"x\.pdf is not a PDF that can be opened"):
        read_pdf(body, name="x.pdf")


def test_many_threads_may_read_at_once(pdf_of: Callable[..., bytes]) -> None:
    body = pdf_of([[f"Page number {number}."] for number in range(20)])
    with ThreadPoolExecutor(8) as pool:
        texts = {document.text for document in pool.map(lambda _: read_pdf(body, name="x.pdf"), range(24))}
    assert len(texts) == 1


def test_a_document_knows_where_its_printed_pages_begin(pdf_of: Callable[..., bytes]) -> None:
    body = pdf_of([["First page."], [], ["Third page.", "It has two lines."], []])
    document = read_pdf(body, name="x.pdf")
    assert len(document.pages) == 4
    first, _, third, _ = document.pages
    assert (first, third) == (0, document.text.index("Third"))
