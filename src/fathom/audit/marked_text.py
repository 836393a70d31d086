"""A report as Markdown with every citation in it, whatever format it came in.

`reading.parsers` turn links into words, because readers of a page want its words. An auditor wants to know
where each mark leads: links become `[words](address)`, footnotes `[^name]`, raised numbers `[1]`.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from ctypes import c_double, c_int, create_string_buffer
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium
from docx.document import Document as WordDocument
from docx.oxml.ns import qn
from docx.text.paragraph import Paragraph
from lxml import etree  # type: ignore[import-untyped]
from lxml import html as lxml_html

from fathom.errors import Unreadable
from fathom.reading import Document, build_document, clean_text, resolve_link
from fathom.reading.parsers import decode_text, detect_kind, parse_document
from fathom.reading.parsers.docx import open_word, style_name, word_blocks
from fathom.reading.parsers.markdown import front_matter
from fathom.reading.parsers.pdf import PDFIUM_LOCK, page_blocks
from fathom.text.normalization import one_line

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
_FIRST_HEADING = re.compile(r"^#{1,2}\s++(.{1,300})$", re.MULTILINE)
_ENTRY = re.compile(r"\s*+(?:\[\^?\d{1,3}\]|【\d{1,3}】)")
_FILE_TITLE = re.compile(r"\.\w{2,5}$|^Microsoft Word|^untitled", re.IGNORECASE)
_HEADING_SIZE = 1.15  # times the size of most letters
_RAISED_BY = 0.2  # of the line's size
_WIDE_GAP = 1.25  # times the usual distance of lines


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
        heading = _FIRST_HEADING.search(text)
        title = about.get("title") or (heading[1] if heading else Path(name).name)
        return build_document(text.split("\n\n"), how=kind, name=name, title=title)
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
        self._names = {node.get("id") or node.get("name"): note for node, note in self._notes.items()}
        self._lines: list[str] = []
        self._open = ""
        self._lead = ""  # what stands before the next words: a heading's or list item's mark

    def _find_notes(self) -> Iterator[tuple[Any, str]]:
        """Yield the elements that marks in the text lead to, further down on the page, with their numbers."""
        targets = {node.get("id") or node.get("name"): node for node in self._tree.xpath("//*[@id or @name]")}
        for link in self._tree.iter("a"):
            name = str(link.get("href") or "")[1:] if str(link.get("href") or "").startswith("#") else ""
            target, words = targets.get(name), one_line(link.text_content())
            if target is None or not _MARK_WORDS.fullmatch(words):
                continue
            if self._order[target] > self._order[link]:
                yield target, words.strip("[]()") if words.strip("[]()").isdecimal() else name

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
        elif node.tag in {"caption", "figcaption"}:
            self._open += "**"
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
        if node.tag in {"caption", "figcaption"}:
            self._open = f"{self._open.rstrip()}**"
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
            note = self._names.get(address[1:]) if _MARK_WORDS.fullmatch(words) else None
            return f"[^{note}]" if note else "" if _BACK.fullmatch(words) else words
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
    with open_word(body, name) as word:
        lists = _WordLists(word.part)
        blocks = [*word_blocks(word, lists.words, lists.line), *_word_notes(word)]
        title = word.core_properties.title or None
    return build_document(blocks, how="docx", name=name, title=title)


class _WordLists:
    """Writes paragraphs with their citations, and items of lists with the number that Word shows.

    Word itself stores only the list's id with an item.
    """

    def __init__(self, part: Any) -> None:
        self._part = part
        self._counts: dict[str, int] = {}

    def words(self, node: Any) -> str:
        words = one_line(_word_marks(node, self._part))
        is_caption = node.tag == qn("w:p") and style_name(Paragraph(node, self._part)) == "Caption"
        return f"**{words}**" if words and is_caption else words

    def line(self, paragraph: Paragraph) -> str:
        numbering = paragraph._p.find(f"{qn('w:pPr')}/{qn('w:numPr')}/{qn('w:numId')}")
        style, words = style_name(paragraph), self.words(paragraph._p)
        if not words or (numbering is None and not style.startswith("List ")):
            return ""
        if style.startswith("List Bullet"):
            return f"- {words}"
        listed = numbering.get(qn("w:val"), "") if numbering is not None else style
        self._counts[listed] = self._counts.get(listed, 0) + 1
        return f"{self._counts[listed]}. {words}"


def _word_marks(node: Any, part: Any) -> str:
    """Return the words of a paragraph: links with their address, notes with their number."""
    words, linked = "", set[Any]()
    for inner in node.iter():
        if inner.tag == qn("w:hyperlink"):
            target = part.rels.get(inner.get(qn("r:id"), ""))
            if target is not None and target.is_external:
                linked |= set(inner.iter(qn("w:t")))
                words += f"[{''.join(t.text or '' for t in inner.iter(qn('w:t')))}]({target.target_ref})"
        elif inner.tag in {qn("w:footnoteReference"), qn("w:endnoteReference")}:
            words += f"[^{etree.QName(inner).localname[:4]}{inner.get(qn('w:id'))}]"
        elif inner.tag == qn("w:t") and inner not in linked:
            raised = inner.getparent().find(f"{qn('w:rPr')}/{qn('w:vertAlign')}")
            is_raised = raised is not None and raised.get(qn("w:val")) == "superscript"
            text = inner.text or ""
            words += f"[{text.strip('[]')}]" if is_raised and _NUMBER.fullmatch(text) else text
        elif inner.tag in {qn("w:tab"), qn("w:br")}:
            words += " "
    return words


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
                pages = [_read_lines(pdf, number) for number in range(len(pdf))]
                title = pdf.get_metadata_dict(skip_empty=True).get("Title", "")
            finally:
                pdf.close()
        except pypdfium2.PdfiumError as error:
            raise Unreadable(f"{name} is not a PDF that can be opened: {error}") from error
    sizes = Counter(line.size for page in pages for line in page for _ in line.chars)
    body_size = sizes.most_common(1)[0][0] if sizes else 0.0
    larger = sorted((size for size in sizes if size >= _HEADING_SIZE * body_size), reverse=True)
    levels = {size: min(6, level) for level, size in enumerate(larger, 1)}
    blocks = [block for page in pages for block in page_blocks(_write_page(page, levels))]
    own_title = None if _FILE_TITLE.search(title) else title
    return replace(build_document(blocks, how="pdf", name=name, title=own_title), pages=())


@dataclass(frozen=True)
class _PdfChar:
    text: str
    link: str  # the address that it leads to, or nothing
    size: float
    base: float  # the height that its line stands at
    bottom: float  # where its ink begins


@dataclass(frozen=True)
class _PdfLine:
    chars: list[_PdfChar]

    @property
    def size(self) -> float:
        """The size of most of its letters."""
        return Counter(char.size for char in self.chars).most_common(1)[0][0]

    @property
    def base(self) -> float:
        """The height that letters of this size stand at."""
        own = self.size
        return Counter(char.base for char in self.chars if char.size == own).most_common(1)[0][0]


def _read_lines(pdf: pypdfium2.PdfDocument, number: int) -> list[_PdfLine]:
    page = pdf[number]
    words = page.get_textpage()
    links = list(_page_links(pdf, page))
    lines: list[list[_PdfChar]] = [[]]
    for place in range(words.count_chars()):
        text = chr(pdfium.FPDFText_GetUnicode(words, place))
        if text in "\r\n":
            lines += [[]] if lines[-1] else []
            continue
        left, bottom, right, top = words.get_charbox(place)
        across, up = (left + right) / 2, (bottom + top) / 2
        link = next((to for to, box in links if box[0] <= across <= box[2] and box[1] <= up <= box[3]), "")
        x, y, matrix = c_double(), c_double(), pdfium.FS_MATRIX()
        pdfium.FPDFText_GetCharOrigin(words, place, x, y)
        pdfium.FPDFText_GetMatrix(words, place, matrix)
        size = abs(pdfium.FPDFText_GetFontSize(words, place) * (matrix.d or matrix.b or 1.0))
        if text.isspace() and lines[-1]:
            lines[-1].append(replace(lines[-1][-1], text=text, link=link))
        else:
            lines[-1].append(_PdfChar(text, link, round(size, 1), round(y.value, 1), bottom))
    words.close()
    page.close()
    return [_PdfLine(line) for line in lines if any(not char.text.isspace() for char in line)]


def _page_links(pdf: Any, page: Any) -> Iterator[tuple[str, tuple[float, float, float, float]]]:
    """Yield the addresses of a page's links, each with the area it is drawn over."""
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
            box = (area.left, area.bottom, area.right, area.top)
            yield buffer.value.decode("utf-8", "replace"), box


def _write_page(lines: Sequence[_PdfLine], levels: dict[float, int]) -> str:
    """Return the text of a page with headings, links, raised numbers, and blank lines where gaps are."""
    gaps = [round(one.base - other.base) for one, other in pairwise(lines) if one.base > other.base]
    usual = Counter(gaps).most_common(1)[0][0] if gaps else 0
    written, link, shown, above = "", "", "", None
    for line in lines:
        level = levels.get(line.size, 0)
        is_apart = above is None or line.size != above.size or above.base - line.base > _WIDE_GAP * usual
        is_inside = link and line.chars[0].link == link
        if not is_inside:
            written, link, shown = written + _write_link(shown, link), "", ""
            is_entry = _ENTRY.match("".join(char.text for char in line.chars))
            written += "\n\n" if is_apart or is_entry else "\n" if above else ""
            written += "#" * level + " " if level and is_apart else ""
        elif shown:
            shown += " "
        for text, to in _mark_raised(line):
            if to != link:
                written, link, shown = written + _write_link(shown, link), to, ""
            shown, written = (shown + text, written) if to else (shown, written + text)
        above = line
    return written + _write_link(shown, link)


def _mark_raised(line: _PdfLine) -> Iterator[tuple[str, str]]:
    """Yield the line's text in pieces, each with where it leads; small raised numbers in brackets."""
    before = ""
    for is_raised, run in groupby(line.chars, key=lambda char: _is_raised(char, line)):
        chars = list(run)
        words = "".join(char.text for char in chars)
        if is_raised and _NUMBER.fullmatch(words):
            number, is_power = words.strip("[]"), _UNIT_BEFORE.search(before)
            yield number.translate(_RAISED) if is_power else f"[{number}]", chars[0].link
        else:
            yield from ((char.text, char.link) for char in chars)
        before = words[-6:]


def _is_raised(char: _PdfChar, line: _PdfLine) -> bool:
    return char.text in "0123456789[],–-" and char.bottom > line.base + _RAISED_BY * line.size


def _write_link(shown: str, address: str) -> str:
    words = one_line(shown)
    if not words or not address:
        return shown
    bare = "".join(words.split())
    after = " " if shown[-1:].isspace() else ""
    if bare.startswith(("http", "www.")) or bare in address:
        return f"{address}{after}"  # as a whole, though it may be wrapped or shortened
    return f"[{words}]({address}){after}"
