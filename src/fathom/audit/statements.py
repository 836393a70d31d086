"""Split a report into statements that can be checked, and set apart those that cannot.

Opinions, transitions, questions and labels are recognized by their words, in English and Korean; whatever
has a citation is checked. A mark at the end of a paragraph that has no other counts for all of it.
"""

import re
from dataclasses import dataclass, field

from fathom.audit.citations import CitationMarks, ReportLine, split_lines
from fathom.audit.records import CitedSource, ReportBlock, ReportStatement, StatementKind
from fathom.evidence.checks.dates import find_dates
from fathom.evidence.checks.figures import find_figures
from fathom.evidence.checks.lexicon import load_phrase_pattern
from fathom.evidence.support import is_connective
from fathom.state import short_hash
from fathom.text.sentences import DEPENDENT_OPENING, is_instruction, split_sentences
from fathom.text.tokens import has_cjk

_LEAD_IN = re.compile(r"[:：]$")
_LEAST_WORDS = 3


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
    for line in lines:
        splitter.take(line)
    report = splitter.report
    report.sources = marks.sources
    return report


class _Splitter:
    def __init__(self, marks: CitationMarks, title: str) -> None:
        self.report = SplitReport(title)
        self._marks = marks
        self._path: list[tuple[int, str]] = []
        self._head: list[str] = []  # the cells of the table's first row
        self._lead: ReportStatement | None = None  # "The reasons are:", for the items below it
        self._last = ""
        self._open: list[ReportStatement] = []  # of the blocks that a line of sources below may mean

    def take(self, line: ReportLine) -> None:
        if line.kind != "row":
            self._head = []
        if line.kind == "heading":
            words, _ = self._marks.split_off(self._marks.mask(line.text))
            self._path = [*(above for above in self._path if above[0] < line.level), (line.level, words)]
            self.report.title = self.report.title or words
            self.report.blocks.append(ReportBlock(kind="heading", text=words, level=line.level))
            self._last, self._lead, self._open = "", None, []
        elif line.kind in {"code", "source"}:
            key = f"[{line.key}] " if line.key else ""
            self.report.blocks.append(ReportBlock(kind=line.kind, text=f"{key}{line.text}"))
        elif line.kind == "row":
            self._take_row(line)
        else:
            self._take_sentences(line)

    def _take_sentences(self, line: ReportLine) -> None:
        masked = self._marks.mask(line.text)
        spans = [span.text for span in split_sentences(masked)] or [masked]
        parts = [self._marks.split_off(span) for span in spans]
        parts = _join_bare_marks(parts)
        if not any(words for words, _ in parts):
            self._give_sources([key for _, cites in parts for key in cites])
            return
        cited = [place for place, (_, cites) in enumerate(parts) if cites]
        is_by_paragraph = line.kind == "paragraph" and cited == [len(parts) - 1]
        found = []
        for place, (words, cites) in enumerate(parts):
            kind = classify(words, is_cited=bool(cites), is_item=line.kind == "item")
            inherited: list[str] = []
            if not cites and kind == "fact":
                if is_by_paragraph and place < cited[0]:
                    inherited = parts[cited[0]][1]
                elif line.kind == "item" and self._lead:
                    inherited = self._lead.cites
            found.append(self._make(words, kind, cites or inherited, is_inherited=bool(inherited)))
            self._last = words
        if line.kind == "paragraph":
            self._lead = found[-1] if found and _LEAD_IN.search(found[-1].text) else None
        self._add(line, found)

    def _take_row(self, line: ReportLine) -> None:
        cells = [cell.strip() for cell in line.text.strip().strip("|").split("|")]
        masked = [self._marks.split_off(self._marks.mask(cell)) for cell in cells]
        words, cites = [cell for cell, _ in masked], [key for _, keys in masked for key in keys]
        if not self._head:
            self._head = words
            self.report.blocks.append(ReportBlock(kind="row", text=" | ".join(words)))
            return
        named = [
            f"{head}: {cell}" if head and n else cell
            for n, (head, cell) in enumerate(zip([*self._head, *[""] * len(words)], words, strict=False))
            if cell and cell not in {"-", "–", "—"}
        ]
        said = "; ".join(named)
        is_fact = bool(cites) or bool(find_figures(said) or find_dates(said)) or len(named) > 1
        self._add(line, [self._make(said, "fact" if is_fact else "label", list(dict.fromkeys(cites)))])

    def _make(
        self, words: str, kind: StatementKind, cites: list[str], *, is_inherited: bool = False
    ) -> ReportStatement:
        number = len(self.report.statements) + 1
        statement = ReportStatement(
            id=f"{number}-{short_hash(words)[:6]}",
            text=words,
            kind=kind,
            heading=" > ".join(heading for _, heading in self._path),
            cites=cites,
            is_cited_by_paragraph=is_inherited,
            context=self._last if DEPENDENT_OPENING.match(words) else "",
        )
        self.report.statements.append(statement)
        return statement

    def _give_sources(self, cites: list[str]) -> None:
        """A line that has only sources ("Source: …") means what stands above it and cites nothing."""
        for statement in self._open:
            if statement.kind == "fact" and not statement.cites:
                place = self.report.statements.index(statement)
                update = {"cites": cites, "is_cited_by_paragraph": True}
                self.report.statements[place] = statement.model_copy(update=update)
        self._open = []

    def _add(self, line: ReportLine, statements: list[ReportStatement]) -> None:
        ids = [statement.id for statement in statements]
        is_more = (
            line.kind != "paragraph" and self.report.blocks[-1:] and self.report.blocks[-1].kind == line.kind
        )
        self._open = [*self._open, *statements] if is_more else statements
        self.report.blocks.append(ReportBlock(kind=line.kind, statements=ids, text=line.key))


def _join_bare_marks(parts: list[tuple[str, list[str]]]) -> list[tuple[str, list[str]]]:
    """Give marks that stand alone to the sentence before them."""
    joined: list[tuple[str, list[str]]] = []
    for words, cites in parts:
        if joined and not re.search(r"\w", words):
            before, known = joined[-1]
            joined[-1] = (before, list(dict.fromkeys([*known, *cites])))
        else:
            joined.append((words, cites))
    return [part for part in joined if re.search(r"\w", part[0]) or part[1]]


def classify(words: str, *, is_cited: bool, is_item: bool = False) -> StatementKind:
    """Tell what a sentence is: a fact to check, or something that is set apart."""
    has_figures = bool(find_figures(words) or find_dates(words))
    if words.rstrip(" \"'”’)").endswith(("?", "？")):
        return "question"
    if is_connective(words) or (
        load_phrase_pattern("transition").search(words.lower()) and not is_cited and not has_figures
    ):
        return "transition"
    if is_cited:
        return "fact"
    if _LEAD_IN.search(words) and not has_figures:
        return "transition"
    if load_phrase_pattern("opinion").search(words.lower()) and not re.search(r"\d", words):
        return "opinion"
    if not is_item and is_instruction(words) and not has_cjk(words):
        return "opinion"
    is_short = len(words.split()) < (_LEAST_WORDS if has_cjk(words) else _LEAST_WORDS + 1)
    return "label" if is_short and not has_figures else "fact"
