"""A report as Markdown with every citation in it, whatever format it came in.

`reading.parsers` turn links into words, because readers of a page want its words. An auditor wants to know
where each mark leads: links become `[words](address)`, footnotes `[^name]`, raised numbers `[1]`.
"""

import re
from collections.abc import Iterator
from ctypes import c_int, create_string_buffer
from dataclasses import replace
from io import BytesIO
from typing import Any

import docx
import pypdfium2
import pypdfium2.raw as pdfium
from docx.document import Document as WordDocument
from docx.oxml.ns import qn
from docx.text.paragraph import Paragraph
from lxml import etree  # type: ignore[import-untyped]
from lxml import html as lxml_html

from fathom.errors import Unreadable
from fathom.reading.blocks import build_document, clean_text, one_line
from fathom.reading.documents import decode_text, detect_kind, parse_document
from fathom.reading.links import resolve_link
from fathom.reading.parsers.docx import BROKEN_WORD_FILE, check_parts, heading_level, style_name
from fathom.reading.parsers.markdown import front_matter
from fathom.reading.parsers.pdf import PDFIUM_LOCK, page_blocks
from fathom.reading.protocol import Document

_UNSEEN = frozenset("script style nav form button svg template noscript head iframe select".split())  # noqa: SIM905
_BLOCKS = frozenset(
    {"p", "div", "section", "article", "main", "body", "li", "dd", "dt", "blockquote", "figcaption"}
    | {"caption", "header", "footer", "aside", "ul", "ol", "dl"}
)
_MARK_WORDS = re.compile(r"[\[(]?(?:[0-9]{1,3}|[a-z*†‡])[\])]?")
_BACK = re.compile(r"[↩↑^⏎⮌]\ufe0e?|back(?: to (?:text|content))?", re.IGNORECASE)
_UNIT_BEFORE = re.compile(r"(?:\b[kcm]?m|\b10|\))$")
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_NUMBER = re.compile(r"\[?\d{1,3}(?:\s{0,3}[,–-]\s{0,3}\d{1,3}){0,30}+\]?")
_MAX_LINKS = 2000


def mark_report(body: bytes, *, content_type: str | None, name: str) -> Document:
    """Return the report as Markdown with its citations; a `Document` as parsers return it."""
    kind = detect_kind(body, content_type=content_type, name=name)
    if kind == "html":
        return _mark_html(body, name)
    if kind == "docx":
        return _mark_docx(body, name)
    if kind == "pdf":
        return _mark_pdf(body, name)
    if kind in {"markdown", "text"}:
        about, text = front_matter(clean_text(decode_text(body, content_type=content_type, name=name)))
        return build_document(text.split("\n\n"), how=kind, name=name, title=about.get("title"))
    return parse_document(body, content_type=content_type, name=name)


def _mark_html(body: bytes, name: str) -> Document:
    try:
        tree = lxml_html.document_fromstring(decode_text(body, content_type="text/html", name=name))
    except (etree.LxmlError, ValueError) as error:
        raise Unreadable(f"{name} is not a page that can be read: {one_line(str(error))}") from error
    title = one_line("".join(tree.xpath("//title//text()"))[:300])
    return build_document(_HtmlMarks(tree, name).blocks(), how="html", name=name, title=title or None)


class _HtmlMarks:
    """Writes the blocks of a page with its citations."""

    def __init__(self, tree: Any, name: str) -> None:
        self._tree, self._name = tree, name
        self._order = {node: place for place, node in enumerate(tree.iter())}
        self._notes = dict(self._find_notes())
        self._lines: list[str] = []
        self._open = ""
        self._lead = ""  # what stands before the next words: a heading's or list item's mark

    def _find_notes(self) -> Iterator[tuple[Any, str]]:
        """Yield the elements that marks in the text lead to, further down on the page, with their names."""
        targets = {node.get("id") or node.get("name"): node for node in self._tree.xpath("//*[@id or @name]")}
        for link in self._tree.iter("a"):
            name = str(link.get("href") or "")[1:] if str(link.get("href") or "").startswith("#") else ""
            target = targets.get(name)
            if target is None or not _MARK_WORDS.fullmatch(one_line(link.text_content())):
                continue
            if self._order[target] > self._order[link]:
                yield target, name

    def blocks(self) -> list[str]:
        """Return headings, paragraphs, lists and rows, in order."""
        body = self._tree.find("body")
        self._walk(body if body is not None else self._tree)
        self._close()
        return self._lines

    def _close(self) -> None:
        words = one_line(self._open)
        if words and not re.fullmatch(r"[-#>|\s]*|\d+\.", words):
            self._lines.append(f"{self._lead}{words}")
            self._lead = ""
        self._open = ""

    def _walk(self, node: Any) -> None:
        if not isinstance(node.tag, str) or node.tag in _UNSEEN:
            return
        is_block = node.tag in _BLOCKS or re.fullmatch(r"h[1-6]|tr|pre", node.tag)
        if is_block:
            self._close()
        if node in self._notes:
            self._lead = f"[^{self._notes[node]}]: "
        elif re.fullmatch(r"h[1-6]", node.tag):
            self._lead = "#" * int(node.tag[1]) + " "
        elif node.tag == "li" and not self._lead:
            self._lead = self._item_mark(node)
        if node.tag == "tr":
            cells = [cell for cell in node if cell.tag in {"td", "th"}]
            self._lines.append(f"| {' | '.join(one_line(self._inline(cell)) for cell in cells)} |")
        elif node.tag == "a":
            self._open += self._link(node)
        elif node.tag == "sup":
            self._open += self._raised(node)
        else:
            self._open += node.text or ""
            for child in node:
                self._walk(child)
                self._open += child.tail or ""
            if node.tag == "br":
                self._open += " "
        if is_block:
            self._close()
            self._lead = ""

    def _inline(self, node: Any) -> str:
        """Return the words of a cell with their marks."""
        outer = self._lines, self._open, self._lead
        self._lines, self._open, self._lead = [], node.text or "", ""
        for child in node:
            self._walk(child)
            self._open += child.tail or ""
        self._close()
        words = " ".join(self._lines)
        self._lines, self._open, self._lead = outer
        return words

    def _item_mark(self, node: Any) -> str:
        above = node.getparent()
        if above is None or above.tag != "ol":
            return "- "
        start = int(above.get("start") or 1) if str(above.get("start") or "1").isdecimal() else 1
        return f"{start + sum(1 for _ in node.itersiblings('li', preceding=True))}. "

    def _link(self, node: Any) -> str:
        words, address = one_line(node.text_content()), str(node.get("href") or "").strip()
        if address.startswith("#"):
            is_note = _MARK_WORDS.fullmatch(words) and address[1:] in self._notes.values()
            return f"[^{address[1:]}]" if is_note else "" if _BACK.fullmatch(words) else words
        whole = resolve_link(self._name, address) if "://" in self._name else address
        return f"[{words or whole}]({whole})" if whole else words

    def _raised(self, node: Any) -> str:
        if any(child.tag == "a" for child in node.iter() if isinstance(child.tag, str)):
            return "".join(self._link(link) for link in node.iter("a"))
        words = one_line(node.text_content())
        if not _NUMBER.fullmatch(words):
            return words
        is_power = _UNIT_BEFORE.search(self._open)
        return words.translate(_RAISED) if is_power else f"[{words.strip('[]')}]"


def _mark_docx(body: bytes, name: str) -> Document:
    try:
        check_parts(body, name)
        word = docx.Document(BytesIO(body))
        blocks = [*_word_blocks(word), *_word_notes(word)]
        title = word.core_properties.title or None
    except Unreadable:
        raise
    except BROKEN_WORD_FILE as error:
        raise Unreadable(
            f"{name} is not a Word document that can be opened: {one_line(str(error))}"
        ) from error
    return build_document(blocks, how="docx", name=name, title=title)


def _word_blocks(word: WordDocument) -> Iterator[str]:
    counts: dict[str, int] = {}
    for node in word.element.body:
        if node.tag == qn("w:tbl"):
            rows = ([one_line(_word_marks(cell, word.part)) for cell in row.tc_lst] for row in node.tr_lst)
            yield "\n".join(f"| {' | '.join(cells)} |" for cells in rows)
        elif node.tag == qn("w:p"):
            paragraph = Paragraph(node, word)
            words = one_line(_word_marks(node, word.part))
            level = heading_level(paragraph)
            lead = "#" * level + " " if level else _list_mark(paragraph, counts) if words else ""
            yield f"{lead}{words}" if words else ""


def _list_mark(paragraph: Paragraph, counts: dict[str, int]) -> str:
    """Return the mark of a list item as Word shows it; Word itself stores only the list's id."""
    numbering = paragraph._p.find(f"{qn('w:pPr')}/{qn('w:numPr')}/{qn('w:numId')}")
    style = style_name(paragraph)
    if numbering is None and not style.startswith("List "):
        return ""
    if style.startswith("List Bullet"):
        return "- "
    listed = numbering.get(qn("w:val"), "") if numbering is not None else style
    counts[listed] = counts.get(listed, 0) + 1
    return f"{counts[listed]}. "


def _word_marks(node: Any, part: Any) -> str:
    """Return the words of a paragraph: links with their address, notes with their number."""
    words = ""
    for inner in node.iter():
        if inner.tag == qn("w:hyperlink"):
            target = part.rels.get(inner.get(qn("r:id"), ""))
            if target is not None and target.is_external:
                words += f"[{''.join(t.text or '' for t in inner.iter(qn('w:t')))}]({target.target_ref})"
        elif inner.tag in {qn("w:footnoteReference"), qn("w:endnoteReference")}:
            words += f"[^{etree.QName(inner).localname[:4]}{inner.get(qn('w:id'))}]"
        elif inner.tag == qn("w:t") and not _is_linked(inner, part):
            raised = inner.getparent().find(f"{qn('w:rPr')}/{qn('w:vertAlign')}")
            is_raised = raised is not None and raised.get(qn("w:val")) == "superscript"
            text = inner.text or ""
            words += f"[{text.strip('[]')}]" if is_raised and _NUMBER.fullmatch(text) else text
        elif inner.tag in {qn("w:tab"), qn("w:br")}:
            words += " "
    return words


def _is_linked(node: Any, part: Any) -> bool:
    link = next(node.iterancestors(qn("w:hyperlink")), None)
    target = part.rels.get(link.get(qn("r:id"), "")) if link is not None else None
    return target is not None and bool(target.is_external)


def _word_notes(word: WordDocument) -> Iterator[str]:
    """Yield footnotes and endnotes, which python-docx does not read."""
    for relation in list(word.part.rels.values()):
        kind = relation.reltype.rpartition("/")[2]
        if kind not in {"footnotes", "endnotes"} or relation.is_external:
            continue
        part = relation.target_part
        tree = etree.fromstring(part.blob, etree.XMLParser(resolve_entities=False, no_network=True))
        for note in tree:
            words = one_line(_word_marks(note, part))
            if words:
                yield f"[^{kind[:4]}{note.get(qn('w:id'))}]: {words}"


def _mark_pdf(body: bytes, name: str) -> Document:
    with PDFIUM_LOCK:
        try:
            pdf = pypdfium2.PdfDocument(body)
            try:
                pages = [_page_with_links(pdf, number) for number in range(len(pdf))]
                title = pdf.get_metadata_dict(skip_empty=True).get("Title")
            finally:
                pdf.close()
        except pypdfium2.PdfiumError as error:
            raise Unreadable(f"{name} is not a PDF that can be opened: {error}") from error
    blocks = [block for page in pages for block in page_blocks(page)]
    return replace(build_document(blocks, how="pdf", name=name, title=title), pages=())


def _page_with_links(pdf: pypdfium2.PdfDocument, number: int) -> str:
    """Return the text of a page in which every link that is drawn on it shows its address."""
    page = pdf[number]
    words = page.get_textpage()
    text, at = str(words.get_text_range()).replace("\r\n", "\n"), 0
    for address, shown in _page_links(pdf, page, words):
        if address in shown or not shown:
            continue
        place = text.find(shown, at)
        place = place if place >= 0 else text.find(shown)
        if place >= 0:
            linked = f"[{shown}]({address})"
            text = text[:place] + linked + text[place + len(shown) :]
            at = place + len(linked)
    words.close()
    page.close()
    return text


def _page_links(pdf: Any, page: Any, words: Any) -> Iterator[tuple[str, str]]:
    place, link = c_int(0), pdfium.FPDF_LINK()
    for _ in range(_MAX_LINKS):
        if not pdfium.FPDFLink_Enumerate(page, place, link):
            return
        action = pdfium.FPDFLink_GetAction(link)
        if not action or pdfium.FPDFAction_GetType(action) != pdfium.PDFACTION_URI:
            continue
        size = pdfium.FPDFAction_GetURIPath(pdf, action, None, 0)
        buffer = create_string_buffer(size)
        pdfium.FPDFAction_GetURIPath(pdf, action, buffer, size)
        area = pdfium.FS_RECTF()
        if pdfium.FPDFLink_GetAnnotRect(link, area):
            shown = words.get_text_bounded(area.left, area.bottom, area.right, area.top)
            yield buffer.value.decode("utf-8", "replace"), shown.strip().partition("\r\n")[0]
