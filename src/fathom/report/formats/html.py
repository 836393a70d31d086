"""A report as one page of HTML that needs nothing else: no script, no picture, nothing from the net.

Every word in it is escaped. The only links are to sources that were read. The quotes behind a citation appear
when the pointer or the keyboard's focus is on it.
"""

from html import escape
from importlib.resources import files

from markdown_it import MarkdownIt

from fathom.report.formats import make_page
from fathom.report.formats.chart import draw_chart
from fathom.report.formats.cjk_emphasis import add_cjk_emphasis
from fathom.report.formats.document import (
    BlockOfReport,
    CalculationMark,
    Cite,
    DocumentPart,
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
    Span,
    Title,
    make_document,
)
from fathom.report.ledger import Ledger

_NOTEBOOK_STYLE = "max-width:46em;line-height:1.5"
_FACTS_STYLE = "color:#666;font-size:90%"
_PAGE_STYLE = files("fathom.report").joinpath("standalone.css").read_text("utf-8").strip()
_JOINER = "&#8288;"  # no line ends between a sentence and its marks
_SPANS = {
    "plain": "{}",
    "bold": "<b>{}</b>",
    "code": "<code>{}</code>",
    "unsupported": '<span class="open">{}</span>',
}


class _NotebookParser(MarkdownIt):
    def validateLink(self, url: str) -> bool:  # noqa: N802 - the package's own name for it
        return url.startswith(("https://", "http://"))


def render_notebook(markdown: str, facts: str) -> str:
    """The report, and below it one line of facts about its making."""
    text = add_cjk_emphasis(_NotebookParser("commonmark", {"html": False})).render(markdown)
    return f'<div style="{_NOTEBOOK_STYLE}">{text}<p style="{_FACTS_STYLE}">{escape(facts)}</p></div>'


def render_html(ledger: Ledger) -> str:
    """The whole page."""
    document = make_document(ledger)
    body = [f"<h1>{escape(document.title)}</h1>", *(_part(part, document) for part in document.parts)]
    return make_page(document.title, document.words.language, _PAGE_STYLE, body)


def _part(part: DocumentPart, document: ReportDocument) -> str:
    blocks = [_block(block, document) for block in part.blocks]
    return f'<section class="{part.kind}">\n{chr(10).join(blocks)}\n</section>'


def _block(block: BlockOfReport, document: ReportDocument) -> str:
    if isinstance(block, Title):
        return f"<h{block.level}>{escape(block.text)}</h{block.level}>"
    return f'<div class="part">{_inner(block, document)}</div>'


def _inner(block: BlockOfReport, document: ReportDocument) -> str:
    match block:
        case Paragraph():
            note = ' class="note"' if block.is_note else ""
            return f"<p{note}>{_line(block.line, document)}</p>"
        case Items():
            tag = "ol" if block.is_numbered else "ul"
            items = "".join(f"<li>{_line(line, document)}</li>" for line in block.lines)
            return f"<{tag}>{items}</{tag}>"
        case Grid():
            return _grid(block, document)
        case QuotePassage():
            quoted = "".join(_quoted(one, document) for one in block.blocks)
            return f"<blockquote>{quoted}</blockquote><p>— {_line(block.place, document)}</p>"
        case Picture():
            caption = f"<figcaption>{_line(block.caption, document)}</figcaption>"
            return f"<figure>{draw_chart(block.chart)}{caption}</figure>"
        case Formulas():
            items = "".join(_formula(letter, line, document) for letter, line in block.lines)
            return f'<ul class="formulas">{items}</ul>'
    return f'<ol class="sources">{"".join(_source(source, document) for source in document.sources)}</ol>'


def _line(line: Line, document: ReportDocument) -> str:
    text = ""
    for place, part in enumerate(line):
        text += _JOINER if place and not isinstance(part, Span) else ""
        match part:
            case Span():
                text += _SPANS[part.style].format(escape(part.text))
            case Cite():
                text += _cite(part, document)
            case CalculationMark():
                text += f'<sup><a href="#c-{part.letter}">[{part.letter}]</a></sup>'
            case Sign():
                text += f'<abbr class="sign" title="{escape(part.meaning)}">{part.text}</abbr>'
    return text


def _cite(cite: Cite, document: ReportDocument) -> str:
    """A citation with the quotes behind it."""
    source = next(one for one in document.sources if one.number == cite.number)
    shown = "".join(f"<q>{escape(quote)}</q>" for quote in cite.quotes)
    named = f"<cite>{escape(f'{source.title}, {source.about}')}</cite>"
    behind = f'<span class="quote">{shown}{named}</span>' if shown else ""
    return f'<span class="cite"><sup><a href="#s{cite.number}">[{cite.number}]</a></sup>{behind}</span>'


def _grid(grid: Grid, document: ReportDocument) -> str:
    caption = (
        f"<caption>{escape(grid.caption)}{_line(grid.marks, document)}</caption>" if grid.caption else ""
    )
    head = "".join(f'<th scope="col">{escape(name)}</th>' if name else "<td></td>" for name in grid.columns)
    rows = ("".join(f"<td>{_line(cell, document)}</td>" for cell in row) for row in grid.rows)
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _quoted(block: QuotedLine | Grid, document: ReportDocument) -> str:
    if isinstance(block, Grid):
        return _grid(block, document)
    if block.kind == "code":
        return f"<pre>{''.join(escape(getattr(part, 'text', '')) for part in block.line)}</pre>"
    text = _line(block.line, document)
    if block.kind == "item":
        return f'<p class="item" style="margin-left:{min(block.indent, 12) / 2 + 1}em">{text}</p>'
    return f"<p>{'<b>' * (block.kind == 'heading')}{text}{'</b>' * (block.kind == 'heading')}</p>"


def _formula(letter: str, line: Line, document: ReportDocument) -> str:
    return f'<li id="c-{letter}">[{letter}] {_line(line, document)}</li>'


def _source(source: Source, document: ReportDocument) -> str:
    quotes = "".join(f"<blockquote>{escape(quote)}</blockquote>" for quote in source.quotes)
    word = escape(document.words("report.quotes"))
    address = escape(source.address)
    link = f'<a href="{address}" rel="noreferrer noopener">{address}</a>'
    return (
        f'<li id="s{source.number}" value="{source.number}"><b>{escape(source.title)}</b>,'
        f" {escape(source.about)} {link if source.is_web else f'<code>{address}</code>'}"
        f"<details><summary>{word}</summary>{quotes}</details></li>"
    )
