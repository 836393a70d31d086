"""Find figures that go with other words than in the quote: those of another row, column, clause or unit.

A quote is read as rows: those of a table, with the columns of its header, or the clauses of its sentences.
Each row has labels, the words that no other row has. Results are pairs of kind and note for the verifier.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from fathom.evidence.checks import ParsedText, has_phrase, parse_text, phrase_pattern
from fathom.evidence.checks.dates import find_dates
from fathom.evidence.checks.derivation import (
    Passage,
    find_calculation,
    find_figures_outside_dates,
    is_figure_found,
    is_fraction,
    is_same_figure,
    is_small_number,
)
from fathom.evidence.checks.figures import Figure, find_figures

CLAUSE_END = re.compile(
    r"[,;.]\s|\s(?:and|while|but|whereas)\s|(?<=[고며])\s|(?<=지만),?\s|(?<=으나),?\s|(?<=데)\s|(?<=반면)\s"
    r"|(?<![통대위관]해)(?<=해)\s|(?<=%로)\s|(?<=[명원건권]으로)\s|(?<=개로)\s"
)
SENTENCE_END = re.compile(r"(?<=[.!?。])\s+|\n+")
_LEAD = re.compile(r"\b(by|to|from)\s(?:about |nearly |over |up to )?$")
_KOREAN_LEAD = re.compile(r"(에서)(?=[\s,])|으?로\s")
_MINUS = re.compile(r"(?:\bminus|영하|마이너스)\s$|(?:^|[\s`(])[-–−]$")
_TABLE_RULE = re.compile(r"[\s:|-]+")
_RANGE = re.compile(r"(?<!\d)\d{1,6}\s?[~–-]\s?\d+\S*")
_NUMBERED = re.compile(r"(?<![\d.,])(?:\d{1,6}\s?[~–-]\s?\d+|(?:19|20)\d\d)(?![\d.,]*\d)")
_OTHER_YEAR = re.compile(
    r"전년|지난해|작년|한 해 전|1년 전|\b(?:year|quarter|month) (?:earlier|before|ago)\b|\bprevious\b"
)
_MOST_ROWS = 60


@dataclass(frozen=True)
class _Row:
    """A row of a table or a clause: its words, and its figures by column (a clause has one column)."""

    text: ParsedText
    labels: frozenset[str]
    cells: tuple[tuple[Figure, ...], ...]
    columns: tuple[frozenset[str], ...] = (frozenset(),)

    @property
    def words(self) -> frozenset[str]:
        """Return the labels that are no years or ranges."""
        return frozenset(label for label in self.labels if not label[0].isdigit())


def find_misplaced(statement: str, passage: Passage) -> Iterator[tuple[str, str]]:
    """Yield what goes with other words in the statement than in the quote, as (kind, note)."""
    figures = _free_figures(statement)
    yield from _find_odd_figures(figures, statement, passage)
    rows = _label_rows(_read_rows(passage))
    if 1 < len(rows) <= _MOST_ROWS:
        yield from _find_other_rows(statement, rows)
    yield from _find_other_years(statement, figures, rows)
    yield from _find_other_columns(statement, figures, rows)


def _find_odd_figures(said: Sequence[Figure], statement: str, passage: Passage) -> Iterator[tuple[str, str]]:
    quoted = [(figure, passage.quoted) for figure in find_figures(passage.quoted)]
    for figure in said:
        if not is_figure_found(figure, passage):
            formula = find_calculation(figure, passage)
            operands = find_figures(formula)
            is_told = any(is_same_figure(one, f) for one in operands for f in said if f is not figure)
            if formula and not is_told and not _is_plain_calculation(figure, formula, statement):
                # Twelve months ÷ 12 are thirty days: such a guess would only excuse a wrong figure.
                guess = "" if " ÷ " in formula else f", but may be {formula}"
                yield "calculation", f"'{figure.text}' is not in the source{guess}"
            elif not formula and (is_small_number(figure) or is_fraction(figure)):
                yield "count", f"nothing in the source counts '{figure.text}'"
        same = [(other, text) for other, text in quoted if is_same_figure(figure, other)]
        if not same:
            slipped = [o for o, _ in quoted if o.value == figure.value and o.dimension == figure.dimension]
            if slipped and figure.factor != slipped[0].factor:
                yield "unit", f"'{figure.text}' has another unit in the quote: '{slipped[0].text}'"
            continue
        lead = _lead(figure, statement)
        leads = {_lead(other, text) for other, text in same}
        if lead not in leads and (all({lead, *leads}) or "-" in {lead, *leads}):
            yield "figure", f"'{figure.text}' has '{min(leads)}' before it in the quote, not '{lead}'"
        if all({figure.dimension, other.dimension} == {"percent", "points"} for other, _ in same):
            yield "unit", f"'{figure.text}' has another unit in the quote: '{same[0][0].text}'"
        if _is_level(figure, statement) and all(_is_change(other, text) for other, text in same):
            yield "figure", f"'{figure.text}' is a change in the quote, not a value"


def _lead(figure: Figure, text: str) -> str:
    """Return the preposition before a figure: by, to, from, minus."""
    before = text[max(0, figure.start - 40) : figure.start].lower()
    found, after = _LEAD.search(before), _KOREAN_LEAD.match(text, figure.end)
    lead = found[1] if found else "from" if after and after[1] else "to" if after else ""
    return "-" if _MINUS.search(before) else lead


def _is_plain_calculation(figure: Figure, formula: str, statement: str) -> bool:
    """Tell whether such a calculation is hardly chance, or the statement says that it is one."""
    if " + " in formula:
        is_all = formula.count(" + ") > 1  # three addends are hardly chance
        return is_all or has_phrase("sum", statement)
    if formula.startswith("100%"):
        return False
    if " x " in formula or " ÷ " in formula:
        return has_phrase("rate", statement)
    digits = len(re.sub(r"\D|^[0.]+|0+$", "", figure.text))
    return " of " in formula or digits >= 2 or bool(figure.dimension) or is_fraction(figure)


def _is_change(figure: Figure, text: str) -> bool:
    before = text[max(0, figure.start - 40) : figure.start].lower()
    is_after = phrase_pattern("change_after").match(text[figure.end : figure.end + 30])
    return bool(is_after or phrase_pattern("change_before").search(before))


def _is_level(figure: Figure, text: str) -> bool:
    after, before = text[figure.end : figure.end + 60], text[max(0, figure.start - 60) : figure.start]
    if _is_change(figure, text) or phrase_pattern("change_named").search(before):
        return False
    return bool(phrase_pattern("level_after").match(after) or has_phrase("level_before", before))


def _free_figures(text: str) -> list[Figure]:
    """Return the figures that are no dates and no part of a range such as "30~34"."""
    taken = [match.span() for match in _RANGE.finditer(text)]
    found = (f for f in find_figures_outside_dates(text) if f.value != 1 and not _is_version(f, text))
    return [f for f in found if not any(f.start < end and start < f.end for start, end in taken)]


def _is_version(figure: Figure, text: str) -> bool:
    """Tell whether it is of a version: "6.x", or "7.0" without a unit."""
    return not figure.dimension and (text[figure.end :].startswith(".x") or figure.text.endswith(".0"))


def _values(text: str) -> tuple[Figure, ...]:
    """Return the free figures of a clause and its years, which can change places too."""
    years = [date for date in find_dates(text) if date.year]
    named = [Figure(d.text, d.start, d.end, d.year, "year", low=d.year, high=d.year) for d in years]
    return (*_free_figures(text), *named)


def split_parts(text: str, cut: re.Pattern[str]) -> list[str]:
    """Return the parts of a text between the cuts, without empty ones."""
    return [part for part in cut.split(text) if part and part.strip()]


def _read_rows(passage: Passage) -> list[_Row]:
    headers = _find_headers(passage.everything)
    found = []
    for line in passage.quoted.splitlines():
        if line.count("|") < 2:
            clauses = (c for part in split_parts(line, SENTENCE_END) for c in split_parts(part, CLAUSE_END))
            found += [_Row(parse_text(c), _labels(c), (_values(c),)) for c in clauses]
            continue
        cells = _split_cells(line)
        columns = headers.get(len(cells))
        if _TABLE_RULE.fullmatch(line) or (columns and cells == columns):
            continue
        named = tuple(_labels(name) for name in columns) if columns else (frozenset[str](),) * len(cells)
        values = tuple(tuple(_free_figures(cell)) if n else () for n, cell in enumerate(cells))
        found.append(_Row(parse_text(line), _labels(cells[0]), values, named))
    return found


def _find_headers(text: str) -> dict[int, list[str]]:
    """Return the first header of each width: a line of cells above a table's rule."""
    found: dict[int, list[str]] = {}
    for line, rule in pairwise(text.splitlines()):
        if line.count("|") >= 2 and _TABLE_RULE.fullmatch(rule):
            found.setdefault(len(_split_cells(line)), _split_cells(line))
    return found


def _split_cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def _labels(text: str) -> frozenset[str]:
    """Return the words of a row or header, with its years and ranges such as "30~34"."""
    words = {word.key for word in parse_text(text).content_words}
    return frozenset(words | set(_NUMBERED.findall(text)))


def _label_rows(rows: Sequence[_Row]) -> list[_Row]:
    """Keep of each row's labels those that are its own."""
    own = []
    for place, row in enumerate(rows):
        others = frozenset[str]().union(*(other.labels for n, other in enumerate(rows) if n != place))
        own.append(_Row(row.text, row.labels - others, row.cells, row.columns))
    return own


def _count_mentions(clause: str, labels: frozenset[str]) -> int:
    numbered, text = set(_NUMBERED.findall(clause)), parse_text(clause)
    return sum(label in numbered if label[0].isdigit() else text.has(label) for label in labels)


def _has(figure: Figure, others: Sequence[Figure]) -> bool:
    return any(is_same_figure(figure, other) or is_same_figure(other, figure) for other in others)


def _find_other_rows(statement: str, rows: Sequence[_Row]) -> Iterator[tuple[str, str]]:
    """Find figures that stand in another row than the words beside them."""
    strangers: dict[tuple[int, int], tuple[Figure, str]] = {}  # (row of its words, row of its figure)
    last = -1
    for clause in split_parts(statement, CLAUSE_END):
        named = [[_count_mentions(clause, labels) for labels in (row.labels, row.words)] for row in rows]
        last = _find_named_row([both[0] for both in named], last, rows)
        for figure in _values(clause):
            scores = [both[figure.dimension == "year"] for both in named]  # no year stands beside itself
            own = _find_named_row(scores, last, rows)
            places = [n for n, row in enumerate(rows) if any(_has(figure, cell) for cell in row.cells)]
            if own < 0 or len(places) != 1 or places[0] == own or not rows[places[0]].text.content_words:
                continue
            rival = scores[places[0]]
            if not rival or (len(rows) == 2 and scores[own] > 2 * rival):
                strangers[own, places[0]] = figure, clause
    for (own, other), (figure, clause) in strangers.items():
        if (other, own) in strangers:
            if own < other:
                yield "figure", f"'{figure.text}' and '{strangers[other, own][0].text}' have changed places"
        elif _is_passed_over(figure, rows[own], rows[other], clause):
            yield "figure", f"'{figure.text}' stands with other words in the quote: '{_show(rows[other])}'"


def _find_named_row(scores: Sequence[int], last: int, rows: Sequence[_Row]) -> int:
    """Return the row that a clause names; without one the last row, if of a table; -1 for none."""
    if any(scores):
        return scores.index(max(scores)) if scores.count(max(scores)) == 1 else -1
    return last if last >= 0 and len(rows[last].cells) > 1 else -1


def _is_passed_over(figure: Figure, own: _Row, other: _Row, clause: str) -> bool:
    """Tell whether the words' own row has such a figure that their clause does not mention."""
    place = next(n for n, cell in enumerate(other.cells) if _has(figure, cell))
    is_table = len(own.cells) == len(other.cells) > 1
    cells = own.cells[place : place + 1] if is_table else own.cells
    rivals = [f for cell in cells for f in cell if f.dimension == figure.dimension or not f.dimension]
    return bool(rivals) and not any(_has(rival, _values(clause)) for rival in rivals)


def _find_other_years(
    statement: str, figures: Sequence[Figure], rows: Sequence[_Row]
) -> Iterator[tuple[str, str]]:
    """Find figures of a clause with another year than the statement's, whose own year has another figure."""
    mine = [date.year for date in find_dates(statement) if date.year]
    cells = [cell for row in rows for cell in row.cells if len(row.cells) == 1]
    years = [{figure.value for figure in cell if figure.dimension == "year"} for cell in cells]
    own = [f for cell, named in zip(cells, years, strict=True) if set(mine) == named for f in cell]
    for figure in figures if len(set(mine)) == 1 else ():
        theirs = [named for cell, named in zip(cells, years, strict=True) if _has(figure, cell)]
        rivals = [f for f in own if f.dimension == figure.dimension and not _has(f, figures)]
        if rivals and len(theirs) == 1 and theirs[0] and not theirs[0] & set(mine):
            yield "year", f"in the quote '{figure.text}' is of {min(theirs[0]):g}, not of {mine[0]}"


def _find_other_columns(
    statement: str, figures: Sequence[Figure], rows: Sequence[_Row]
) -> Iterator[tuple[str, str]]:
    """Find figures of a column that the statement does not name, where it names another one."""
    used: dict[int, set[int]] = {}  # rows of which one column is used, with that column
    for number, row in enumerate(rows):
        if len(row.cells) < 3:
            continue
        shared = frozenset.intersection(*row.columns[1:])
        named = [_count_mentions(statement, labels - shared - row.columns[0]) > 0 for labels in row.columns]
        mine = {f: [n for n, cell in enumerate(row.cells) if _has(f, cell)] for f in figures}
        mine = {f: places for f, places in mine.items() if len(places) == 1}
        columns = {places[0] for places in mine.values()}
        used[number] = columns if not any(named[1:]) else set()
        for figure, places in mine.items():
            rivals = [
                n for n, is_named in enumerate(named) if n and is_named and n not in columns and row.cells[n]
            ]
            rivals = [n for n in rivals if row.cells[n][0].dimension == row.cells[places[0]][0].dimension]
            is_other = not named[places[0]] and row.columns[places[0]] and not _OTHER_YEAR.search(statement)
            if rivals and is_other:
                named_one = " ".join(sorted(row.columns[rivals[0]]))
                yield "figure", f"'{figure.text}' is in another column of the table than '{named_one}'"
    singles = [columns for columns in used.values() if len(columns) == 1]
    if len({min(columns) for columns in singles}) > 1:
        yield "figure", "its figures are from different columns of the table"


def _show(row: _Row) -> str:
    return row.text.text.strip("| ")[:40]
