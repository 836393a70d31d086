"""Records of the report: outline, sections, sentences, citations."""

from typing import Literal

from pydantic import Field

from fathom.state.records import Quote, Record

Priority = Literal["high", "medium", "low"]


class Heading(Record):
    """A planned part of the report, its claims, and what it still lacks."""

    id: str
    title: str
    question: str
    claims: list[str]
    aim: str = ""  # what this part tells the reader
    lacks: str = ""  # what the evidence does not say yet; a thin part counts as a gap
    priority: Priority = "medium"  # how much it matters for the question
    is_conclusion: bool = False  # the part that weighs the others and concludes


class Outline(Record):
    """The planned parts of the report."""

    title: str
    headings: list[Heading]
    question: str = ""  # what it answers
    seen: list[str] = Field([])  # every claim that was known when it was made, also those without a heading


# What is wrong with a sentence: its claim does not exist ("unknown"), it states something without a claim
# ("uncited"), code ("facts") or a model ("meaning") finds something its quotes do not say, or its calculation
# gives another result ("calculation").
Fault = Literal["unknown", "uncited", "facts", "meaning", "calculation"]

# A fact says what its quotes say. A calculation is recomputed by code from quoted figures. An inference
# follows from its claims without being stated in them, and is marked for the reader. A limit says what the
# evidence lacks, as code or the judge found it. A link connects others.
SentenceKind = Literal["fact", "calculation", "inference", "limit", "link"]


class Operand(Record):
    """A figure used by a calculation, as quoted in its claim."""

    name: str  # a, b, c … as in the formula
    value: str
    claim: str


class Calculation(Record):
    """A formula over quoted figures, and the result stated by the sentence."""

    formula: str
    operands: list[Operand] = Field(min_length=1)
    result: str


class Sentence(Record):
    """One sentence of the report or one table cell, with the claims that support it."""

    text: str
    claims: list[str]
    status: Literal["supported", "unsupported", "connective"]
    why: str = ""
    fault: Fault | None = None
    kind: SentenceKind = "fact"
    calculation: Calculation | None = None
    limits: list[str] = Field([])  # what a limit rests on: statements about the evidence
    is_summing: bool = False  # of a summary: it rests on facts as well as on conclusions
    block: int = 0  # the block of its section that contains it
    row: int | None = None  # in a table
    column: int | None = None


class Block(Record):
    """The layout of some sentences of a section."""

    kind: Literal["paragraph", "bullets", "numbered", "table", "extract"] = "paragraph"
    title: str = ""  # a sub-heading, or the caption of a table
    columns: list[str] = Field([])  # of a table


class Section(Record):
    """A written part of the report.

    `basis` identifies its heading and its claims with their quotes. An existing section is kept as long as
    its heading still has that basis (`report.outline.is_section_current`).
    """

    key_fields = ("id",)

    id: str
    title: str
    sentences: list[Sentence]
    is_list: bool = False
    is_quoted: bool = False  # quotes replace the written text
    basis: str = ""
    rejected: list[Sentence] = Field([])  # sentences that failed their check
    rewritten: int = 0  # sentences that only passed after a rewrite
    blocks: list[Block] = Field([])  # none: one paragraph, or one list
    kind: Literal["summary", "body", "conclusion"] = "body"


class SummarySentence(Record):
    """A summary sentence proposed by an editor, and the sentences of the draft that it rests on.

    The second wording, if any, is used if the first fails its check.
    """

    text: str
    plainer: str = ""
    rests_on: list[int]


class EditedText(Record):
    """A sentence of the draft by number, and its new text or the text to insert after it."""

    number: int
    text: str


class Repetition(Record):
    """Two sentences, by number, that say the same."""

    number: int
    same_as: int


class Edit(Record):
    """An editor's changes to a checked draft; sentences are numbered from 1 over all sections."""

    title: str = ""
    summary: list[SummarySentence] = Field([])
    changes: list[EditedText] = Field([])
    repetitions: list[Repetition] = Field([])
    cuts: list[int] = Field([])  # sentences without information
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
    printed_pages: list[int] = Field([])  # one per quote, if the source has printed pages
    gone: bool = False  # it could not be read again in an update
    publisher: str = ""
    is_primary: bool = False  # the original source, not a page that repeats it
    retracted: str = ""  # which catalogue says that the paper was retracted
    image: str = ""  # an image on the page that was looked for


# What the reader may expect: see `report.certainty.report_status`.
Status = Literal["complete", "partial", "unsure", "failed", "extracts"]


class Report(Record):
    """The finished report."""

    title: str
    status: Status
    sections: list[Section]
    citations: list[Citation]
    markdown: str
    kind: Literal["report", "extracts"] = "report"  # extracts: passages found without a model
