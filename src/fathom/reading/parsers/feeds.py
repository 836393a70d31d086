"""News feeds as text: RSS, RDF and Atom by fastfeedparser, and JSON Feed; an entry a section."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import fastfeedparser
from lxml import etree  # type: ignore[import-untyped]

from fathom.errors import Unreadable
from fathom.reading import Document, build_document, heading_block, iso_day
from fathom.reading.parsers.html import html_blocks
from fathom.text.normalization import one_line

_FEED = re.compile(
    rb"\s*+(?:<\?xml[^>]*>\s*+)?(?:(?><!--.*?-->|<\?xml-stylesheet[^>]*>)\s*+)*+<(?:rss|feed|rdf:RDF)[\s>]",
    re.DOTALL,
)


def is_feed(body: bytes) -> bool:
    """Whether some XML is an RSS or Atom feed, by its first element."""
    return _FEED.match(body[:4096].removeprefix(b"\xef\xbb\xbf")) is not None


def read_feed(body: bytes, *, name: str) -> Document:
    """Read an RSS or Atom feed as its entries."""
    try:
        # Bytes, because a text that looks like an address would be fetched.
        found = fastfeedparser.parse(body, include_tags=False, include_media=False, include_enclosures=False)
    except (ValueError, LookupError, etree.LxmlError) as error:
        raise Unreadable(f"{name} is not a feed that can be read: {one_line(str(error))}") from error
    about, entries = found["feed"], found["entries"]
    title = _text(about, "title")
    blocks = [heading_block(1, title), *html_blocks(_text(about, "subtitle"))]
    for entry in entries:
        blocks += [
            heading_block(2, " ".join(html_blocks(_text(entry, "title")))),
            _day(entry) or "",
            *html_blocks(_body(entry)),
        ]
    return build_document(
        blocks,
        how="feed",
        name=name,
        title=title,
        published=_newest(entries),
        author=_text(about, "author"),
        publisher=title,
        language=_text(about, "language") or None,
    )


def read_json(text: str, *, name: str) -> Document:
    """Read a JSON Feed as its entries; other JSON is data, not text, and refused."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"{name} is said to be JSON but is not") from error
    if not isinstance(found, dict) or not str(found.get("version", "")).startswith("https://jsonfeed.org/"):
        raise Unreadable(f"{name} is JSON data, not a text that can be quoted")
    listed = found.get("items")
    items = [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
    title = _text(found, "title")
    return build_document(
        [heading_block(1, title), _text(found, "description"), *_json_entries(items)],
        how="feed",
        name=name,
        title=title,
        published=_newest(items),
        publisher=title,
        language=_text(found, "language") or None,
    )


def _json_entries(items: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for item in items:
        plain = _text(item, "content_text").split("\n\n")
        yield heading_block(2, _text(item, "title"))
        yield _day(item) or ""
        yield from html_blocks(_text(item, "content_html")) or map(one_line, plain)


def _body(entry: Mapping[str, Any]) -> str:
    """The fullest text of an entry, as markup."""
    contents = [_text(content, "value") for content in entry.get("content") or ()]
    return max([*contents, _text(entry, "description")], key=len)


def _day(entry: Mapping[str, Any]) -> str | None:
    stamps = (_text(entry, key) for key in ("published", "date_published", "updated"))
    return next(filter(None, map(iso_day, stamps)), None)


def _newest(entries: Iterable[Mapping[str, Any]]) -> str | None:
    return max(filter(None, map(_day, entries)), default=None)


def _text(item: Mapping[str, Any], key: str) -> str:
    value = item.get(key)
    return value.strip() if isinstance(value, str) else ""
