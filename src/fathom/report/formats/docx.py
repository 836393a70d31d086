"""A report as a document of Word: real headings, lists and tables, and links from citations to sources.

Does not know the report; it writes the blocks of the document. Letters of Word's own format that python-docx
has no words for (links, bookmarks, numbering, fonts of East Asian letters) are written as XML here.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from io import BytesIO
from typing import Any

import docx
from docx.document import Document as WordDocument
from docx.enum.text import WD_ALIGN_PARAGRAPH
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.shared import Cm, Pt, RGBColor
from docx.text.paragraph import Paragraph as WordParagraph
from docx.text.run import Run

from fathom.report.formats.chart import draw_chart
from fathom.report.formats.document import (
    BlockOfReport,
    CalculationMark,
    Cite,
    Formulas,
    Grid,
    Items,
    Line,
    Paragraph,
    Picture,
    QuotedLine,
    QuotePassage,
    ReportDocument,
    Sign,
    Source,
    SourceList,
    Span,
    Title,
    make_document,
)
from fathom.report.formats.pdf import compile_typst
from fathom.report.ledger import Ledger

_LATIN, _EAST_ASIAN, _FIXED = "Calibri", "Malgun Gothic", "Consolas"
_LINE_CM = 16.0
_LANGUAGES = {"ko": "ko-KR"}
_BLUE, _GREY, _RED = "0B4F8A", "555555", "A33333"
_PICTURE = b"""#set page(width: 640pt, height: auto, margin: 2pt)
#image(bytes(sys.inputs.report), format: "svg", width: 100%)"""


def render_docx(ledger: Ledger) -> bytes:
    """The whole file."""
    document, word = make_document(ledger), docx.Document()
    _Writer(document, word).write()
    made = BytesIO()
    word.save(made)
    return made.getvalue()


@dataclass
class _Writer:
    """Writes the blocks of a report one after another into a new document."""

    document: ReportDocument
    word: WordDocument
    bookmarks: int = 0

    def write(self) -> None:
        self._set_styles()
        self._set_language()
        self._set_properties()
        self._number_pages()
        self.word.add_heading(self.document.title, 0)
        for part in self.document.parts:
            for block in part.blocks:
                self._block(block)

    def _set_properties(self) -> None:
        told = self.word.core_properties
        told.title, told.author, told.comments = self.document.title[:255], "Fathom", ""
        told.language = self.document.words.language
        if self.document.read_on[:10].count("-") == 2:
            told.created = told.modified = datetime.fromisoformat(self.document.read_on).replace(tzinfo=UTC)

    def _set_styles(self) -> None:

        for section in self.word.sections:
            section.page_width, section.page_height = Cm(21), Cm(29.7)
            section.left_margin = section.right_margin = Cm(2.5)
        for style in self.word.styles:
            properties = getattr(style.element, "rPr", None)
            if style.name in ("Normal", "Title", "Heading 1", "Heading 2", "Caption", "List Bullet"):
                properties = style.element.get_or_add_rPr()
            if properties is None:
                continue
            fonts = properties.find(qn("w:rFonts"))
            if fonts is not None or style.name in ("Normal", "Title", "Heading 1", "Heading 2"):
                fonts = properties.get_or_add_rFonts()
                fonts.attrib.clear()
                for name in ("ascii", "hAnsi", "cs"):
                    fonts.set(qn(f"w:{name}"), _LATIN)
                fonts.set(qn("w:eastAsia"), _EAST_ASIAN)
        sizes = {"Normal": 10.5, "Title": 22, "Heading 1": 15, "Heading 2": 12}
        for name, size in sizes.items():
            style = self.word.styles[name]
            style.font.size = Pt(size)
            style.font.color.rgb = RGBColor.from_string("1C1C1A")
        self.word.styles["Title"].font.bold = True
        self.word.styles["Normal"].paragraph_format.space_after = Pt(6)
        self.word.styles["Normal"].paragraph_format.line_spacing = 1.25
        border = self.word.styles["Title"].element.pPr.find(qn("w:pBdr"))
        if border is not None:
            border.getparent().remove(border)

    def _set_language(self) -> None:
        """Say the language; Korean words stay whole, and get no gap before a figure or a Latin letter."""

        language = _LANGUAGES.get(self.document.words.language, "en-US")
        styles = self.word.styles.element
        self.word.styles["Normal"].element.get_or_add_rPr().append(_element("lang"))
        for told in styles.iter(qn("w:lang")):
            told.set(qn("w:val"), language)
            told.set(qn("w:eastAsia"), language)
        spacing = self.word.styles["Normal"].element.get_or_add_pPr().find(qn("w:spacing"))
        for name, is_on in (("wordWrap", 1), ("autoSpaceDE", 0), ("autoSpaceDN", 0)):
            spacing.addprevious(_element(name, val=is_on))

    def _number_pages(self) -> None:

        footer = self.word.sections[0].footer.paragraphs[0]
        footer.alignment = WD_ALIGN_PARAGRAPH.CENTER
        number = footer.add_run("1")
        self._style(number, "plain", 8.5)
        field = _element("fldSimple", instr="PAGE")
        field.append(number._r)
        footer._p.append(field)

    def _block(self, block: BlockOfReport) -> None:
        match block:
            case Title():
                self.word.add_heading(block.text, block.level - 1)
            case Paragraph():
                self._line(self.word.add_paragraph(), block.line, size=9 if block.is_note else None)
            case Items():
                self._items(block)
            case Grid():
                self._grid(block)
            case QuotePassage():
                self._passage(block)
            case Picture():
                self._picture(block)
            case Formulas():
                for letter, line in block.lines:
                    paragraph = self._hanging(f"[{letter}]", f"c-{letter}")
                    self._line(paragraph, line)
            case SourceList():
                for source in block.sources:
                    self._source(source)

    def _line(self, paragraph: WordParagraph, line: Line, size: float | None = None) -> None:
        for part in line:
            match part:
                case Span():
                    self._style(paragraph.add_run(part.text), part.style, size)
                case Cite():
                    self._link(paragraph, f"[{part.number}]", anchor=f"s{part.number}", is_raised=True)
                case CalculationMark():
                    self._link(paragraph, f"[{part.letter}]", anchor=f"c-{part.letter}", is_raised=True)
                case Sign():
                    paragraph.add_run(part.text).font.superscript = True

    def _style(self, run: Run, style: str, size: float | None) -> None:

        if size:
            run.font.size = Pt(size)
            run.font.color.rgb = RGBColor.from_string(_GREY)
        if style == "bold":
            run.bold = True
        elif style == "code":
            run.font.name = _FIXED
        elif style == "unsupported":
            run.font.color.rgb = RGBColor.from_string(_RED)

    def _items(self, block: Items) -> None:
        number = self._new_numbering() if block.is_numbered else None
        for line in block.lines:
            style = "List Bullet" if number is None else "List Number"
            paragraph = self.word.add_paragraph(style=style)
            if number is not None:
                properties = paragraph._p.get_or_add_pPr().get_or_add_numPr()
                properties.get_or_add_ilvl().val = 0
                properties.get_or_add_numId().val = number
            self._line(paragraph, line)

    def _new_numbering(self) -> int:
        """A numbering that begins at one again."""

        numbering = self.word.part.numbering_part.element
        style = self.word.styles["List Number"].element
        used = style.pPr.numPr.numId.val
        abstract = next(num for num in numbering.num_lst if num.numId == used).abstractNumId.val
        added = numbering.add_num(abstract)
        added.add_lvlOverride(ilvl=0).add_startOverride(1)
        return int(added.get(qn("w:numId")))

    def _grid(self, grid: Grid) -> None:

        if grid.caption:
            caption = self.word.add_paragraph()
            caption.paragraph_format.keep_with_next = True
            caption.add_run(grid.caption).bold = True
            self._line(caption, grid.marks)
        table = self.word.add_table(rows=1, cols=len(grid.columns), style="Normal Table")
        _set_lines(table)
        for cell, name in zip(table.rows[0].cells, grid.columns, strict=True):
            cell.paragraphs[0].add_run(name).bold = True
        for row in grid.rows:
            for cell, line in zip(table.add_row().cells, row, strict=True):
                self._line(cell.paragraphs[0], line)
        for column, width in zip(table.columns, _share_width(grid), strict=True):
            column.width = Cm(width)
            for cell in column.cells:
                cell.width = Cm(width)
                cell.paragraphs[0].paragraph_format.space_before = Pt(2)
                cell.paragraphs[0].paragraph_format.space_after = Pt(2)
        self.word.add_paragraph().paragraph_format.space_after = 0

    def _passage(self, passage: QuotePassage) -> None:

        for block in passage.blocks:
            if isinstance(block, Grid):
                self._grid(block)
                continue
            paragraph = self.word.add_paragraph()
            paragraph.paragraph_format.left_indent = Cm(0.8 + _indent(block))
            self._line(paragraph, block.line)
            if block.kind == "heading":
                for run in paragraph.runs:
                    run.bold = True
        self._line(self.word.add_paragraph("— "), passage.place)

    def _picture(self, picture: Picture) -> None:

        image = BytesIO(compile_typst(_PICTURE, draw_chart(picture.chart), "png"))
        shape = self.word.add_picture(image, width=Cm(12.5))
        shape._inline.docPr.set("descr", picture.chart.description)
        self.word.paragraphs[-1].paragraph_format.keep_with_next = True
        self._line(self.word.add_paragraph(), picture.caption, size=9)

    def _source(self, source: Source) -> None:

        paragraph = self._hanging(f"[{source.number}]", f"s{source.number}")
        paragraph.add_run(f"{source.title},").bold = True
        paragraph.add_run(f" {source.about} ")
        if source.is_web:
            self._link(paragraph, source.address, address=source.address)
        else:
            self._style(paragraph.add_run(source.address), "code", None)
        for quote in source.quotes:
            quoted = self.word.add_paragraph()
            quoted.paragraph_format.left_indent = Cm(1.4)
            quoted.paragraph_format.space_after = Pt(3 if quote is not source.quotes[-1] else 9)
            self._style(quoted.add_run(quote), "plain", 9)

    def _hanging(self, label: str, bookmark: str) -> WordParagraph:
        """A paragraph behind its label, which links can lead to."""

        paragraph = self.word.add_paragraph()
        paragraph.paragraph_format.left_indent = Cm(1.0)
        paragraph.paragraph_format.first_line_indent = Cm(-1.0)
        paragraph.paragraph_format.tab_stops.add_tab_stop(Cm(1.0))
        self.bookmarks += 1
        begin = _element("bookmarkStart", id=self.bookmarks, name=bookmark)
        paragraph._p.append(begin)
        paragraph.add_run(f"{label}\t")
        paragraph._p.append(_element("bookmarkEnd", id=self.bookmarks))
        return paragraph

    def _link(
        self,
        paragraph: WordParagraph,
        text: str,
        *,
        anchor: str = "",
        address: str = "",
        is_raised: bool = False,
    ) -> None:

        link = _element("hyperlink", anchor=anchor) if anchor else _element("hyperlink")
        if address:
            target = paragraph.part.relate_to(address, RELATIONSHIP_TYPE.HYPERLINK, is_external=True)
            link.set(qn("r:id"), target)
        run = paragraph.add_run(text)
        run.font.color.rgb = RGBColor.from_string(_BLUE)
        run.font.superscript = is_raised or None
        link.append(run._r)
        paragraph._p.append(link)


def _share_width(grid: Grid) -> list[float]:
    """The width of each column in cm, by its longest text; no column is very narrow."""
    texts = [[name, *(_text(row[n]) for row in grid.rows)] for n, name in enumerate(grid.columns)]
    longest = [min(max(map(len, column)), 45) + 8 for column in texts]
    return [_LINE_CM * one / sum(longest) for one in longest]


def _text(line: Line) -> str:
    return "".join(part.text for part in line if isinstance(part, Span))


def _indent(line: QuotedLine) -> float:
    return 0.5 + min(line.indent, 12) * 0.2 if line.kind == "item" else 0.0


def _set_lines(table: Any) -> None:
    """Quiet lines between rows; the first row is marked as the head, and repeated on every page."""

    borders = _element("tblBorders")
    for side in ("top", "bottom", "insideH"):
        borders.append(_element(side, val="single", sz=4, space=0, color="BDBDB4"))
    inner = _element("tblCellMar")
    inner.append(_element("left", w=0, type="dxa"))
    inner.append(_element("right", w=216, type="dxa"))
    properties = table._tbl.tblPr
    properties.append(borders)
    properties.append(inner)
    if (look := properties.find(qn("w:tblLook"))) is not None:
        properties.append(look)  # Word wants it last
    table.rows[0]._tr.get_or_add_trPr().append(_element("tblHeader"))


def _element(name: str, /, **attributes: object) -> Any:

    made = OxmlElement(f"w:{name}")
    for key, value in attributes.items():
        made.set(qn(f"w:{key}"), str(value))
    return made
