"""A report as plain blocks, from its ledger: what HTML, PDF and DOCX say in common.

Does not know any of them. All text is plain: nothing in it is markup, whatever a source or a model wrote.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias
from urllib.parse import urlsplit

from markdown_it import MarkdownIt

from fathom.report.extracts import remarks
from fathom.report.formats.chart import Chart, charts_of
from fathom.report.formats.cjk_emphasis import add_cjk_emphasis
from fathom.report.formats.markdown import (
    DISPUTED,
    dispute_columns,
    dispute_heading,
    escape_markdown,
    is_publisher_told,
    name_address,
    quoted_place,
    render_calculation,
    render_changes,
    shorten_text,
    source_remarks,
)
from fathom.report.layout import (
    BlockLayout,
    PreparedReport,
    filled_formula,
    is_unsupported,
    lay_out_blocks,
    note_inference,
)
from fathom.report.ledger import Ledger
from fathom.report.passages import PassageLine, split_passage
from fathom.report.rerender import prepare_any
from fathom.state import Block, Citation, Section, Sentence
from fathom.text.messages import Messages

_INLINE = add_cjk_emphasis(MarkdownIt("commonmark", {"html": False}).disable(["link", "image", "autolink"]))
_MARK = re.compile(r"(\[\d+\])")
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")


@dataclass(frozen=True)
class Span:
    """Words in one style."""

    text: str
    style: Literal["plain", "bold", "code", "unsupported"] = "plain"


@dataclass(frozen=True)
class Cite:
    """The mark of a source, with the quotes that the sentence before it rests on."""

    number: int
    quotes: Sequence[str] = ()


@dataclass(frozen=True)
class CalculationMark:
    """The mark of a calculation."""

    letter: str


@dataclass(frozen=True)
class Sign:
    """A sign behind a sentence, and what it means."""

    text: str
    meaning: str


Line: TypeAlias = "Sequence[Span | Cite | CalculationMark | Sign]"


@dataclass(frozen=True)
class Title:
    """A heading within the report: 2 for a section, 3 within one."""

    text: str
    level: Literal[2, 3] = 2


@dataclass(frozen=True)
class Paragraph:
    """Sentences in a row; a note is set smaller."""

    line: Line
    is_note: bool = False


@dataclass(frozen=True)
class Items:
    """A list."""

    lines: Sequence[Line]
    is_numbered: bool = False


@dataclass(frozen=True)
class Grid:
    """A table; every row has a cell for every column."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Line]]
    caption: str = ""
    marks: Line = ()  # behind the caption


@dataclass(frozen=True)
class QuotedLine:
    """A line of a passage; an item of a list keeps its own mark."""

    kind: Literal["words", "item", "heading", "code"]
    line: Line
    indent: int = 0  # in letters


@dataclass(frozen=True)
class QuotePassage:
    """A passage of a source as it stands, and where it stands."""

    blocks: "Sequence[QuotedLine | Grid]"
    place: Line


@dataclass(frozen=True)
class Picture:
    """A chart of figures that stand in the table before it."""

    chart: Chart
    caption: Line


@dataclass(frozen=True)
class Formulas:
    """The calculations by their letters."""

    lines: Sequence[tuple[str, Line]]


@dataclass(frozen=True)
class Source:
    """An entry of the list of sources; only an address of the web is a link."""

    number: int
    title: str
    about: str
    address: str
    is_web: bool
    quotes: Sequence[str]


@dataclass(frozen=True)
class SourceList:
    """The sources by their numbers."""

    sources: Sequence[Source]


BlockOfReport: TypeAlias = "Title | Paragraph | Items | Grid | QuotePassage | Picture | Formulas | SourceList"


@dataclass(frozen=True)
class DocumentPart:
    """A section, or one of the lists around the sections."""

    kind: str
    blocks: Sequence[BlockOfReport]


@dataclass(frozen=True)
class ReportDocument:
    """The whole report in reading order."""

    title: str
    words: Messages
    parts: Sequence[DocumentPart]
    sources: Sequence[Source]
    read_on: str  # the day the last source was read


def make_document(ledger: Ledger) -> ReportDocument:
    """The report of a ledger, also of one that an earlier version wrote."""
    report = prepare_any(ledger)
    sources = [_source(citation, report.words) for citation in report.citations]
    parts = [part for part in _parts(report, sources) if part.blocks]
    read_on = max((citation.fetched[:10] for citation in report.citations), default="")
    title = _words_alone(report.title) or _words_alone(ledger.question) or "Fathom"
    return ReportDocument(title, report.words, parts, sources, read_on)


def clean(text: str) -> str:
    """The text without what a terminal, XML or a reader of bidirectional text would act on."""
    return _UNSEEN.sub("", text)


def _parts(report: PreparedReport, sources: Sequence[Source]) -> Iterator[DocumentPart]:
    words = report.words
    if report.kind == "extracts" and report.citations:
        yield DocumentPart("extracts", [Paragraph(_spans(words("report.extracts")), is_note=True)])
    yield DocumentPart("changes", list(_from_markdown(render_changes(report.update, words), report)))
    if not report.citations:
        yield DocumentPart("nothing", [Paragraph([Span(words("report.nothing"))])])
    else:
        for section in (s for s in report.sections if s.sentences):
            yield DocumentPart(section.kind, list(_section(section, report)))
    yield DocumentPart("disputes", _disputes(report))
    if report.searched:
        queries = [_spans(escape_markdown(query)) for query in report.searched]
        yield DocumentPart("searched", [Title(words("report.searched")), Items(queries)])
    if report.certainty:
        lines = [_cited(line, report) for line in report.certainty]
        yield DocumentPart("certainty", [Title(words("report.sure")), Items(lines)])
    if report.calculations:
        formulas = [(letter, _formula(letter, sentence, report)) for letter, sentence in report.calculations]
        yield DocumentPart("calculations", [Title(words("report.calculations")), Formulas(formulas)])
    if sources:
        yield DocumentPart("sources", [Title(words("report.sources")), SourceList(sources)])


def _section(section: Section, report: PreparedReport) -> Iterator[BlockOfReport]:
    if title := _words_alone(section.title):
        yield Title(note_inference(title, report.words) if report.is_inference_at(section) else title)
    for layout in lay_out_blocks(section):
        title = _words_alone(layout.block.title)
        if title and layout.block.kind not in ("table", "extract"):
            yield Title(title, 3)
        yield _block(layout, report)
        if layout.block.kind == "table":
            for chart in charts_of(layout, report):
                caption = [Span(report.words("report.chart", title=chart.title))]
                yield Picture(chart, [*caption, *(Cite(number) for number in chart.cited)])
    if report.kind == "extracts":
        yield from _from_markdown(remarks(section, report), report)


def _block(layout: BlockLayout, report: PreparedReport) -> BlockOfReport:
    block = layout.block
    if block.kind == "table":
        rows = [[_joined([_sentence(s, report) for s in cell]) for cell in row] for row in layout.rows]
        width = max(len(row) for row in rows)
        names = [*map(_words_alone, block.columns), *[""] * (width - len(block.columns))]
        columns = [
            note_inference(name, report.words) if report.is_inferred_column(block, n) else name
            for n, name in enumerate(names)
        ]
        if cited := report.cited_by_rows(layout):
            columns.append(report.words("report.sources"))
            for row, cells in zip(rows, cited, strict=True):
                row.append(_cites(cells, report))
        return Grid(columns, rows, _words_alone(block.title), _marks(block, report))
    if block.kind == "extract":
        return _passage(layout, report)
    lines = [_sentence(sentence, report) for sentence in layout.sentences]
    if block.kind in ("bullets", "numbered"):
        return Items(lines, block.kind == "numbered")
    return Paragraph(_joined(lines))


def _passage(layout: BlockLayout, report: PreparedReport) -> BlockOfReport:
    claims = (report.claims[c] for s in layout.sentences for c in s.claims if c in report.claims)
    claim = next(claims, None)
    if claim is None:
        return Paragraph(_joined([_sentence(sentence, report) for sentence in layout.sentences]))
    place = quoted_place(claim.quotes[0], report)
    marks = _marks(layout.sentences[0], report)
    blocks = list(_quoted(split_passage(claim.quotes[0].text)))
    return QuotePassage(blocks, [*_spans(place), *marks])


def _quoted(lines: Iterable[PassageLine]) -> Iterator[QuotedLine | Grid]:
    rows: list[list[Line]] = []
    for line in [*lines, PassageLine("blank", "")]:
        if line.kind == "head" or line.kind == "row":
            rows.append([_spans(escape_markdown(cell)) for cell in line.text.strip().strip("|").split("|")])
            continue
        if rows:
            width = max(map(len, rows))
            head, *body = ([*row, *[[]] * (width - len(row))] for row in rows)
            yield Grid(["".join(getattr(part, "text", "") for part in cell) for cell in head], body)
            rows = []
        if line.kind == "code":
            if line.text.strip("`"):
                yield QuotedLine("code", [Span(clean(line.text), "code")])
        elif line.kind != "blank":
            yield QuotedLine(line.kind, _spans(escape_markdown(line.text)), len(line.indent))


def _sentence(sentence: Sentence, report: PreparedReport) -> Line:
    is_noted = report.is_inference_at(sentence)
    text = note_inference(sentence.text, report.words) if is_noted else sentence.text
    return [*_spans(escape_markdown(text)), *_marks(sentence, report)]


def _marks(place: Sentence | Block, report: PreparedReport) -> Line:
    words = report.words
    if not (run := report.marked_at(place)):
        return []
    sentence = run[-1]
    if is_unsupported(sentence, report.numbers):
        return [Span(" "), Span(words("report.unsupported"), "unsupported")]
    marks: list[Span | Cite | CalculationMark | Sign] = [*_cites(run, report)]
    if sentence.calculation and marks:
        marks.append(CalculationMark(report.letters[filled_formula(sentence), sentence.calculation.result]))
    if report.is_disputed(sentence):
        marks.append(Sign(DISPUTED, words("report.disputed")))
    return marks


def _cites(run: Sequence[Sentence], report: PreparedReport) -> list[Cite]:
    """The sources of some sentences, each with the quotes they rest on."""
    quotes = {n: [q for s in run for q in report.quotes_behind(s, n)] for n in report.cited_in(run)}
    return [
        Cite(n, list(dict.fromkeys(clean(shorten_text(q.text)) for q in own))) for n, own in quotes.items()
    ]


def _disputes(report: PreparedReport) -> list[BlockOfReport]:
    if not report.disputes:
        return []
    rows: list[list[Line]] = [
        [
            _spans(escape_markdown(row.about)),
            _spans(f"“{escape_markdown(row.value)}”"),
            [Cite(number) for number in row.cited],
            [Span(row.published)],
            [Span(row.settled)],
        ]
        for row in report.disputes
    ]
    return [Title(dispute_heading(report)), Grid(dispute_columns(report.words), rows)]


def _formula(letter: str, sentence: Sentence, report: PreparedReport) -> Line:
    return _cited(render_calculation(letter, sentence, report).removeprefix(f"[{letter}] "), report)


def _source(citation: Citation, words: Messages) -> Source:
    parts = [clean(citation.publisher)] if is_publisher_told(citation) else []
    parts += [words("report.published_on", date=clean(citation.published[:10]))] if citation.published else []
    parts.append(words("report.read_on", date=citation.fetched[:10]))
    parts += map(clean, source_remarks(citation, words))
    printed = citation.printed_pages or [0] * len(citation.quotes)
    quotes = [
        clean(shorten_text(quote.text)) + (f" ({words('report.on_page', number=number)})" if number else "")
        for quote, number in zip(citation.quotes, printed, strict=True)
    ]
    is_web = _is_web(citation.address)
    address = clean(citation.address) if is_web else clean(name_address(citation.address))
    title = clean(citation.title).rstrip(".") or address
    return Source(citation.number, title, ", ".join(parts) + ".", address, is_web, quotes)


def _is_web(address: str) -> bool:
    try:
        return urlsplit(address).scheme in ("http", "https")
    except ValueError:
        return False


def _from_markdown(blocks: Sequence[str], report: PreparedReport) -> Iterator[BlockOfReport]:
    """Blocks that the report has as Markdown of our own: a heading, a list, a line."""
    for block in blocks:
        if block.startswith("## "):
            yield Title(_words_alone(block[3:]))
        elif block.startswith("- "):
            yield Items([_cited(line[2:], report) for line in block.split("\n")])
        else:
            is_note = block.startswith("*") and not block.startswith("**")
            yield Paragraph(_cited(block.strip("*") if is_note else block, report), is_note)


def _cited(markdown: str, report: PreparedReport) -> Line:
    """A line of our own Markdown, with the numbers of sources in it as marks."""
    known = {citation.number for citation in report.citations}
    found: list[Span | Cite | CalculationMark | Sign] = []
    for span in _spans(markdown):
        for piece in _MARK.split(span.text) if span.style != "code" else [span.text]:
            is_mark = bool(_MARK.fullmatch(piece)) and int(piece[1:-1]) in known
            found += [Cite(int(piece[1:-1]))] if is_mark else [Span(piece, span.style)] if piece else []
    return found


def _joined(lines: Sequence[Line]) -> Line:
    return [part for n, line in enumerate(lines) for part in ([Span(" ")] * bool(n)) + list(line)]


def _words_alone(text: str) -> str:
    return "".join(span.text for span in _spans(escape_markdown(text))).strip()


def _spans(markdown: str) -> list[Span]:
    """One line of Markdown as words; of its marks only code and strong emphasis mean something."""
    found: list[Span] = []
    bold = 0
    for token in _INLINE.parseInline(markdown)[0].children or []:
        if token.type in ("strong_open", "strong_close"):
            bold += 1 if token.type == "strong_open" else -1
        elif token.type == "code_inline":
            found.append(Span(clean(token.content), "code"))
        else:
            is_break = token.type in ("softbreak", "hardbreak")
            text = token.markup if token.type.startswith("em_") else " " if is_break else token.content
            found += [Span(shown, "bold" if bold else "plain")] if (shown := clean(text)) else []
    return found
