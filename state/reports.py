"""The report as records: outline, sections, sentences, citations.

Does not know who writes, checks or prints them.
"""

from typing import Literal

from pydantic import Field

from fathom.state.records import Quote, Record


class Heading(Record):
    """A section the report will have, and the claims it is written from."""

    id: str
    title: str
    question: str
    claims: list[str]


class Outline(Record):
    """The report before it is written."""

    title: str
    headings: list[Heading]
    question: str = ""  # what it answers
    seen: list[str] = Field([])  # every claim that was known when it was made, also those under no heading


# What is wrong with a sentence: it names no claim that exists, it states something and names none, code found
# something in it that its quotes do not have, or a mind did.
Fault = Literal["unknown", "uncited", "facts", "meaning"]


class Sentence(Record):
    """One sentence of the report and what it stands on."""

    text: str
    claims: list[str]
    status: Literal["supported", "unsupported", "connective"]
    why: str = ""
    fault: Fault | None = None


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

    @property
    def key(self) -> str:
        """One entry per heading."""
        return self.id


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


# What the reader may expect: see `fathom.report.ending`.
Status = Literal["complete", "partial", "unsure", "failed"]


class Report(Record):
    """What the reader gets."""

    title: str
    status: Status
    sections: list[Section]
    citations: list[Citation]
    markdown: str
