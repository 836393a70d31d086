"""A report as Markdown.

Does not know where its parts come from. Words of sources are shown as words: no link, tag or address inside
them comes through, so that the only addresses in a report are those of pages that were read.
"""

import re
from collections.abc import Sequence
from urllib.parse import quote, unquote, urlsplit

from fathom.http.urls import parse_host
from fathom.report.layout import (
    BlockLayout,
    DisputeRow,
    PreparedReport,
    filled_formula,
    is_unsupported,
    lay_out_blocks,
    note_inference,
)
from fathom.report.passages import ADDRESS, may_have_address, split_passage
from fathom.state import Block, Citation, Quote, RunUpdate, Section, Sentence
from fathom.text.messages import Messages
from fathom.text.normalization import one_line

DISPUTED = "‡"
_BEGINS_A_BLOCK = re.compile(r"#{1,6}\s|>|`{3}|~{3}")
# What a terminal acts on, and what makes letters stand in another order than they are read in.
_CONTROL_CHARACTERS = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_CODE_MARKS = re.compile("(`[^`]+`)")
_LINK_START = re.compile(r"^(?:[a-z]+:/*|www\.)+", re.IGNORECASE)
QUOTE_CHARS = 300


def escape_markdown(text: str) -> str:
    """Words of a source or a model, with nothing that a terminal or a reader of Markdown would act on.

    An address stays whole in code marks, where it is no link; of any other one the host is left.
    """
    bare = one_line(text)
    if not bare.isprintable():
        bare = _CONTROL_CHARACTERS.sub("", bare)
    if may_have_address(bare):
        bare = _without_links(bare)
    if "<" in bare:
        # A backslash that stands before the bracket already would take the one put there for itself.
        bare = re.sub(r"(?<!\\)(\\*)<(?=[A-Za-z/!?])", r"\1\1\\<", bare)
    if "]" in bare:
        bare = re.sub(r"\](?=[(\[:])", r"]\\", bare)
    return f"\\{bare}" if _BEGINS_A_BLOCK.match(bare) else bare


def _without_links(text: str) -> str:
    """The text with no address that a reader of Markdown would make a link of."""
    # With other than pairs of single marks it is not certain what is code.
    is_code_clear = "``" not in text and "\\`" not in text and text.count("`") % 2 == 0
    parts = _CODE_MARKS.split(text) if is_code_clear else [text]
    return "".join(
        part if is_code_clear and part.startswith("`") else ADDRESS.sub(_unlink, part) for part in parts
    )


def _unlink(found: re.Match[str]) -> str:
    return parse_host(found.group()) or parse_host(f"https://{_LINK_START.sub('', found.group())}")


def name_address(what: str) -> str:
    """An address as a name: what was not read must not look like a source."""
    try:
        parts = urlsplit(what) if "://" in what else None
    except ValueError:
        parts = None
    if parts:
        what = unquote(parts.path) if parts.scheme == "file" else f"{parts.netloc}{parts.path}"
    return _CONTROL_CHARACTERS.sub("", one_line(what)).replace("`", "'")


def bracket_address(address: str) -> str:
    """An address in brackets, which ends where they do."""
    kept = re.sub(r"[\s<>]", lambda found: quote(found.group()), address)
    return f"<{_CONTROL_CHARACTERS.sub('', kept)}>"


def shorten_text(text: str, chars: int = QUOTE_CHARS) -> str:
    """A text cut at a word, where it is too long to be shown whole."""
    return text if len(text) <= chars else text[:chars].rsplit(" ", 1)[0] + " …"


def markdown_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table; no cell can break out of it."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def render_markdown(report: PreparedReport) -> str:
    """The whole text."""
    words = report.words
    blocks = [f"# {escape_markdown(report.title)}", *render_changes(report.update, words)]
    if not report.citations:
        blocks.append(words("report.nothing"))
    else:
        for section in (s for s in report.sections if s.sentences):
            blocks += render_section(section, report)
    if report.disputes:
        rows = [render_dispute(row) for row in report.disputes]
        blocks += [f"## {dispute_heading(report)}", markdown_table(dispute_columns(words), rows)]
    if report.searched:
        blocks += [
            f"## {words('report.searched')}",
            bullet_list([escape_markdown(query) for query in report.searched]),
        ]
    if report.certainty:
        blocks += [f"## {words('report.sure')}", bullet_list(report.certainty)]
    if report.calculations:
        lines = [render_calculation(letter, sentence, report) for letter, sentence in report.calculations]
        blocks += [f"## {words('report.calculations')}", bullet_list(lines)]
    if report.citations:
        entries = [render_source(citation, report) for citation in report.citations]
        blocks += [f"## {words('report.sources')}", "\n".join(entries)]
    return "\n\n".join(blocks) + "\n"


def dispute_heading(report: PreparedReport) -> str:
    """The heading of the table of disagreements, with the sign that sentences about them have."""
    return report.words("report.disagree_marked" if report.has_disputed else "report.disagree")


def dispute_columns(words: Messages) -> list[str]:
    """The heads of the table of disputes."""
    return [words(f"disagree.{name}") for name in ("about", "value", "sources", "published", "settled")]


def render_dispute(row: DisputeRow) -> list[str]:
    """One side of a disagreement, as the cells of its row."""
    marks = "".join(f"[{n}]" for n in row.cited)
    return [escape_markdown(row.about), f"“{escape_markdown(row.value)}”", marks, row.published, row.settled]


def render_calculation(letter: str, sentence: Sentence, report: PreparedReport) -> str:
    """A calculation with its figures, and where they come from."""
    assert sentence.calculation is not None
    cited = sorted({n for o in sentence.calculation.operands for n in report.numbers.get(o.claim, [])})
    line = report.words(
        "report.calculation",
        formula=escape_markdown(filled_formula(sentence)),
        result=escape_markdown(sentence.calculation.result),
        sources=", ".join(f"[{n}]" for n in cited),
    )
    return f"[{letter}] {line}"


def render_changes(update: RunUpdate | None, words: Messages) -> list[str]:
    """The list at the top of an update."""
    if update is None:
        return []
    lines = [
        f"{words.name('changes', change.kind)}: {escape_markdown(change.what)}"
        + (f" ({escape_markdown(change.why)})" if change.why else "")
        for change in update.changes
    ]
    is_same = all(change.kind == "section untouched" for change in update.changes)
    text = words("changes.nothing") if is_same else bullet_list(lines)
    return [f"## {words('changes.since', date=update.since)}", text]


def render_section(section: Section, report: PreparedReport) -> list[str]:
    """A section with its heading, a piece of text a block."""
    blocks = [f"## {escape_markdown(_with_note(section.title, section, report))}"] if section.title else []
    for layout in lay_out_blocks(section):
        if layout.block.title and layout.block.kind != "extract":
            title = escape_markdown(layout.block.title)
            is_table = layout.block.kind == "table"
            blocks.append(
                f"**{title}** {_marks(layout.block, report)}".rstrip() if is_table else f"### {title}"
            )
        blocks.append(_block(layout, report))
    return blocks


def _block(layout: BlockLayout, report: PreparedReport) -> str:
    block = layout.block
    if block.kind == "table":
        width = max(len(row) for row in layout.rows)
        names = [escape_markdown(name) for name in block.columns] + [""] * (width - len(block.columns))
        columns = [
            note_inference(name, report.words) if report.is_inferred_column(block, n) else name
            for n, name in enumerate(names)
        ]
        rows = [[" ".join(render_sentence(s, report) for s in cell) for cell in row] for row in layout.rows]
        if cited := report.cited_by_rows(layout):
            columns.append(report.words("report.sources"))
            for row, cells in zip(rows, cited, strict=True):
                row.append("".join(f"[{n}]" for n in report.cited_in(cells)))
        return markdown_table(columns, rows)
    if block.kind == "extract":
        return render_passage(layout, report)
    lines = [render_sentence(sentence, report) for sentence in layout.sentences]
    if block.kind == "bullets":
        return bullet_list(lines)
    if block.kind == "numbered":
        return "\n".join(f"{number}. {line}" for number, line in enumerate(lines, 1))
    return " ".join(lines)


def render_sentence(sentence: Sentence, report: PreparedReport) -> str:
    """A sentence with what stands behind it: that it is inferred, sources, calculation, dispute."""
    text = _with_note(sentence.text, sentence, report)
    return f"{escape_markdown(text)} {_marks(sentence, report)}".rstrip()


def _with_note(text: str, place: Sentence | Section, report: PreparedReport) -> str:
    return note_inference(text, report.words) if report.is_inference_at(place) else text


def render_extract(sentence: Sentence) -> str:
    """A line of a passage, as it stands in a quotation; its source is named behind the passage."""
    return escape_markdown(sentence.text)


def render_passage(layout: BlockLayout, report: PreparedReport) -> str:
    """A passage as a quotation with its paragraphs, items and rows, and behind it where it stands."""
    named = (report.claims[c] for sentence in layout.sentences for c in sentence.claims if c in report.claims)
    claim = next(named, None)
    if claim is None:
        return "\n".join(f"> {render_sentence(sentence, report)}" for sentence in layout.sentences)
    quote, lines = claim.quotes[0], list[str]()
    for line in split_passage(quote.text):
        if line.kind == "heading":
            lines.append(f"> **{escape_markdown(line.text)}**")
        else:
            shown = line.text if line.kind in ("code", "blank") else escape_markdown(line.text)
            lines.append(f"> {line.indent}{shown}".rstrip())
        if line.kind == "head":
            lines.append(f"> |{' --- |' * (line.text.count('|') - 1)}")
    place = f"{quoted_place(quote, report)} {_marks(layout.sentences[0], report)}".strip()
    return "\n".join(lines) + f"\n\n— {place}"


def quoted_place(used: Quote, report: PreparedReport) -> str:
    """Title, headings and printed page of the source of a passage."""
    citation = next((c for c in report.citations if used in c.quotes), None)
    if citation is None:
        return ""
    headings = [
        part for part in used.heading.split(" > ") if part and part.replace("`", "") not in citation.title
    ]
    printed = citation.printed_pages[citation.quotes.index(used)] if citation.printed_pages else 0
    page = f" ({report.words('report.on_page', number=printed)})" if printed else ""
    return f"{' > '.join(map(escape_markdown, [citation.title, *headings]))}{page}"


def _marks(place: Sentence | Block, report: PreparedReport) -> str:
    if not (run := report.marked_at(place)):
        return ""
    sentence = run[-1]
    if is_unsupported(sentence, report.numbers):
        return report.words("report.unsupported")
    found = report.cited_in(run)
    marks = "".join(f"[{n}]" for n in found)
    if sentence.calculation and found:
        marks += f"[{report.letters[filled_formula(sentence), sentence.calculation.result]}]"
    if report.is_disputed(sentence):
        marks += DISPUTED
    return marks


def bullet_list(lines: Sequence[str]) -> str:
    """The lines as a list."""
    return "\n".join(f"- {line}" for line in lines)


def render_source(citation: Citation, report: PreparedReport) -> str:
    """An entry of the list of sources."""
    lines = [
        f"{citation.number}. {source_reference(citation, report.words)} {bracket_address(citation.address)}"
    ]
    if report.has_quotes:
        printed = citation.printed_pages or [0] * len(citation.quotes)
        for used, number in zip(citation.quotes, printed, strict=True):
            place = f" ({report.words('report.on_page', number=number)})" if number else ""
            lines.append(f"   > {escape_markdown(shorten_text(used.text))}{place}\n")
    return "\n".join(lines).rstrip("\n")


def source_reference(citation: Citation, words: Messages) -> str:
    """A source in words: title, publisher, date, and what to know about it."""
    parts = [escape_markdown(citation.title).rstrip(".")]
    if is_publisher_told(citation):
        parts.append(escape_markdown(citation.publisher).rstrip("."))
    if citation.published:
        parts.append(words("report.published_on", date=citation.published[:10]))
    else:
        parts.append(words("report.read_on", date=citation.fetched[:10]))
    retracted = words("report.retracted", who=citation.retracted) if citation.retracted else ""
    parts += [f"**{part}**" if part == retracted else part for part in source_remarks(citation, words)]
    return ", ".join(parts) + "."


def is_publisher_told(citation: Citation) -> bool:
    """Whether the publisher is worth telling: its title may have it already."""
    return bool(citation.publisher) and citation.publisher.casefold() not in citation.title.casefold()


def source_remarks(citation: Citation, words: Messages) -> list[str]:
    """What to know about a source beside its title, publisher and dates."""
    told = {
        words("report.primary"): citation.is_primary,
        words("report.gone_since"): citation.gone,
        words("report.retracted", who=citation.retracted): citation.retracted,
        f"{words('report.image')} {name_address(citation.image)}": citation.image,
    }
    return [remark for remark, holds in told.items() if holds]
