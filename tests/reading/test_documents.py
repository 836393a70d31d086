"""Tests of choosing the kind of a document, and of decoding it."""

import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fathom.errors import Unreadable
from fathom.reading import EmptyDocument
from fathom.reading.parsers import is_document, parse_document

KOREAN = "바다의 수위는 하루에 두 번 오르내린다. 달이 물을 끌어당기기 때문이다."
GARBAGE = bytes(range(256)) * 20


@pytest.mark.parametrize(
    ("name", "content_type", "how"),
    [
        ("a.md", None, "markdown"),
        ("a.MARKDOWN", None, "markdown"),
        ("a.txt", None, "text"),
        ("a.rst", None, "rst"),
        ("https://x.example/a.md", "text/plain; charset=utf-8", "markdown"),
        ("https://x.example/page", "text/markdown", "markdown"),
        ("https://x.example/page", "text/plain", "text"),
        ("https://x.example/page", "TEXT/PLAIN", "text"),
        ("https://x.example/a.pdf", "text/plain", "text"),
        ("https://x.example/api", "application/xml", "text"),
        ("https://x.example/data", "text/csv", "table"),
        ("a.tsv", None, "table"),
    ],
)
def test_the_kind_follows_type_then_name(name: str, content_type: str | None, how: str) -> None:
    assert parse_document(b"Words of a text.", content_type=content_type, name=name).how == how


def test_a_web_page_is_recognised_by_its_start() -> None:
    page = b"<!DOCTYPE html><html><body><p>Words of a page that has a sentence.</p></body></html>"
    assert parse_document(page, content_type=None, name="https://x.example/page").how == "html"


def test_a_pdf_is_recognised_by_its_start(pdf_of: Callable[..., bytes]) -> None:
    body = pdf_of([["Words."]])
    assert (
        parse_document(body, content_type="application/octet-stream", name="https://x.example/1234").how
        == "pdf"
    )


@pytest.mark.parametrize("kind", ["image/png", "application/zip", "video/mp4"])
def test_unknown_kinds_are_refused_in_a_sentence(kind: str) -> None:
    with pytest.raises(Unreadable, match=f"x is of a kind that cannot be read .{kind}."):
        parse_document(b"\x89PNG", content_type=kind, name="x")


def test_an_unknown_ending_is_refused() -> None:
    with pytest.raises(Unreadable, match="cannot be read"):
        parse_document(b"words", content_type=None, name="/a/b.xyz")


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("utf-8", KOREAN),
        ("utf-8-sig", KOREAN),
        ("utf-16", KOREAN),
        ("utf-32", KOREAN),
        ("cp949", KOREAN),
        ("latin-1", "Die Größe der Wälder überraschte die Förster, café für alle."),
    ],
)
def test_encodings_are_recognised(encoding: str, text: str) -> None:
    assert parse_document(text.encode(encoding), content_type=None, name="a.txt").text == text


def test_a_few_stray_bytes_do_not_change_how_the_rest_is_read() -> None:
    told = parse_document(
        KOREAN.encode() + b" \xe9\xff ", content_type="text/plain; charset=utf-8", name="a.txt"
    ).text
    assert told.startswith(KOREAN)
    assert set(told.removeprefix(KOREAN)) <= {" ", "\ufffd"}


def test_the_declared_encoding_is_believed() -> None:
    body = "Привет, море и волны".encode("koi8-r")
    assert (
        parse_document(body, content_type="text/plain; charset=koi8-r", name="a").text
        == "Привет, море и волны"
    )


def test_a_declared_encoding_that_does_not_exist_does_no_harm() -> None:
    assert parse_document(b"words", content_type="text/plain; charset=nonsense", name="a").text == "words"


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.html", "a.py", "METADATA"])
@pytest.mark.parametrize("body", [GARBAGE, b"MZ\x00\x01\x02" * 50])
def test_binary_is_not_text_whatever_its_name(name: str, body: bytes) -> None:
    with pytest.raises(Unreadable, match="is not text"):
        parse_document(body, content_type=None, name=name)


@pytest.mark.parametrize("body", [b"", b" \n\t "])
def test_an_empty_file_is_empty(body: bytes) -> None:
    with pytest.raises(EmptyDocument, match=r"a\.md is empty"):
        parse_document(body, content_type=None, name="a.md")


def test_text_is_composed_and_has_no_hidden_characters() -> None:
    body = (unicodedata.normalize("NFD", "한국어") + "\u200b \x07word \r\nnext\x0c").encode()
    assert parse_document(body, content_type=None, name="a.txt").text == "한국어 word next"


def test_wrapped_lines_are_joined_and_meant_lines_stay() -> None:
    body = b"A sentence that is long enough to be wrapped at the\nmargin goes on.\n\n- one\n- two\nName: x\n"
    assert parse_document(body, content_type=None, name="a.txt").text == (
        "A sentence that is long enough to be wrapped at the margin goes on.\n\n- one\n- two Name: x"
    )


def test_files_of_a_folder_count_by_name() -> None:
    counted = [
        ".md",
        ".markdown",
        ".txt",
        ".text",
        ".html",
        ".htm",
        ".pdf",
        ".py",
        ".rst",
        ".PDF",
        ".docx",
        ".csv",
    ]
    assert all(is_document(Path(f"a{suffix}")) for suffix in counted)
    assert is_document(Path("x.dist-info/METADATA"))
    assert is_document(Path("PKG-INFO"))
    assert not any(is_document(Path(name)) for name in ("a.png", "a", "METADATA.json", "a.md.bak"))


@given(st.text(min_size=1), st.sampled_from(["a.md", "a.rst", "a.txt", "a.py", "a.html", "METADATA"]))
def test_any_text_is_read_or_refused_and_comes_out_clean(text: str, name: str) -> None:
    try:
        document = parse_document(text.encode("utf-8", "replace"), content_type=None, name=name)
    except Unreadable:
        return
    assert document.text == document.text.strip("\n")
    assert "\0" not in document.text
    assert not any(line.endswith((" ", "\t")) for line in document.text.split("\n"))


@given(
    st.binary(max_size=300),
    st.sampled_from(["a.md", "a.rst", "a.txt", "a.py", "a.html", "a.pdf", "METADATA"]),
)
def test_any_bytes_are_read_or_refused(body: bytes, name: str) -> None:
    try:
        assert parse_document(body, content_type=None, name=name).text
    except Unreadable as error:
        assert name in str(error)
