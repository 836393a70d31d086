"""A report as Markdown.

Does not know where its parts come from. Words of sources are shown as words: no link, tag or address inside
them comes through, so that the only addresses in a report are those of pages that were read.
"""

import re
from collections.abc import Sequence
from urllib.parse import quote, unquote, urlsplit

from fathom.report.layout import (
    BlockLayout,
    DisputeRow,
    PreparedReport,
    blocks_of,
    formula_of,
    is_unsupported,
    numbers_of,
)
from fathom.report.marks import ADDRESS, may_have_address
from fathom.report.words import Words
from fathom.search.addresses import host
from fathom.state import Citation, Section, Sentence, Update
from fathom.text.normal import one_line

INFERENCE, DISPUTED = "†", "‡"
_BEGINS_A_BLOCK = re.compile(r"#{1,6}\s|>|`{3}|~{3}")
# What a terminal acts on, and what makes letters stand in another order than they are read in.
_ORDERS = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_CODE_MARKS = re.compile("(`[^`]+`)")
_LINKING = re.compile(r"^(?:[a-z]+:/*|www\.)+", re.IGNORECASE)
QUOTE_CHARS = 300


def plain(text: str) -> str:
    """Words of a source or a model, with nothing that a terminal or a reader of Markdown would act on.

    An address stays whole in code marks, where it is no link; of any other one the host is left.
    """
    bare = one_line(text)
    if not bare.isprintable():
        bare = _ORDERS.sub("", bare)
    if may_have_address(bare):
        bare = _without_links(bare)
    if "<" in bare:
        # A backslash that stands before the bracket already would take the one put there for itself.
        bare = re.sub(r"(\\*)<(?=[A-Za-z/!?])", r"\1\1\\<", bare)
    if "]" in bare:
        bare = re.sub(r"\](?=[(\[:])", r"]\\", bare)
    return f"\\{bare}" if _BEGINS_A_BLOCK.match(bare) else bare


def _without_links(text: str) -> str:
    """The text with no address that a reader of Markdown would make a link of."""
    # With other than pairs of single marks it is not certain what is code.
    is_code_clear = "``" not in text and "\\`" not in text and text.count("`") % 2 == 0
    parts = _CODE_MARKS.split(text) if is_code_clear else [text]
    return "".join(
        part if is_code_clear and part.startswith("`") else ADDRESS.sub(_unlinked, part) for part in parts
    )


def _unlinked(found: re.Match[str]) -> str:
    return host(found.group()) or host(f"https://{_LINKING.sub('', found.group())}")


def named(what: str) -> str:
    """An address as a name: what was not read must not look like a source."""
    try:
        parts = urlsplit(what) if "://" in what else None
    except ValueError:
        parts = None
    if parts:
        what = unquote(parts.path) if parts.scheme == "file" else f"{parts.netloc}{parts.path}"
    return _ORDERS.sub("", one_line(what)).replace("`", "'")


def bracketed(address: str) -> str:
    """An address in brackets, which ends where they do."""
    kept = re.sub(r"[\s<>]", lambda found: quote(found.group()), address)
    return f"<{_ORDERS.sub('', kept)}>"


def shortened(text: str, chars: int = QUOTE_CHARS) -> str:
    """A text cut at a word, where it is too long to be shown whole."""
    return text if len(text) <= chars else text[:chars].rsplit(" ", 1)[0] + " …"


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table; no cell can break out of it."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def render_markdown(report: PreparedReport) -> str:
    """The whole text."""
    words = report.words
    blocks = [f"# {plain(report.title)}", *_changes(report.update, words)]
    if report.kind == "extracts":
        blocks.append(words("report.extracts"))
    if not report.citations:
        blocks.append(words("report.nothing"))
    else:
        for section in (s for s in report.sections if s.sentences):
            blocks += _section(section, report)
    blocks += legend(report)
    if report.disputes:
        rows = [_dispute(row) for row in report.disputes]
        blocks += [f"## {words('report.disagree')}", table(dispute_columns(words), rows)]
    if report.searched:
        blocks += [f"## {words('report.searched')}", _bullets([plain(query) for query in report.searched])]
    if report.certainty:
        blocks += [f"## {words('report.sure')}", _bullets(report.certainty)]
    if report.calculations:
        lines = [calculation_line(letter, sentence, report) for letter, sentence in report.calculations]
        blocks += [f"## {words('report.calculations')}", _bullets(lines)]
    if report.citations:
        entries = [_source(citation, report) for citation in report.citations]
        blocks += [f"## {words('report.sources')}", "\n".join(entries)]
    return "\n\n".join(blocks) + "\n"


def legend(report: PreparedReport) -> list[str]:
    """What the marks behind sentences mean, as far as there are any."""
    words = report.words
    return [
        *([words("report.inference")] if report.has_inferences else []),
        *([words("report.disputed")] if report.has_disputed else []),
    ]


def dispute_columns(words: Words) -> list[str]:
    """The heads of the table of disputes."""
    return [words(f"disagree.{name}") for name in ("about", "value", "sources", "published", "settled")]


def _dispute(row: DisputeRow) -> list[str]:
    marks = "".join(f"[{n}]" for n in row.cited)
    return [plain(row.about), f"“{plain(row.value)}”", marks, row.published, row.settled]


def calculation_line(letter: str, sentence: Sentence, report: PreparedReport) -> str:
    """A calculation with its figures, and where they come from."""
    assert sentence.calculation is not None
    cited = sorted({n for o in sentence.calculation.operands for n in report.numbers.get(o.claim, [])})
    line = report.words(
        "report.calculation",
        formula=plain(formula_of(sentence)),
        result=plain(sentence.calculation.result),
        sources=", ".join(f"[{n}]" for n in cited),
    )
    return f"[{letter}] {line}"


def _changes(update: Update | None, words: Words) -> list[str]:
    """The list at the top of an update."""
    if update is None:
        return []
    lines = [
        f"{words.name('changes', change.kind)}: {plain(change.what)}"
        + (f" ({plain(change.why)})" if change.why else "")
        for change in update.changes
    ]
    is_same = all(change.kind == "section untouched" for change in update.changes)
    text = words("changes.nothing") if is_same else _bullets(lines)
    return [f"## {words('changes.since', date=update.since)}", text]


def _section(section: Section, report: PreparedReport) -> list[str]:
    blocks = [f"## {plain(section.title)}"] if section.title else []
    for layout in blocks_of(section):
        if layout.block.title:
            is_caption = layout.block.kind in ("table", "extract")
            title = plain(layout.block.title)
            blocks.append(f"**{title}**" if is_caption else f"### {title}")
        blocks.append(_block(layout, report))
    return blocks


def _block(layout: BlockLayout, report: PreparedReport) -> str:
    block = layout.block
    if block.kind == "table":
        width = max(len(row) for row in layout.rows)
        columns = [plain(name) for name in block.columns] + [""] * (width - len(block.columns))
        rows = [[" ".join(render_sentence(s, report) for s in cell) for cell in row] for row in layout.rows]
        return table(columns, rows)
    if block.kind == "extract":
        return "\n>\n".join(render_extract(sentence, report) for sentence in layout.sentences)
    lines = [render_sentence(sentence, report) for sentence in layout.sentences]
    if block.kind == "bullets":
        return _bullets(lines)
    if block.kind == "numbered":
        return "\n".join(f"{number}. {line}" for number, line in enumerate(lines, 1))
    return " ".join(lines)


def render_sentence(sentence: Sentence, report: PreparedReport) -> str:
    """A sentence with its own marks: sources, calculation, inference, dispute."""
    return f"{plain(sentence.text)} {_marks(sentence, report)}".rstrip()


def render_extract(sentence: Sentence, report: PreparedReport) -> str:
    """A passage of a source as a quotation, line by line, so that lists and tables in it stay whole."""
    lines = [f"> {plain(line)}".rstrip() for line in sentence.text.strip().splitlines()]
    return "\n".join([*lines[:-1], f"{lines[-1]} {_marks(sentence, report)}".rstrip()])


def _marks(sentence: Sentence, report: PreparedReport) -> str:
    if is_unsupported(sentence, report.numbers):
        return report.words("report.unsupported")
    found = numbers_of(sentence, report.numbers)
    marks = "".join(f"[{n}]" for n in found)
    if sentence.calculation and found:
        marks += f"[{report.letters[formula_of(sentence), sentence.calculation.result]}]"
    if sentence.kind == "inference" and found:
        marks += INFERENCE
    if report.is_disputed(sentence):
        marks += DISPUTED
    return marks


def _bullets(lines: Sequence[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _source(citation: Citation, report: PreparedReport) -> str:
    lines = [f"{citation.number}. {reference(citation, report.words)} {bracketed(citation.address)}"]
    if report.has_quotes:
        printed = citation.printed_pages or [0] * len(citation.quotes)
        for used, number in zip(citation.quotes, printed, strict=True):
            place = f" ({report.words('report.on_page', number=number)})" if number else ""
            lines.append(f"   > {plain(shortened(used.text))}{place}\n")
    return "\n".join(lines).rstrip("\n")


def reference(citation: Citation, words: Words) -> str:
    """A source in words: title, publisher, date, and what to know about it."""
    parts = [plain(citation.title).rstrip(".")]
    if citation.publisher and citation.publisher.casefold() not in citation.title.casefold():
        parts.append(plain(citation.publisher).rstrip("."))
    if citation.published:
        parts.append(words("report.published_on", date=citation.published[:10]))
    else:
        parts.append(words("report.read_on", date=citation.fetched[:10]))
    if citation.is_primary:
        parts.append(words("report.primary"))
    if citation.gone:
        parts.append(words("report.gone_since"))
    return ", ".join(parts) + "."
