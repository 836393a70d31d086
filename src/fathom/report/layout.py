"""How a report is laid out: sections into blocks, tables into rows, sentences into numbers and letters.

Does not know Markdown or HTML: both render the same layout.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from string import ascii_lowercase
from typing import Literal

from fathom.evidence.checks import has_phrase, phrase_pattern
from fathom.evidence.checks.derivation import is_same_figure
from fathom.evidence.checks.figures import Figure, find_figures
from fathom.state import Block, Citation, Claim, Quote, Report, RunUpdate, Section, Sentence, Status
from fathom.text.messages import Messages

NumbersByClaim = Mapping[str, Sequence[int]]
ReportKind = Literal["report", "extracts"]


@dataclass(frozen=True)
class BlockLayout:
    """A block of a section with its sentences."""

    block: Block
    sentences: list[Sentence]

    @property
    def rows(self) -> list[list[list[Sentence]]]:
        """A table's cells by row and column; one cell may hold several sentences."""
        width = max([len(self.block.columns), *((s.column or 0) + 1 for s in self.sentences)])
        by_row: dict[int, list[list[Sentence]]] = {}
        for sentence in self.sentences:
            row = by_row.setdefault(sentence.row or 0, [[] for _ in range(width)])
            row[sentence.column or 0].append(sentence)
        return [by_row[number] for number in sorted(by_row)]


def lay_out_blocks(section: Section) -> list[BlockLayout]:
    """The section's blocks that have something to show; without blocks it is one paragraph or one list.

    A row of a table that lost everything but its label is not shown.
    """
    blocks = section.blocks or [Block(kind="bullets" if section.is_list else "paragraph")]
    held: list[list[Sentence]] = [[] for _ in blocks]
    for sentence in section.sentences:
        held[min(sentence.block, len(blocks) - 1)].append(sentence)
    for place, block in enumerate(blocks):
        if block.kind == "table":
            full = {s.row for s in held[place] if s.status != "connective"}
            held[place] = [s for s in held[place] if s.row in full]
    return [BlockLayout(block, sentences) for block, sentences in zip(blocks, held, strict=True) if sentences]


def shown_sentences(section: Section) -> list[Sentence]:
    """The sentences that a reader sees, in reading order."""
    return [sentence for layout in lay_out_blocks(section) for sentence in layout.sentences]


def claims_behind(sentence: Sentence) -> list[str]:
    """The claims a sentence stands on, those of its calculation's figures too."""
    operands = sentence.calculation.operands if sentence.calculation else []
    return list(dict.fromkeys([*sentence.claims, *(operand.claim for operand in operands)]))


def cited_numbers(sentence: Sentence, numbers: NumbersByClaim) -> list[int]:
    """The sources it cites, in order; none for a sentence that is without support."""
    if sentence.status != "supported":
        return []
    return sorted({n for claim in claims_behind(sentence) for n in numbers.get(claim, [])})


def is_unsupported(sentence: Sentence, numbers: NumbersByClaim) -> bool:
    """Whether it must be marked: it claims something that no source of this report bears out."""
    return sentence.status == "unsupported" or (
        sentence.status == "supported" and not cited_numbers(sentence, numbers)
    )


def is_worded_so(text: str) -> bool:
    """Whether words say that it is a conclusion ("this suggests", "probable effort"), so it needs no sign."""
    return has_phrase("inferring", text)


def note_inference(text: str, words: Messages) -> str:
    """Return the text with the words that call it an inference, before its full stop."""
    bare = text.rstrip(".!?。")
    return f"{bare} {words('report.inference')}{text[len(bare) :]}"


def filled_formula(sentence: Sentence) -> str:
    """The formula of its calculation with the figures in place of their names."""
    assert sentence.calculation is not None
    values = {operand.name: operand.value for operand in sentence.calculation.operands}
    return re.sub(
        r"\b[A-Za-z_]\w*\b",
        lambda found: values.get(found.group(), found.group()),
        sentence.calculation.formula,
    )


@dataclass(frozen=True)
class DisputeRow:
    """One side of a disagreement, as the table shows it; a second side leaves out what it is about."""

    about: str
    value: str
    cited: list[int]
    published: str
    settled: str


@dataclass(frozen=True)
class OpenSide:
    """One side of an open disagreement: its claims, and the figures that only this side gives."""

    claims: frozenset[str]
    figures: Sequence[Figure] = ()

    def is_told(self, sentence: Sentence) -> bool:
        """Whether a sentence rests on this side, and tells one of its figures where it differs by figures."""
        told = find_figures(sentence.text) if self.figures else ()
        is_figure_told = any(is_same_figure(one, own) for one in told for own in self.figures)
        return not self.claims.isdisjoint(sentence.claims) and (is_figure_told or not self.figures)


@dataclass(frozen=True)
class PreparedReport:
    """Everything a report says, ready to be rendered."""

    title: str
    status: Status
    kind: ReportKind
    words: Messages
    sections: list[Section]
    citations: list[Citation]
    claims: Mapping[str, Claim]
    numbers: NumbersByClaim
    disputes: list[DisputeRow]
    open_disputes: Sequence[Sequence[OpenSide]]
    certainty: list[str]  # sentences, as Markdown
    update: RunUpdate | None = None
    has_quotes: bool = False  # whether the Markdown lists the quotes below each source
    searched: Sequence[str] = ()  # of a run that found nothing

    @property
    def sentences(self) -> Iterator[Sentence]:
        """All sentences in reading order."""
        return (s for section in self.sections for s in shown_sentences(section))

    @cached_property
    def calculations(self) -> list[tuple[str, Sentence]]:
        """The sentences whose calculation is shown, each with its letter."""
        found = [s for s in self.sentences if s.calculation and cited_numbers(s, self.numbers)]
        distinct = {(filled_formula(s), s.calculation.result): s for s in reversed(found) if s.calculation}
        return list(zip(_letters(), reversed(distinct.values()), strict=False))

    @cached_property
    def letters(self) -> dict[tuple[str, str], str]:
        """The letter of each calculation, by formula and result."""
        return {
            (filled_formula(s), s.calculation.result): letter
            for letter, s in self.calculations
            if s.calculation is not None
        }

    def is_inference_at(self, place: Sentence | Section) -> bool:
        """Whether the words that call something an inference stand here.

        A part that consists of inferences has them once, at its heading; a column of a table, at its name. A
        sentence that is worded as a conclusion needs none, nor a paragraph that begins as "Our reading".
        """
        return (id(place), 0) in self._inference_places

    def is_inferred_column(self, block: Block, column: int) -> bool:
        """Whether all cells of a table's column are inferences, so that its name is marked."""
        return column > 0 and (id(block), column) in self._inference_places

    @cached_property
    def _inference_places(self) -> set[tuple[int, int]]:
        places: set[tuple[int, int]] = set()
        for section in self.sections:
            plain = [s for s in shown_sentences(section) if self._needs_sign(s)]
            if not plain:
                continue
            if section.title and self._are_inferences(shown_sentences(section)):
                places.add((id(section), 0))
                continue
            for layout in lay_out_blocks(section):
                single = [s for s in layout.sentences if self._needs_sign(s)]
                if self._is_reading(layout):
                    single = []
                if layout.block.kind == "table":
                    named = {n for n, name in enumerate(layout.block.columns) if is_worded_so(name)}
                    single = [s for s in single if s.column not in named]
                    columns = {s.column or 0: (id(layout.block), s.column or 0) for s in single if s.column}
                    whole = {c for c in columns if self._are_inferences(_cells(layout, c))}
                    places |= {columns[c] for c in whole}
                    single = [s for s in single if s.column not in whole]
                places |= {(id(s), 0) for s in single}
        return places

    def _is_reading(self, layout: BlockLayout) -> bool:
        """Whether a paragraph or list begins as a reading ("Our reading: …") and draws conclusions.

        A sentence of it that the sources state outright may be among them.
        """
        told = [s for s in layout.sentences if s.status != "connective"]
        is_led = phrase_pattern("reading").match(layout.sentences[0].text.lower())
        is_text = layout.block.kind != "table"
        return is_text and bool(is_led) and any(map(self._is_cited_inference, told))

    def _is_cited_inference(self, sentence: Sentence) -> bool:
        return sentence.kind == "inference" and bool(cited_numbers(sentence, self.numbers))

    def _needs_sign(self, sentence: Sentence) -> bool:
        is_own = not sentence.is_summing and not is_worded_so(sentence.text)
        return is_own and self._is_cited_inference(sentence)

    def _are_inferences(self, sentences: Sequence[Sentence]) -> bool:
        """Whether there are several sentences that state something, all of them inferences."""
        told = [s for s in sentences if s.status != "connective"]
        return len(told) > 1 and all(map(self._is_cited_inference, told))

    def marked_at(self, place: Sentence | Block) -> list[Sentence]:
        """The sentences whose marks stand here.

        Those of a run stand once: behind the last of a paragraph's sentences that have the same sources, or
        at the caption of a table that has the same sources everywhere. Those of a row: `cited_by_rows`.
        """
        return self._runs.get(id(place), [])

    def cited_by_rows(self, layout: BlockLayout) -> list[list[Sentence]]:
        """The cells of each row of a table whose sources stand in a last column; none if it has no such."""
        if layout.block.kind != "table" or self.marked_at(layout.block):
            return []
        rows = [[s for cell in row for s in cell if self._is_cited_by_row(s)] for row in layout.rows]
        return rows if any(rows) else []

    @cached_property
    def _runs(self) -> dict[int, list[Sentence]]:
        layouts = [layout for section in self.sections for layout in lay_out_blocks(section)]
        return {id(place): run for layout in layouts for place, run in self._runs_of(layout)}

    def _runs_of(self, layout: BlockLayout) -> Iterator[tuple[Sentence | Block, list[Sentence]]]:
        """Neighbours with the same marks, each run with the place where these stand."""
        if layout.block.kind == "table":
            yield from self._runs_of_table(layout)
            return
        if layout.block.kind != "paragraph":
            runs = [[s] for s in layout.sentences]  # a reader takes the items of a list one by one
        else:
            runs = [list(run) for _, run in groupby(layout.sentences, self._marks_of)]
        yield from ((run[-1], run) for run in runs if self._marks_of(run[-1]))

    def _runs_of_table(self, layout: BlockLayout) -> Iterator[tuple[Sentence | Block, list[Sentence]]]:
        """The table as a whole, or what is computed, disputed or without support by itself."""
        told = [s for row in layout.rows for cell in row for s in cell if not _is_bare_cell(s)]
        if layout.block.title and len({self._marks_of(s) for s in told}) == 1 and self._marks_of(told[0]):
            yield layout.block, told
            return
        yield from ((s, [s]) for s in told if self._marks_of(s) and not self._is_cited_by_row(s))

    def cited_in(self, run: Sequence[Sentence]) -> list[int]:
        """The sources that the sentences of a run cite together."""
        return sorted({n for sentence in run for n in cited_numbers(sentence, self.numbers)})

    def _is_cited_by_row(self, sentence: Sentence) -> bool:
        is_odd = is_unsupported(sentence, self.numbers) or self.is_disputed(sentence)
        is_alone = is_odd or sentence.calculation is not None or _is_bare_cell(sentence)
        return not is_alone and bool(self._marks_of(sentence))

    def _marks_of(self, sentence: Sentence) -> tuple[object, ...]:
        """What stands behind a sentence; empty for one without marks."""
        if is_unsupported(sentence, self.numbers):
            return (id(sentence),)  # marked by itself
        if not (found := cited_numbers(sentence, self.numbers)):
            return ()
        computed = sentence.calculation
        letter = self.letters[filled_formula(sentence), computed.result] if computed else ""
        return (*found, letter, self.is_disputed(sentence))

    @cached_property
    def has_disputed(self) -> bool:
        """Whether a sentence has the mark of disputed ones."""
        return any(self.is_disputed(s) for s in self.sentences)

    def is_disputed(self, sentence: Sentence) -> bool:
        """Whether it tells one side of an open dispute; a sentence that tells both is fair as it is."""
        if not cited_numbers(sentence, self.numbers):
            return False
        told = [[side.is_told(sentence) for side in sides] for sides in self.open_disputes]
        return any(any(sides) and not all(sides) for sides in told)

    def quotes_behind(self, sentence: Sentence, number: int) -> list[Quote]:
        """The quotes that a sentence rests on in one source."""
        cited = next(citation for citation in self.citations if citation.number == number)
        held = {(q.page, q.start, q.end) for q in cited.quotes}
        found = (q for c in claims_behind(sentence) if c in self.claims for q in self.claims[c].quotes)
        return list({(q.page, q.start, q.end): q for q in found if (q.page, q.start, q.end) in held}.values())

    def as_report(self, markdown: str) -> Report:
        """The record of it."""
        return Report(
            title=self.title,
            status=self.status,
            sections=self.sections,
            citations=self.citations,
            markdown=markdown,
            kind=self.kind,
        )


def _cells(layout: BlockLayout, column: int) -> list[Sentence]:
    return [sentence for sentence in layout.sentences if sentence.column == column]


def _is_bare_cell(sentence: Sentence) -> bool:
    """Whether a cell only names its row or has no words, and so needs no mark."""
    is_label = not sentence.column and sentence.status == "connective"
    return is_label or not any(map(str.isalnum, sentence.text))


def _letters() -> Iterable[str]:
    """Return a to z, then aa to zz."""
    yield from ascii_lowercase
    yield from (first + second for first in ascii_lowercase for second in ascii_lowercase)
