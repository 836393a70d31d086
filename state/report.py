"""The report as records: outline, sections, sentences, citations.

Does not know who writes, checks or prints them.
"""

from typing import Literal

from pydantic import Field

from fathom.state.records import Quote, Record

Priority = Literal["high", "medium", "low"]


class Heading(Record):
    """A part the report will have, the claims it rests on, and what it still lacks."""

    id: str
    title: str
    question: str
    claims: list[str]
    aim: str = ""  # what this part tells the reader
    lacks: str = ""  # what the evidence does not say yet; a thin part is a gap
    priority: Priority = "medium"  # how much it matters for the question
    is_conclusion: bool = False  # the part that weighs the others and concludes


class Outline(Record):
    """The report before it is written."""

    title: str
    headings: list[Heading]
    question: str = ""  # what it answers
    seen: list[str] = Field([])  # every claim that was known when it was made, also those under no heading


# What is wrong with a sentence: it names no claim that exists, it states something and names none, code found
# something in it that its quotes do not have, a model did, or its calculation does not come out as stated.
Fault = Literal["unknown", "uncited", "facts", "meaning", "calculation"]

# A fact says what its quotes say. A calculation is recomputed by code from quoted figures. An inference
# follows from its claims without being said in them, and is marked for the reader. A link connects others.
SentenceKind = Literal["fact", "calculation", "inference", "link"]


class Operand(Record):
    """A figure that a calculation uses, as a quote of its claim has it."""

    name: str  # a, b, c … as the formula calls it
    value: str
    claim: str


class Calculation(Record):
    """A formula over quoted figures, and the result as the sentence states it."""

    formula: str
    operands: list[Operand] = Field(min_length=1)
    result: str


class Sentence(Record):
    """One sentence of the report, or one cell of a table, and what it stands on."""

    text: str
    claims: list[str]
    status: Literal["supported", "unsupported", "connective"]
    why: str = ""
    fault: Fault | None = None
    kind: SentenceKind = "fact"
    calculation: Calculation | None = None
    block: int = 0  # the block of its section that it stands in
    row: int | None = None  # in a table
    column: int | None = None


class Block(Record):
    """How some sentences of a section are laid out."""

    kind: Literal["paragraph", "bullets", "numbered", "table", "extract"] = "paragraph"
    title: str = ""  # a sub-heading, or the caption of a table
    columns: list[str] = Field([])  # the headings of a table's columns


class Section(Record):
    """A written part of the report.

    `basis` names what it was written from: its heading and its claims with their quotes. A section that is in
    the state when the writing begins is kept while its heading still has that basis (`outlining.basis_of`).
    """

    id: str
    title: str
    sentences: list[Sentence]
    is_list: bool = False
    is_quoted: bool = False  # quotes stand in place of what was written
    basis: str = ""
    rejected: list[Sentence] = Field([])  # what was written and not believed
    rewritten: int = 0  # sentences that hold only since they were written again
    blocks: list[Block] = Field([])  # none: one paragraph, or one list
    kind: Literal["summary", "body", "conclusion"] = "body"

    @property
    def key(self) -> str:
        """One entry per heading."""
        return self.id


class SummarySentence(Record):
    """A sentence of the summary as an editor wants it, and the draft's sentences that it rests on.

    A second wording, if there is one, stands in where the first fails its check.
    """

    text: str
    plainer: str = ""
    rests_on: list[int]


class EditedText(Record):
    """A sentence of the draft by its number, and a text: its new one, or what is to follow it."""

    number: int
    text: str


class Repetition(Record):
    """A sentence that says what another one says, both by their numbers."""

    number: int
    same_as: int


class Edit(Record):
    """What an editor wants of a checked draft; sentences are numbered from 1 over all its sections."""

    title: str = ""
    summary: list[SummarySentence] = Field([])
    changes: list[EditedText] = Field([])
    repetitions: list[Repetition] = Field([])
    cuts: list[int] = Field([])  # sentences that tell nothing
    links: list[EditedText] = Field([])


class Citation(Record):
    """A numbered source of the report, with the quotes the report uses."""

    number: int
    page: str
    address: str
    title: str
    published: str | None
    fetched: str
    quotes: list[Quote]
    printed_pages: list[int] = Field([])  # of each quote, if the source has pages
    gone: bool = False  # could not be read again when an update tried
    publisher: str = ""
    is_primary: bool = False  # the origin of what it says, not a page that repeats it


# What the reader may expect: see `fathom.report.ending`.
Status = Literal["complete", "partial", "unsure", "failed", "extracts"]


class Report(Record):
    """What the reader gets."""

    title: str
    status: Status
    sections: list[Section]
    citations: list[Citation]
    markdown: str
    kind: Literal["report", "extracts"] = "report"  # extracts: passages that were found without a model
