"""Web pages: the main text without menus and footers, by trafilatura.

Keeps headings, lists, tables and code; links become words, and their addresses are kept beside the text.
"""

import re
from collections.abc import Iterator
from typing import Any

import trafilatura
from htmldate import find_date
from lxml import etree  # type: ignore[import-untyped]
from lxml import html as lxml_html
from trafilatura.xpaths import BODY_XPATH

from fathom.errors import Unreadable
from fathom.reading import (
    Anchor,
    Document,
    build_document,
    code_block,
    heading_block,
    iso_day,
    resolve_link,
    table_block,
)
from fathom.text.normalization import one_line

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


def find_publication_date(tree: Any) -> str | None:
    """The day the page says it was published, as YYYY-MM-DD; call it before the tree is taken apart."""
    return _date_from_head(tree) or _date_from_times(tree)


def _date_from_head(tree: Any) -> str | None:
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


def _date_from_times(tree: Any) -> str | None:
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


_MOST_ANCHORS = 2000
_BEFORE_CHARS = 120
_LINK_BLOCKS = frozenset("p li td th dd dt blockquote figcaption caption div section article body".split())  # noqa: SIM905
_NAVIGATION_TAGS = frozenset({"nav", "footer", "aside", "form", "menu"})


def html_anchors(tree: Any, name: str) -> list[Anchor]:
    """Return the links in the page's text; call it before the tree is taken apart."""
    base = resolve_link(name, str(tree.xpath("string(//base/@href)"))) or name
    anchors: list[Anchor] = []
    for link in tree.iter("a"):
        if len(anchors) >= _MOST_ANCHORS:
            break
        address = _link_address(link, tree)
        words = _element_text(link)
        if (
            not address
            or not words.strip()
            or any(above.tag in _NAVIGATION_TAGS for above in link.iterancestors())
        ):
            continue
        anchors.append(Anchor(resolve_link(base, address), words, _words_before(link)))
    return anchors


def _link_address(link: Any, tree: Any) -> str:
    """Where a link leads; of one to a footnote, where the first web link in that note leads."""
    address = str(link.get("href") or "").strip()
    if not address.startswith("#"):
        return address
    notes = tree.xpath("//*[@id=$name]//a[starts-with(@href, 'http')]", name=address[1:])
    return str(notes[0].get("href")) if notes else ""


def _words_before(link: Any) -> str:
    """The words between the beginning of a link's block and the link, as many as tell where it stands."""
    parts: list[str] = []
    node, chars = link, 0
    while node is not None and node.tag not in _LINK_BLOCKS and chars < _BEFORE_CHARS:
        for sibling in node.itersiblings(preceding=True):
            parts += [sibling.tail or "", _element_text(sibling)]
            chars += len(parts[-2]) + len(parts[-1])
            if chars >= _BEFORE_CHARS:
                break
        else:
            node = node.getparent()
            parts.append(node.text or "" if node is not None else "")
            chars += len(parts[-1])
    return "".join(reversed(parts))[-_BEFORE_CHARS:]


def _element_text(node: Any) -> str:
    """The words of an element; of a comment none."""
    if not isinstance(node.tag, str):
        return ""
    return str(etree.tostring(node, method="text", encoding="unicode", with_tail=False))


_CHARSET = re.compile(
    rb"<(?:meta|\?xml)[^<>]*?(?:charset|encoding)\s*=\s*+[\"']?\s*([\w.:-]+)", re.IGNORECASE
)

_LANGUAGE_PLACE = (
    "string((//html/@*[name()='lang' or name()='xml:lang'] | //meta[@property='og:locale']/@content)[1])"
)

_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}")

_LABELS = " | ".join(
    f"//div[@class='{kind}']/*[self::h3 or self::h4]"
    for kind in ("note", "tip", "warning", "caution", "important")
)

# A section that manuals name by its own heading: the extraction takes "how-to-share-data" for a share button.
_NAMED_SECTIONS = (
    "//*[(self::section and not(@class)) or (self::div and @class='section')][@id]"
    "[descendant::*[position() <= 3][self::h1 or self::h2 or self::h3 or self::h4 or self::h5 or self::h6]]"
)

_PART_OF_PLACE = "string((//head/link[@rel='up']/@title | //a[@accesskey='u']/@title)[1])"

_HIDING = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|(?:font-size|opacity|max-height)\s*:\s*0(?![.\d]*[1-9])"
    r"|(?:left|top|text-indent)\s*:\s*-\d{3,}",
    re.IGNORECASE,
)

_EXPONENT = re.compile(r"[-−]?\d{1,4}")
_SUPERSCRIPTS = str.maketrans("0123456789-−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁻")
_XML_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>")
_SIGNS = re.compile(r"[\W_]")
_INVISIBLE_TAGS = ("script", "style", "noscript", "template", "svg", "nav", "footer", "form", "head")
_BLOCK_TAGS = "p|div|section|article|li|tr|h[1-6]|pre|blockquote|dt|dd|table|ul|ol|br|hr|main"


def declared_charset(body: bytes) -> str | None:
    """What the page says of its own encoding."""
    found = _CHARSET.search(body[:4096])
    return found.group(1).decode("ascii", "replace") if found else None


def read_html(text: str, *, name: str) -> Document:
    """The main text of a page, or all its visible words if no main text stands out."""
    text = _XML_DECLARATION.sub("", text)
    try:
        tree: Any = trafilatura.load_html(text)
        _mark_main(_drop_hidden(tree))
        # Now, because the extraction takes the tree apart.
        about = _about(tree) if tree is not None else {}
        anchors = html_anchors(tree, name) if tree is not None else []
        _keep_words(tree)
        found: Any = trafilatura.bare_extraction(
            tree,
            include_comments=False,
            include_tables=True,
            include_links=False,
            with_metadata=True,
            date_extraction_params={"extensive_search": False, "original_date": True},
        )
        blocks = list(_blocks(found.body)) if found is not None and found.body is not None else []
        if not any(blocks):
            blocks = _visible_blocks(_drop_hidden(lxml_html.fromstring(text))) if text.strip() else []
    except (etree.LxmlError, ValueError, RecursionError) as error:
        raise Unreadable(f"{name} is not a web page that can be read: {one_line(str(error))}") from error
    if not any(blocks):
        raise Unreadable(f"{name} has no text, only markup")
    part_of = about.pop("part_of", "")
    if found is not None:
        about |= {"title": _best_title(found.title, about.get("title")), "author": found.author}
        about["publisher"] = _find_publisher(found.sitename or "", found.hostname, name)
    if part_of and about.get("title") and part_of != about["title"]:
        about["title"] = f"{about['title']} ({part_of})"  # a section called "Restrictions" says of what
    return build_document(blocks, how="html", name=name, anchors=anchors, **about)


def _find_publisher(site: str, host: str | None, name: str) -> str | None:
    """Return the name of the site; None where it only repeats the address of the page."""
    last = name.rstrip("/").rpartition("/")[2]
    is_address = site == host or _SIGNS.sub("", site).lower() == _SIGNS.sub("", last).lower()
    return None if is_address else site


def _about(tree: Any) -> dict[str, str | None]:
    return {
        "title": _title(tree),
        "part_of": one_line(str(tree.xpath(_PART_OF_PLACE))),
        "language": _language(tree),
        "published": find_publication_date(tree),
    }


def _drop_hidden(tree: Any) -> Any:
    """Take out what a person would not see: it is no evidence, and often meant for models alone."""
    for element in tree.xpath("//*[@hidden or @style]") if tree is not None else ():
        if "hidden" in element.attrib or _HIDING.search(element.get("style", "")):
            element.drop_tree()
    return tree


def _keep_words(tree: Any) -> None:
    """Write out what a browser shows and the extraction would cut out of a sentence or run into a number."""
    for element in tree.iter("time", "q", "sup") if tree is not None else ():
        if element.tag == "q" and not len(element):
            element.text = f"“{element.text or ''}”"
        elif element.tag == "sup" and _EXPONENT.fullmatch(element.text or ""):
            element.text = (element.text or "").translate(_SUPERSCRIPTS)
        element.tag = "span"


def _mark_main(tree: Any) -> None:
    """Name the main part for the extraction where the page does not: else it keeps nothing but paragraphs.

    Manuals are made like this, and with marks that would be read as words: links from a heading to itself,
    the word "Note" as a heading, code in pieces or without a mark.
    """
    if tree is None:
        return
    for link in tree.xpath("//a[contains(concat(' ', @class, ' '), ' headerlink ')]"):
        link.drop_tree()
    for label in tree.xpath(_LABELS):
        label.drop_tree()
    for section in tree.xpath(_NAMED_SECTIONS):
        del section.attrib["id"]
    for listing in tree.xpath("//pre[not(code)]"):
        words = "".join(listing.itertext())
        del listing[:]
        listing.text = None
        etree.SubElement(listing, "code").text = words
    body = tree.find("body")
    if body is None or any(place(tree) for place in BODY_XPATH):
        return
    main = etree.SubElement(body, "article")
    main.text, body.text = body.text, None
    main.extend(child for child in list(body) if child is not main)


def html_blocks(markup: str) -> list[str]:
    """All visible words of a piece of markup, a block a paragraph, for markup inside other formats."""
    if "<" not in markup and "&" not in markup:
        return [one_line(block) for block in markup.split("\n\n") if block.strip()]
    try:
        tree = lxml_html.fromstring(f"<div>{markup}</div>") if markup.strip() else None
    except (etree.LxmlError, ValueError, RecursionError):
        return [one_line(markup)]
    return _visible_blocks(tree) if tree is not None else []


def _best_title(found: str | None, named: str | None) -> str | None:
    """What the extraction took for the title, unless it is the site's, or the page is called otherwise."""
    if not found or not named:
        return found or named
    is_site = named.strip().endswith((f"- {found}", f"| {found}", f"— {found}", f"– {found}", f"· {found}"))
    if is_site:
        return named
    return found if set(found.lower().split()) & set(named.lower().split()) else named


def _title(tree: lxml_html.HtmlElement) -> str | None:
    title: str | None = tree.findtext(".//title")
    return title


def _language(tree: lxml_html.HtmlElement) -> str | None:
    """The code a page gives its language: `ko`, `en-GB`; what is no code counts as nothing said."""
    said = tree.xpath(_LANGUAGE_PLACE)
    code = str(said).strip().replace("_", "-")
    return code if _LANGUAGE.fullmatch(code) else None


def _blocks(parent: etree._Element) -> Iterator[str]:
    """Trafilatura's tree (a small TEI) as our blocks."""
    if parent.text and parent.text.strip():
        yield one_line(parent.text)
    for node in parent:
        if node.tag == "head":
            yield heading_block(int((node.get("rend") or "h2").lstrip("h") or 2), _words(node))
        elif node.tag == "code" and "\n" in "".join(node.itertext()).strip():
            yield code_block("".join(node.itertext()).split("\n"))
        elif node.tag == "list":
            yield "\n".join(_entries(node))
        elif node.tag == "table":
            yield table_block(map(_words, row.iter("cell")) for row in node.iter("row"))
        elif node.tag in {"quote", "div", "body"} and len(node):
            yield from _blocks(node)
        elif isinstance(node.tag, str):
            yield from filter(None, map(one_line, _words(node).split("\n\n")))
        if node.tail and node.tail.strip():
            yield one_line(node.tail)


def _entries(node: etree._Element) -> Iterator[str]:
    """A list's entries, a line each; a term and what defines it are one."""
    entry = ""
    for item in node.iter("item"):
        nested = sum(1 for _ in item.iterancestors("item"))
        words, kind = one_line(_words(item)), (item.get("rend") or "")[:2]
        if kind == "dd" and entry:  # also a second one: it defines the same term
            entry += f" {words}" if ": " in entry else f": {words}"
        elif words:
            if entry:
                yield entry
            entry = f"{'  ' * nested}- {words}"
    if entry:
        yield entry


def _words(node: etree._Element) -> str:
    """Everything said in a node, but not in the lists inside it: their entries speak for themselves."""
    parts = [node.text or ""]
    for child in node:
        if child.tag == "lb":
            parts.append(" ")
        elif child.tag == "code":
            inner = "".join(child.itertext())
            parts.append(f"`{inner}`" if inner.strip() else inner)
        elif child.tag != "list" and isinstance(child.tag, str):
            parts.append(_words(child) + (" " if child.tag in {"p", "row", "cell"} else ""))
        parts.append(child.tail or "")
    return "".join(parts)


def _visible_blocks(tree: lxml_html.HtmlElement) -> list[str]:
    etree.strip_elements(tree, *_INVISIBLE_TAGS, etree.Comment, etree.ProcessingInstruction, with_tail=False)
    for node in tree.iter():
        if isinstance(node.tag, str) and re.fullmatch(_BLOCK_TAGS, node.tag):
            mark = f"{'#' * int(node.tag[1])} " if re.fullmatch("h[1-6]", node.tag) else ""
            mark = "- " if node.tag == "li" else mark
            node.text = f"\n\n{mark}{(node.text or '').lstrip() if mark else node.text or ''}"
            node.tail = "\n\n" + (node.tail or "")
    found = (one_line(block) for block in "".join(tree.itertext()).split("\n\n"))
    return [block for block in found if block.strip("#- ")]
