"""The links of a web page, each with the words in front of it; a footnote counts as the link in its note.

Does not know which links matter, or what the extraction leaves of the page.
"""

from typing import Any

from lxml import etree  # type: ignore[import-untyped]

from fathom.reading.links import Anchor, resolve

_MOST_ANCHORS = 2000
_BEFORE_CHARS = 120
_BLOCKS = frozenset("p li td th dd dt blockquote figcaption caption div section article body".split())  # noqa: SIM905
_AROUND = frozenset({"nav", "footer", "aside", "form", "menu"})


def html_anchors(tree: Any, name: str) -> list[Anchor]:
    """Return the links in the page's text; call it before the tree is taken apart."""
    base = resolve(name, str(tree.xpath("string(//base/@href)"))) or name
    anchors: list[Anchor] = []
    for link in tree.iter("a"):
        if len(anchors) >= _MOST_ANCHORS:
            break
        address = _address(link, tree)
        words = _text(link)
        if not address or not words.strip() or any(above.tag in _AROUND for above in link.iterancestors()):
            continue
        anchors.append(Anchor(resolve(base, address), words, _words_before(link)))
    return anchors


def _address(link: Any, tree: Any) -> str:
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
    while node is not None and node.tag not in _BLOCKS and chars < _BEFORE_CHARS:
        for sibling in node.itersiblings(preceding=True):
            parts += [sibling.tail or "", _text(sibling)]
            chars += len(parts[-2]) + len(parts[-1])
            if chars >= _BEFORE_CHARS:
                break
        else:
            node = node.getparent()
            parts.append(node.text or "" if node is not None else "")
            chars += len(parts[-1])
    return "".join(reversed(parts))[-_BEFORE_CHARS:]


def _text(node: Any) -> str:
    """The words of an element; of a comment none."""
    if not isinstance(node.tag, str):
        return ""
    return str(etree.tostring(node, method="text", encoding="unicode", with_tail=False))
