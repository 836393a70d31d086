"""When a web page was published, from what its markup says and never from its text.

A date counts in meta elements, in JSON-LD, and in `time` elements that are marked as the page's own date, or
that stand alone outside of its running text. A year in the text, a title or an address is no publication
date.
"""

import re
from collections.abc import Iterator
from typing import Any

from htmldate import find_date
from lxml import etree  # type: ignore[import-untyped]
from lxml import html as lxml_html

from fathom.reading.blocks import iso_day

_FULL_DATE = re.compile(r"\d{4}-?\d{2}-?\d{2}|\b\d{1,2}\.? [^\W\d]{3,} \d{4}|[^\W\d]{3} \d{1,2},? \d{4}")
_MARKED_TIMES = (
    ".//*[contains(@itemprop, 'datePublished') or contains(@property, 'datePublished')]",
    ".//time[@pubdate]",
    ".//time[contains(@class, 'publish') or contains(@class, 'posted') or contains(@class, 'entry-date')]",
    ".//header//time[@datetime]",
)
# A time inside a sentence, a table or a quotation is when something else happened.
_LONE_TIMES = (
    ".//time[@datetime and not(ancestor::td or ancestor::blockquote or ancestor::dd"
    " or parent::*[self::p or self::li or self::span][string-length(normalize-space(.)) > 60])]"
)
_METAS = "//meta[@content and (@name or @property or @itemprop or @http-equiv or @pubdate)]"
_JSON_LD = "//script[contains(@type, 'ld+json') or contains(@type, 'settings+json')]"
_NO_DATE = re.compile("copyright|modified|updated", re.IGNORECASE)


def published(tree: Any) -> str | None:
    """The day the page says it was published, as YYYY-MM-DD; call it before the tree is taken apart."""
    return _from_head(tree) or _from_times(tree)


def _from_head(tree: Any) -> str | None:
    """What htmldate finds among meta elements and JSON-LD; it is shown nothing else, or it would guess."""
    head = etree.Element("head")
    for meta in tree.xpath(_METAS):
        named = " ".join(meta.get(key, "") for key in ("name", "property", "itemprop", "http-equiv"))
        if _FULL_DATE.search(meta.get("content")) and not _NO_DATE.search(named):
            etree.SubElement(head, "meta", dict(meta.attrib))
    scripts = [script.text for script in tree.xpath(_JSON_LD) if script.text and "date" in script.text]
    if not len(head) and not scripts:
        return None
    page = lxml_html.fromstring("<html><head></head><body></body></html>")
    page.head.extend(list(head))
    for text in scripts:
        etree.SubElement(page.head, "script", type="application/ld+json").text = text
    found = find_date(page, extensive_search=False, original_date=True)
    return iso_day(found) if found else None


def _from_times(tree: Any) -> str | None:
    """A marked time element, or else the only day that the page's other time elements name."""
    for place in _MARKED_TIMES:
        if day := next(_days(tree.xpath(place)), None):
            return day
    named = set(_days(tree.xpath(_LONE_TIMES)))
    return named.pop() if len(named) == 1 else None


def _days(elements: list[Any]) -> Iterator[str]:
    for element in elements:
        stamp = element.get("datetime") or element.get("content") or ""
        if day := iso_day(stamp):
            yield day
