"""Compare a row of a report's table ("Label; Column: cell; …") with its source.

A table of the source that has a row of the same label must have the same figures. In prose the figures of
each cell must stand in one clause with the label of its row or column.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from fathom.audit.sources import SourcePassages
from fathom.evidence.checks.figures import find_figures
from fathom.state import Quote
from fathom.text.normalization import fold_text
from fathom.text.ranking import terms

ROW = re.compile(r"[^;]{1,200}+(?:; [^;:]{1,100}+: [^;]{1,200}+){1,30}+")
_CLAUSE = re.compile(r"[;,]\s|\s(?:and|while|but|그리고)\s")


@dataclass(frozen=True)
class ComparedRow:
    """What the source says of a row: where, which figures it has otherwise, and the share of the others."""

    quote: Quote
    missing: list[str] = field(default_factory=list)
    share: float = 1.0


def compare_row(words: str, source: SourcePassages) -> ComparedRow | None:
    """Compare a row's figures with the source; None if it has none or the source is about something else."""
    label, *cells = words.split("; ")
    named = [(head, find_figures(value)) for head, _, value in (cell.rpartition(": ") for cell in cells)]
    figures = sorted({figure.text for _, found in named for figure in found})
    folded = fold_text(label).text
    rows = [quote for quote in source.quotes if "|" in quote.text and folded in fold_text(quote.text).text]
    if not figures:
        return None
    if rows:
        lacks = [([one for one in figures if one not in row.text], row) for row in rows]
        missing, row = min(lacks, key=lambda pair: len(pair[0]))
        return ComparedRow(row, missing, 1 - len(missing) / len(figures))
    found = [_find_cell(label, head, [one.text for one in own], source) for head, own in named if own]
    known = [quote for quote in found if quote]
    return ComparedRow(known[0]) if known and len(known) == len(found) else None


def has_figure(figure: str, text: str) -> bool:
    """Tell whether a figure stands in a text as it is written, not as part of another one."""
    return re.search(rf"(?<![\d.,]){re.escape(figure)}(?!\d|[.,]\d)", text) is not None


def _find_cell(label: str, head: str, figures: Sequence[str], source: SourcePassages) -> Quote | None:
    """Return the sentence with a clause that has the figures and one label, and is about the other."""
    for quote in source.quotes:
        for clause in _CLAUSE.split(quote.text):
            if not all(has_figure(figure, clause) for figure in figures):
                continue
            for one, other in ((label, head), (head, label)):
                about = terms(other)
                if one and has_figure(one, clause) and (not about or about & terms(quote.text)):
                    return quote
    return None
