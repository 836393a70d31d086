"""Tests of reading feeds, other JSON, and tables."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fathom.errors import Unreadable
from fathom.reading.parsers import parse_document

RSS = """<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel>
<title>Lake news</title><description>What the water does.</description>
<item><title>The lake rose</title><pubDate>Tue, 05 Mar 2024 10:00:00 GMT</pubDate>
<description>Short.</description>
<content:encoded><![CDATA[<p>It rose by <b>twelve</b> centimetres.</p><p>Nobody knew.</p>]]>
</content:encoded></item>
<item><title>호수 소식</title><description>&lt;p&gt;수위가 올랐다.&lt;/p&gt;</description></item>
</channel></rss>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><title>Lake news</title><subtitle>Water.</subtitle>
<entry><title>It fell</title><updated>2024-04-01T00:00:00Z</updated><summary>By two.</summary></entry>
</feed>"""
JSON_FEED = {
    "version": "https://jsonfeed.org/version/1.1",
    "title": "Lake news",
    "language": "en",
    "items": [
        {"id": "1", "title": "One", "content_html": "<p>It rose.</p>", "date_published": "2024-03-05T10:00Z"},
        {"id": "2", "content_text": "It fell.\n\nAnd rose."},
        "nonsense",
    ],
}


@pytest.mark.parametrize("kind", ["application/rss+xml", "application/xml", "text/xml; charset=utf-8"])
def test_an_rss_feed_becomes_its_entries(kind: str) -> None:
    document = parse_document(RSS.encode(), content_type=kind, name="https://x.example/feed")
    assert document.text.split("\n\n") == [
        "# Lake news",
        "What the water does.",
        "## The lake rose",
        "2024-03-05",
        "It rose by twelve centimetres.",
        "Nobody knew.",
        "## 호수 소식",
        "수위가 올랐다.",
    ]
    assert (document.title, document.how, document.published) == ("Lake news", "feed", "2024-03-05")


def test_an_atom_feed_becomes_its_entries() -> None:
    document = parse_document(ATOM.encode(), content_type="application/atom+xml", name="x")
    assert document.text == "# Lake news\n\nWater.\n\n## It fell\n\n2024-04-01\n\nBy two."


@pytest.mark.parametrize("kind", ["application/feed+json", "application/json; charset=utf-8"])
def test_a_json_feed_becomes_its_entries(kind: str) -> None:
    document = parse_document(json.dumps(JSON_FEED).encode(), content_type=kind, name="x")
    assert document.text == ("# Lake news\n\n## One\n\n2024-03-05\n\nIt rose.\n\nIt fell.\n\nAnd rose.")
    assert (document.language, document.published) == ("en", "2024-03-05")


@pytest.mark.parametrize("body", [b'{"a": 1}', b"[1, 2]", b'"words"', b'{"version": 1}'])
@pytest.mark.parametrize("kind", ["application/json", "application/ld+json"])
def test_other_json_is_refused_in_a_sentence(kind: str, body: bytes) -> None:
    with pytest.raises(Unreadable, match="x is JSON data, not a text that can be quoted"):
        parse_document(body, content_type=kind, name="x")


@pytest.mark.parametrize("body", [b"Words.", b"[" * 200_000])
def test_broken_json_is_refused(body: bytes) -> None:
    with pytest.raises(Unreadable, match="x is said to be JSON but is not"):
        parse_document(body, content_type="application/json", name="x")


def test_entities_of_a_feed_are_not_multiplied() -> None:
    lots = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 9))
    bomb = f'<!DOCTYPE rss [<!ENTITY e0 "boom">{lots}]><rss><channel><title>T &e8;</title></channel></rss>'
    text = parse_document(bomb.encode(), content_type="application/rss+xml", name="x").text
    assert len(text) < 100


@given(st.binary(max_size=200), st.sampled_from(["application/rss+xml", "application/feed+json", "text/csv"]))
def test_any_bytes_are_read_or_refused(body: bytes, kind: str) -> None:
    try:
        assert parse_document(body, content_type=kind, name="x").text
    except Unreadable as error:
        assert "x" in str(error)


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_a_table_has_a_line_a_row(mark: str) -> None:
    body = f'Month{mark}Level\nMay{mark}"twelve\n and {mark} a half"\n{mark}\n'.encode()
    document = parse_document(body, content_type="text/csv", name="a.csv")
    said = "twelve and , a half" if mark == "," else f"twelve and {mark.strip()} a half".replace("  ", " ")
    assert document.text == f"| Month | Level |\n| May | {said} |"
    assert document.how == "table"


def test_a_table_of_data_is_refused() -> None:
    with pytest.raises(Unreadable, match=r"a\.csv has more than 5,000 rows"):
        parse_document(b"1,2\n" * 5001, content_type=None, name="a.csv")
