"""Split a report into statements that can be checked, and set apart those that cannot.

Opinions, transitions, questions and labels are recognized by their words, in English and Korean; whatever
has a citation is checked. Marks are attributed as a careful reader does it: a mark also means the sentences
just before it that have none, and marks of a caption, a column or a lead-in mean the rows and items below.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import zip_longest

from fathom.audit import CitationRule, CitedSource, ReportBlock, ReportStatement, StatementKind
from fathom.audit.citations import (
    CitationMarks,
    MarkedWords,
    NotedCalculation,
    ReportLine,
    is_legend,
    split_lines,
)
from fathom.evidence.checks import has_phrase, phrase_pattern
from fathom.evidence.checks.dates import find_dates
from fathom.evidence.checks.figures import find_figures
from fathom.evidence.support import is_connective
from fathom.state import short_hash
from fathom.text.messages import Messages
from fathom.text.sentences import DEPENDENT_OPENING, is_complete_sentence, is_instruction, split_sentences
from fathom.text.tokens import has_cjk

_LEAD_IN = re.compile(r"[:：]$")
_POINTS_BELOW = re.compile(
    r"[:：]$|\b(?:table|below|following)\b|다음|아래|(?<![가-힣])표(?![가-힣]{2})", re.IGNORECASE
)
_RUN_IN = re.compile(r"\s{0,3}(\*\*|__)([^*_]{1,80}[.。])\1\s{1,3}(?=\S)")
_WHOLE_BOLD = re.compile(r"\s{0,3}(\*\*|__|\*|_)[^*_]{1,200}\1(?:[\s.:]|[\[(【][^\])】]{1,300}[\])】]){0,30}")
_TABLE_NAME = re.compile(r"[\s*_]{0,5}\[?(?:table|tab\.|figure|표|그림)\s?\d", re.IGNORECASE)
_BARE_MARKS = re.compile(r"[\[(【][^\])】]{1,300}[\])】]")
_LEAST_WORDS = 3


@cache
def _own_words() -> tuple[frozenset[str], frozenset[str]]:
    """Return the headings below which Fathom's reports speak of themselves, and the columns that do."""
    both = [Messages("en"), Messages("ko")]
    headings = {say(f"report.{name}") for say in both for name in ("sure", "searched")}
    return frozenset(headings), frozenset(
        say(f"disagree.{name}") for say in both for name in ("published", "settled")
    )


@dataclass
class SplitReport:
    """A report taken apart: its blocks, statements and the sources it names."""

    title: str = ""
    blocks: list[ReportBlock] = field(default_factory=list)
    statements: list[ReportStatement] = field(default_factory=list)
    sources: list[CitedSource] = field(default_factory=list)

    @property
    def checked(self) -> list[ReportStatement]:
        """The statements that are checked."""
        return [statement for statement in self.statements if statement.is_checked]


def split_report(text: str, title: str = "") -> SplitReport:
    """Take a report apart; `text` is Markdown with its citations (`mark_report`)."""
    lines = split_lines(text)
    marks = CitationMarks.from_lines(lines)
    splitter = _Splitter(marks, title)
    for line, after in zip_longest(lines, lines[1:]):
        splitter.take(line, after)
    report = splitter.report
    report.sources = marks.sources
    return report


@dataclass(frozen=True)
class _Cited:
    """Sources that a statement may have, by which rule, and the words that they stand behind."""

    cites: Sequence[str] = ()
    rule: CitationRule = "own"
    words: str = ""


class _Splitter:
    def __init__(self, marks: CitationMarks, title: str) -> None:
        self.report = SplitReport(title)
        self._marks = marks
        self._path: list[tuple[int, MarkedWords]] = []
        self._head: list[MarkedWords] = []  # the cells of the table's first row
        self._label = ""  # the first cell of the row above
        self._lead = _Cited()  # what stands above rows or items, and means them
        self._last = ""
        self._open: list[ReportStatement] = []  # of the blocks that a line of sources below may mean

    def take(self, line: ReportLine, after: ReportLine | None) -> None:
        if line.kind != "row":
            self._head, self._label = [], ""
        if line.kind == "heading":
            said = self._marks.split_off(self._marks.mask(line.text))
            self._path = [*(above for above in self._path if above[0] < line.level), (line.level, said)]
            self.report.title = self.report.title or said.words
            self.report.blocks.append(ReportBlock(kind="heading", text=said.words, level=line.level))
            self._last, self._lead, self._open = "", _Cited(), []
        elif line.kind in {"code", "source"} or (line.kind == "paragraph" and is_legend(line.text)):
            key = f"[{line.key}] " if line.key else ""
            self.report.blocks.append(ReportBlock(kind=line.kind, text=f"{key}{line.text}"))
        elif line.kind == "row":
            self._take_row(line)
        elif calculation := self._marks.calculation(line):
            self._take_calculation(line, calculation)
        else:
            self._take_sentences(line, after.kind if after else "")

    def _take_sentences(self, line: ReportLine, below: str) -> None:
        masked, found = self._marks.mask(line.text), list[ReportStatement]()
        if (run_in := _RUN_IN.match(line.text)) and not is_complete_sentence(run_in[2]):
            self._last = self._marks.split_off(self._marks.mask(run_in[2])).words
            found.append(self._make(MarkedWords(self._last), "label"))
            masked = self._marks.mask(line.text[run_in.end() :])
        spans = [span.text for span in split_sentences(masked)] or [masked]
        parts = _join_bare_marks([self._marks.split_off(span) for span in spans])
        if phrase_pattern("reading").match(line.text.lower()):  # "Our reading: …": all of it concludes
            parts = [replace(part, is_inferred=True) for part in parts]
        if not any(part.words for part in parts):
            self._give_sources([key for part in parts for key in part.cites])
            return
        is_caption = line.kind == "paragraph" and _is_caption(line.text, below)
        if is_caption and (below in {"row", "item"} or not any(part.cites for part in parts)):
            cites = list(dict.fromkeys(key for part in parts for key in part.cites))
            is_above = below in {"row", "item"}
            words = " ".join(part.words for part in parts)
            self._lead = _Cited(cites, "caption", words) if is_above else _Cited()
            self._add(line, [*found, *(self._make(replace(part, cites=[]), "label") for part in parts)])
            return
        lead = self._lead if line.kind == "item" else _Cited()
        for place, part in enumerate(parts):
            kind = classify(part.words, is_cited=bool(part.cites), is_item=line.kind == "item")
            if kind == "fact" and not part.cites and self._is_about_itself():
                kind = "transition"
            following = next((later.cites for later in parts[place + 1 :] if later.cites), [])
            before = "" if place or not lead.words else lead.words
            is_named = place == 0 and bool(found)
            found.append(self._make(part, kind, _Cited(following, "next"), lead, before, is_named=is_named))
            self._last = part.words
        if line.kind == "paragraph":
            said = parts[-1]
            is_lead = _LEAD_IN.search(said.words) or (below == "row" and _POINTS_BELOW.search(said.words))
            self._lead = _Cited(said.cites, "lead-in", said.words) if is_lead else _Cited()
        self._add(line, found)

    def _take_row(self, line: ReportLine) -> None:
        cells = [
            self._marks.split_off(self._marks.mask(cell.strip()))
            for cell in line.text.strip().strip("|").split("|")
        ]
        if not self._head:
            self._head = cells
            self.report.blocks.append(ReportBlock(kind="row", text=" | ".join(cell.words for cell in cells)))
            return
        self._label = cells[0].words or self._label
        cells[0] = replace(cells[0], words=self._label)
        columns = [*self._head, *[MarkedWords("")] * len(cells)]
        kept = [
            (head, cell, number)
            for number, (head, cell) in enumerate(zip(columns, cells, strict=False))
            if cell.words and cell.words not in {"-", "–", "—"} and head.words not in _own_words()[1]
        ]
        said = "; ".join(
            f"{head.words}: {cell.words}" if head.words and number else cell.words
            for head, cell, number in kept
        )
        own = any(cell.cites for cell in cells)  # then the mark of a column means its cells without marks
        of_columns = [key for head, cell, _ in kept if own and not cell.cites for key in head.cites]
        row = MarkedWords(
            said,
            list(dict.fromkeys([*(key for cell in cells for key in cell.cites), *of_columns])),
            any(part.is_inferred for head, cell, _ in kept for part in (head, cell)),
            [one for cell in cells for one in cell.calculations],
        )
        is_fact = bool(row.cites) or bool(find_figures(said) or find_dates(said)) or len(kept) > 1
        column = _Cited(list(dict.fromkeys(key for head, _, _ in kept for key in head.cites)), "column")
        self._add(
            line, [self._make(row, "fact" if is_fact else "label", column, self._lead, self._lead.words)]
        )

    def _take_calculation(self, line: ReportLine, calculation: NotedCalculation) -> None:
        said = f"{calculation.formula} = {calculation.result}"
        part = MarkedWords(said, calculation.cites, calculations=[calculation])
        self._add(line, [self._make(part, "fact")])

    def _is_about_itself(self) -> bool:
        return any(heading.words in _own_words()[0] for _, heading in self._path)

    def _make(
        self,
        part: MarkedWords,
        kind: StatementKind,
        other: _Cited = _Cited(),
        lead: _Cited = _Cited(),
        before: str = "",
        *,
        is_named: bool = False,
    ) -> ReportStatement:
        heading = next((found.cites for _, found in reversed(self._path) if found.cites), [])
        calculated = [key for one in part.calculations for key in one.cites]
        rules = (
            _Cited([*part.cites, *calculated]),
            other,
            lead,
            _Cited(heading, "heading"),
        )
        cited = next((rule for rule in rules if rule.cites and kind == "fact"), _Cited())
        is_dependent = is_named or DEPENDENT_OPENING.match(part.words)
        number = len(self.report.statements) + 1
        statement = ReportStatement(
            id=f"{number}-{short_hash(part.words)[:6]}",
            text=part.words,
            kind=kind,
            heading=" > ".join(found.words for _, found in self._path),
            cites=list(dict.fromkeys(cited.cites)),
            cited_by=cited.rule,
            nature="inference" if part.is_inferred else "calculation" if part.calculations else "stated",
            calculation="; ".join(f"{one.formula} = {one.result}" for one in part.calculations),
            context=before or (self._last if is_dependent else ""),
        )
        self.report.statements.append(statement)
        return statement

    def _give_sources(self, cites: list[str]) -> None:
        """A line that has only sources ("Source: …") means what stands above it and cites nothing."""
        for statement in self._open:
            if statement.kind == "fact" and not statement.cites:
                place = self.report.statements.index(statement)
                update = {"cites": cites, "cited_by": "line below"}
                self.report.statements[place] = statement.model_copy(update=update)
        self._open = []

    def _add(self, line: ReportLine, statements: list[ReportStatement]) -> None:
        ids = [statement.id for statement in statements]
        is_more = (
            line.kind != "paragraph" and self.report.blocks[-1:] and self.report.blocks[-1].kind == line.kind
        )
        self._open = [*self._open, *statements] if is_more else statements
        self.report.blocks.append(ReportBlock(kind=line.kind, statements=ids, text=line.key))


def _is_caption(text: str, below: str) -> bool:
    """Tell whether a paragraph is the caption of what is below: all in bold, or named a table."""
    words = _BARE_MARKS.sub("", text).strip(" *_")
    is_named = _WHOLE_BOLD.fullmatch(text) or (below == "row" and _TABLE_NAME.match(text))
    return bool(is_named) and not (words.endswith((".", "!", "?", "。")) and is_complete_sentence(words))


def _join_bare_marks(parts: Sequence[MarkedWords]) -> list[MarkedWords]:
    """Give marks that stand alone to the sentence before them."""
    joined: list[MarkedWords] = []
    for part in parts:
        if joined and not re.search(r"\w", part.words):
            before = joined[-1]
            joined[-1] = replace(
                before,
                cites=list(dict.fromkeys([*before.cites, *part.cites])),
                is_inferred=before.is_inferred or part.is_inferred,
                calculations=[*before.calculations, *part.calculations],
            )
        else:
            joined.append(part)
    return [part for part in joined if re.search(r"\w", part.words) or part.cites]


def classify(words: str, *, is_cited: bool, is_item: bool = False) -> StatementKind:
    """Tell what a sentence is: a fact to check, or something that is set apart."""
    if words.rstrip(" \"'”’)").endswith(("?", "？")):
        return "question"
    if is_connective(words):
        return "transition"
    if is_cited:
        return "fact"
    if has_phrase("transition", words) and not _has_figures(words):
        return "transition"
    if _LEAD_IN.search(words) and not (re.search(r"\d", words) and _has_figures(words)):
        return "transition"
    if has_phrase("opinion", words) and not re.search(r"\d", words):
        return "opinion"
    if not is_item and is_instruction(words) and not has_cjk(words):
        return "opinion"
    is_short = len(words.split()) < (_LEAST_WORDS if has_cjk(words) else _LEAST_WORDS + 1)
    return "label" if is_short and not _has_figures(words) else "fact"


def _has_figures(words: str) -> bool:
    return bool(find_figures(words) or find_dates(words))
