"""A report as one page of HTML that needs nothing else: no script, no picture, nothing from the net.

Does not know Markdown but for the few sentences on how sure it is. It is made from the ledger, and every word
in it is escaped. The only links are to sources that were read. The quotes behind a citation appear when the
pointer or the keyboard's focus is on it.
"""

import re
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from urllib.parse import urlsplit

from markdown_it import MarkdownIt

from fathom.report.formats.cjk_emphasis import add_cjk_emphasis
from fathom.report.formats.markdown import (
    DISPUTED,
    INFERENCE,
    dispute_columns,
    mark_legend,
    name_address,
    shorten_text,
)
from fathom.report.layout import (
    BlockLayout,
    PreparedReport,
    cited_numbers,
    filled_formula,
    is_unsupported,
    lay_out_blocks,
)
from fathom.report.ledger import Ledger
from fathom.report.rerender import prepare_again
from fathom.state import Citation, Quote, RunUpdate, Section, Sentence

_NOTEBOOK_STYLE = "max-width:46em;line-height:1.5"

_FACTS_STYLE = "color:#666;font-size:90%"


class _NotebookParser(MarkdownIt):
    def validateLink(self, url: str) -> bool:  # noqa: N802 - the package's own name for it
        return url.startswith(("https://", "http://"))


def render_notebook(markdown: str, facts: str) -> str:
    """The report, and below it one line of facts about its making."""
    text = add_cjk_emphasis(_NotebookParser("commonmark", {"html": False})).render(markdown)
    return f'<div style="{_NOTEBOOK_STYLE}">{text}<p style="{_FACTS_STYLE}">{escape(facts)}</p></div>'


_PAGE_STYLE = files("fathom.report").joinpath("standalone.css").read_text("utf-8").strip()

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

_INLINE = MarkdownIt("commonmark", {"html": False}).disable(["link", "image", "autolink"])

_JOINER = "&#8288;"  # no line ends between a sentence and its first mark

_MARK = re.compile(r"\[(\d+)\]")


def render_html(ledger: Ledger) -> str:
    """The whole page."""
    report = prepare_again(ledger)
    words = report.words
    parts = [f"<h1>{escape(report.title)}</h1>", *_changes(report.update, report)]
    if report.kind == "extracts":
        parts.append(f'<p class="note">{_inline(words("report.extracts"))}</p>')
    if not report.citations:
        parts.append(f"<p>{escape(words('report.nothing'))}</p>")
    else:
        parts += [_section(section, report) for section in report.sections if section.sentences]
    if notes := mark_legend(report):
        parts.append(f'<p class="note">{"<br>".join(escape(line) for line in notes)}</p>')
    parts += _disputes(report)
    if report.searched:
        parts += [_heading(words("report.searched")), _list([escape(query) for query in report.searched])]
    if report.certainty:
        parts += [
            _heading(words("report.sure")),
            _list([_link_citations(line, report) for line in report.certainty]),
        ]
    parts += [*_calculations(report), *_sources(report)]
    head = (
        f'<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width"><meta name="referrer" content="no-referrer">'
        f"<title>{escape(report.title)}</title><style>{_PAGE_STYLE}</style>"
    )
    page = f"<head>{head}</head>\n<body>\n" + "\n".join(parts) + "\n</body>"
    return f'<!doctype html>\n<html lang="{words.language}">{page}</html>\n'


def _heading(text: str, level: int = 2) -> str:
    return f"<h{level}>{escape(text)}</h{level}>"


def _list(items: Sequence[str], tag: str = "ul") -> str:
    return f"<{tag}>{''.join(f'<li>{item}</li>' for item in items)}</{tag}>"


def _changes(update: RunUpdate | None, report: PreparedReport) -> list[str]:
    """What an update found, at the top."""
    if update is None:
        return []
    words = report.words
    lines = [
        escape(f"{words.name('changes', one.kind)}: {one.what}" + (f" ({one.why})" if one.why else ""))
        for one in update.changes
    ]
    is_same = all(one.kind == "section untouched" for one in update.changes)
    text = f"<p>{escape(words('changes.nothing'))}</p>" if is_same else _list(lines)
    return [_heading(words("changes.since", date=update.since)), text]


def _section(section: Section, report: PreparedReport) -> str:
    parts = [_heading(section.title)] if section.title else []
    for layout in lay_out_blocks(section):
        if layout.block.title and layout.block.kind != "table":
            parts.append(_heading(layout.block.title, 3))
        parts.append(f'<div class="part">{_block(layout, report)}</div>')
    body = "\n".join(parts)
    return f'<section class="{section.kind}">\n{body}\n</section>'


def _block(layout: BlockLayout, report: PreparedReport) -> str:
    block = layout.block
    if block.kind == "table":
        return _table(layout, report)
    lines = [_sentence(sentence, report) for sentence in layout.sentences]
    if block.kind == "extract":
        return "".join(f'<blockquote class="extract">{line}</blockquote>' for line in lines)
    if block.kind in ("bullets", "numbered"):
        return _list(lines, "ol" if block.kind == "numbered" else "ul")
    return f"<p>{' '.join(lines)}</p>"


def _table(layout: BlockLayout, report: PreparedReport) -> str:
    caption = f"<caption>{escape(layout.block.title)}</caption>" if layout.block.title else ""
    rows = [[" ".join(_sentence(s, report) for s in cell) for cell in row] for row in layout.rows]
    width = max(len(row) for row in rows)
    columns = [*layout.block.columns, *[""] * (width - len(layout.block.columns))]
    return _rows(columns, rows, caption)


def _rows(columns: Sequence[str], rows: Sequence[Sequence[str]], caption: str = "") -> str:
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in columns)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _sentence(sentence: Sentence, report: PreparedReport) -> str:
    text = escape(sentence.text)
    if is_unsupported(sentence, report.numbers):
        return f'{text} <span class="open">{escape(report.words("report.unsupported"))}</span>'
    found = cited_numbers(sentence, report.numbers)
    marks = _JOINER * bool(found)
    marks += "".join(_mark(n, report, report.quotes_behind(sentence, n)) for n in found)
    if sentence.calculation and found:
        letter = report.letters[filled_formula(sentence), sentence.calculation.result]
        marks += f'<sup><a href="#c-{letter}">[{letter}]</a></sup>'
    if sentence.kind == "inference" and found:
        marks += _sign(INFERENCE, report.words("report.inference"))
    if report.is_disputed(sentence):
        marks += _sign(DISPUTED, report.words("report.disputed"))
    return f"{text}{marks}"


def _sign(sign: str, meaning: str) -> str:
    """A quiet mark that says what it means when the pointer is on it."""
    return f'<abbr class="sign" title="{escape(meaning)}">{sign}</abbr>'


def _mark(number: int, report: PreparedReport, quotes: Sequence[Quote]) -> str:
    """A citation with the quotes behind it."""
    cited = next(citation for citation in report.citations if citation.number == number)
    shown = "".join(f"<q>{escape(shorten_text(quote.text))}</q>" for quote in quotes)
    behind = f'<span class="quote">{shown}<cite>{escape(_name(cited))}</cite></span>' if shown else ""
    return f'<span class="cite"><sup><a href="#s{number}">[{number}]</a></sup>{behind}</span>'


def _name(citation: Citation) -> str:
    parts = [citation.title, citation.publisher, (citation.published or "")[:10]]
    return ", ".join(part for part in parts if part)


def _disputes(report: PreparedReport) -> list[str]:
    if not report.disputes:
        return []
    rows = [
        [
            escape(row.about),
            escape(f"“{row.value}”"),
            "".join(_mark(n, report, []) for n in row.cited),
            escape(row.published),
            escape(row.settled),
        ]
        for row in report.disputes
    ]
    return [_heading(report.words("report.disagree")), _rows(dispute_columns(report.words), rows)]


def _inline(markdown: str) -> str:
    """A sentence of our own that may name pages in code marks."""
    return str(_INLINE.renderInline(markdown))


def _link_citations(line: str, report: PreparedReport) -> str:
    """The same, with its citations as links."""
    known = {citation.number for citation in report.citations}

    def linked(found: re.Match[str]) -> str:
        return _mark(int(found.group(1)), report, []) if int(found.group(1)) in known else found.group()

    return _MARK.sub(linked, _inline(line))


def _calculations(report: PreparedReport) -> list[str]:
    entries = []
    for letter, sentence in report.calculations:
        assert sentence.calculation is not None
        operands = sentence.calculation.operands
        cited = sorted({n for operand in operands for n in report.numbers.get(operand.claim, [])})
        line = report.words(
            "report.calculation",
            formula=escape(filled_formula(sentence)),
            result=escape(sentence.calculation.result),
            sources=", ".join(_mark(n, report, []) for n in cited),
        )
        entries.append(f'<li id="c-{letter}">[{letter}] {line}</li>')
    return [_heading(report.words("report.calculations")), f"<ul>{''.join(entries)}</ul>"] if entries else []


def _sources(report: PreparedReport) -> list[str]:
    if not report.citations:
        return []
    entries = "".join(_source(citation, report) for citation in report.citations)
    return [_heading(report.words("report.sources")), f'<ol class="sources">{entries}</ol>']


def _source(citation: Citation, report: PreparedReport) -> str:
    words = report.words
    parts = [f"<b>{escape(citation.title)}</b>", escape(citation.publisher)]
    parts.append(
        escape(words("report.published_on", date=citation.published[:10])) if citation.published else ""
    )
    parts.append(escape(words("report.read_on", date=citation.fetched[:10])))
    parts += [escape(words("report.primary"))] if citation.is_primary else []
    parts += [escape(words("report.gone_since"))] if citation.gone else []
    quotes = "".join(f"<blockquote>{escape(shorten_text(q.text))}</blockquote>" for q in citation.quotes)
    return (
        f'<li id="s{citation.number}" value="{citation.number}">{", ".join(part for part in parts if part)}.'
        f" {_link(citation.address)}"
        f"<details><summary>{escape(words('report.quotes'))}</summary>{quotes}</details></li>"
    )


def _link(address: str) -> str:
    """A link to a page of the web; any other address as words, since a browser may do anything with it."""
    try:
        is_web = urlsplit(address).scheme in ("http", "https")
    except ValueError:
        is_web = False
    if not is_web:
        return f"<code>{escape(name_address(address))}</code>"
    return f'<a href="{escape(address)}" rel="noreferrer noopener">{escape(address)}</a>'
