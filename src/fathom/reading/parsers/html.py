"""Web pages: the main text without menus and footers, by trafilatura.

Keeps headings, lists, tables and code; links become words, and their addresses are kept beside the text.
Does not know how a page is fetched.
"""

import re
from collections.abc import Iterator
from typing import Any

import trafilatura
from lxml import etree  # type: ignore[import-untyped]
from lxml import html as lxml_html
from trafilatura.xpaths import BODY_XPATH

from fathom.errors import Unreadable
from fathom.reading.blocks import code, document, heading, one_line, table
from fathom.reading.parsers.html_dates import published
from fathom.reading.parsers.html_links import html_anchors
from fathom.reading.port import Document

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
_PART_OF_PLACE = "string((//head/link[@rel='up']/@title | //a[@accesskey='u']/@title)[1])"
_HIDING = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|(?:font-size|opacity|max-height)\s*:\s*0(?![.\d]*[1-9])"
    r"|(?:left|top|text-indent)\s*:\s*-\d{3,}",
    re.IGNORECASE,
)
_EXPONENT = re.compile(r"[-−]?\d{1,4}")
_RAISED = str.maketrans("0123456789-−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁻")
_DECLARED = re.compile(r"^\s*<\?xml[^>]*\?>")
_UNSEEN = ("script", "style", "noscript", "template", "svg", "nav", "footer", "form", "head")
_BLOCK_TAGS = "p|div|section|article|li|tr|h[1-6]|pre|blockquote|dt|dd|table|ul|ol|br|hr|main"


def declared_charset(body: bytes) -> str | None:
    """What the page says of its own encoding."""
    found = _CHARSET.search(body[:4096])
    return found.group(1).decode("ascii", "replace") if found else None


def read_html(text: str, *, name: str) -> Document:
    """The main text of a page, or all its visible words if no main text stands out."""
    text = _DECLARED.sub("", text)
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
            blocks = _visible(_drop_hidden(lxml_html.fromstring(text))) if text.strip() else []
    except (etree.LxmlError, ValueError, RecursionError) as error:
        raise Unreadable(f"{name} is not a web page that can be read: {one_line(str(error))}") from error
    if not any(blocks):
        raise Unreadable(f"{name} has no text, only markup")
    part_of = about.pop("part_of", "")
    if found is not None:
        about |= {"title": _best_title(found.title, about.get("title")), "author": found.author}
        about["publisher"] = found.sitename if found.sitename != found.hostname else None
    if part_of and about.get("title") and part_of != about["title"]:
        about["title"] = f"{about['title']} ({part_of})"  # a section called "Restrictions" says of what
    return document(blocks, how="html", name=name, anchors=anchors, **about)


def _about(tree: Any) -> dict[str, str | None]:
    return {
        "title": _title(tree),
        "part_of": one_line(str(tree.xpath(_PART_OF_PLACE))),
        "language": _language(tree),
        "published": published(tree),
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
            element.text = (element.text or "").translate(_RAISED)
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


def plain_blocks(markup: str) -> list[str]:
    """All visible words of a piece of markup, a block a paragraph, for markup inside other formats."""
    if "<" not in markup and "&" not in markup:
        return [one_line(block) for block in markup.split("\n\n") if block.strip()]
    try:
        tree = lxml_html.fromstring(f"<div>{markup}</div>") if markup.strip() else None
    except (etree.LxmlError, ValueError, RecursionError):
        return [one_line(markup)]
    return _visible(tree) if tree is not None else []


def _best_title(found: str | None, named: str | None) -> str | None:
    """What the extraction took for the title, unless the page's own name does not speak of it."""
    if not found or not named:
        return found or named
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
            yield heading(int((node.get("rend") or "h2").lstrip("h") or 2), _words(node))
        elif node.tag == "code" and "\n" in "".join(node.itertext()).strip():
            yield code("".join(node.itertext()).split("\n"))
        elif node.tag == "list":
            yield "\n".join(_entries(node))
        elif node.tag == "table":
            yield table(map(_words, row.iter("cell")) for row in node.iter("row"))
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


def _visible(tree: lxml_html.HtmlElement) -> list[str]:
    etree.strip_elements(tree, *_UNSEEN, etree.Comment, etree.ProcessingInstruction, with_tail=False)
    for node in tree.iter():
        if isinstance(node.tag, str) and re.fullmatch(_BLOCK_TAGS, node.tag):
            mark = f"{'#' * int(node.tag[1])} " if re.fullmatch("h[1-6]", node.tag) else ""
            mark = "- " if node.tag == "li" else mark
            node.text = f"\n\n{mark}{(node.text or '').lstrip() if mark else node.text or ''}"
            node.tail = "\n\n" + (node.tail or "")
    found = (one_line(block) for block in "".join(tree.itertext()).split("\n\n"))
    return [block for block in found if block.strip("#- ")]
