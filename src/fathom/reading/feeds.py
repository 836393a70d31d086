"""News feeds as text: RSS, Atom and JSON Feed, an entry a section.

Does not know where a feed came from, and follows none of its links.
"""

import json
import re
from collections.abc import Iterator, Mapping
from email.utils import parsedate_to_datetime
from typing import Any

from lxml import etree  # type: ignore[import-untyped]

from fathom.errors import Unreadable
from fathom.reading.blocks import document, heading, one_line
from fathom.reading.html import plain_blocks
from fathom.reading.port import Document

_FEED = re.compile(
    rb"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*|<\?xml-stylesheet[^>]*>\s*)*<(?:rss|feed|rdf:RDF)[\s>]",
    re.DOTALL,
)
_ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_BODIES = ("encoded", "content", "description", "summary")
_DATES = ("published", "pubDate", "date", "updated")


def is_feed(body: bytes) -> bool:
    """Whether some XML is an RSS or Atom feed, by its first element."""
    return _FEED.match(body[:4096].removeprefix(b"\xef\xbb\xbf")) is not None


def read_feed(body: bytes, *, name: str) -> Document:
    """An RSS or Atom feed as its entries."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, recover=True)
    try:
        root = etree.fromstring(body, parser)
    except (etree.LxmlError, ValueError) as error:
        raise Unreadable(f"{name} is not a feed that can be read: {one_line(str(error))}") from error
    if root is None:
        raise Unreadable(f"{name} is not a feed that can be read")
    channel = next((node for node in root if _name(node) == "channel"), root)
    entries = [node for node in root.iter() if _name(node) in {"item", "entry"}]
    title = _child(channel, "title")
    blocks = [heading(1, title), *plain_blocks(_child(channel, "description", "subtitle"))]
    for entry in entries:
        said = (_child(entry, "title"), _child(entry, *_DATES), _child(entry, *_BODIES))
        blocks += _entry(*said)
    newest = max(filter(None, (_day(_child(entry, *_DATES)) for entry in entries)), default=None)
    return document(blocks, how="feed", name=name, title=title, published=newest)


def read_json(text: str, *, name: str) -> Document:
    """A JSON Feed as its entries; other JSON is data, not text, and refused."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"{name} is said to be JSON but is not") from error
    if not isinstance(found, dict) or not str(found.get("version", "")).startswith("https://jsonfeed.org/"):
        raise Unreadable(f"{name} is JSON data, not a text that can be quoted")
    items = [item for item in _list(found.get("items")) if isinstance(item, dict)]
    blocks = [heading(1, _text(found, "title")), _text(found, "description"), *_json_entries(items)]
    days = (_day(_text(item, "date_published")) for item in items)
    return document(
        blocks,
        how="feed",
        name=name,
        title=_text(found, "title"),
        published=max(filter(None, days), default=None),
        language=_text(found, "language") or None,
    )


def _json_entries(items: list[dict[str, Any]]) -> Iterator[str]:
    for item in items:
        plain = _text(item, "content_text").split("\n\n")
        yield heading(2, _text(item, "title"))
        yield _day(_text(item, "date_published")) or ""
        yield from plain_blocks(_text(item, "content_html")) or map(one_line, plain)


def _entry(title: str, dated: str, body: str) -> list[str]:
    return [heading(2, " ".join(plain_blocks(title))), _day(dated) or "", *plain_blocks(body)]


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(item: Mapping[str, Any], key: str) -> str:
    value = item.get(key)
    return value if isinstance(value, str) else ""


def _name(node: etree._Element) -> str:
    return etree.QName(node).localname if isinstance(node.tag, str) else ""


def _child(parent: etree._Element, *names: str) -> str:
    """What the first of these children says that says anything, with the markup inside it."""
    for name in names:
        for node in parent:
            if _name(node) == name:
                inner = "".join(etree.tostring(child, encoding="unicode") for child in node)
                if said := ((node.text or "") + inner).strip():
                    return said
    return ""


def _day(stamp: str) -> str | None:
    if found := _ISO_DATE.match(stamp):
        return found.group()
    try:
        return parsedate_to_datetime(stamp).date().isoformat()
    except (ValueError, TypeError):
        return None
