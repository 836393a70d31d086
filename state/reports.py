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


class Sentence(Record):
    """One sentence of the report and what it stands on."""

    text: str
    claims: list[str]
    status: Literal["supported", "unsupported", "connective"]
    why: str = ""


class Section(Record):
    """A written part of the report."""

    id: str
    title: str
    sentences: list[Sentence]
    is_list: bool = False

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


class Report(Record):
    """What the reader gets."""

    title: str
    status: Literal["complete", "partial", "failed"]
    sections: list[Section]
    citations: list[Citation]
    markdown: str
