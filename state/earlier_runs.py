"""What a run that updates another one begins with, and what it found to be different.

Does not know how a page is read again or a section written.
"""

from typing import Literal

from pydantic import Field

from fathom.state.evidence import Ruling
from fathom.state.judgement import Judgement
from fathom.state.records import Claim, Page, Query, Record, SubQuestion
from fathom.state.report import Outline, Section


class Fork(Record):
    """The run and the round that a fork shares everything up to, and where it went from there."""

    run: str
    round: int = Field(ge=1)
    direction: str


class ThreadTurn(Record):
    """One question of a thread, and the first words of its answer."""

    run: str
    question: str
    answer: str
    ended: str  # ISO 8601, with its zone


class ThreadKnowledge(Record):
    """What the runs of a thread knew when they ended."""

    turns: list[ThreadTurn] = Field(
        min_length=1
    )  # in the order they were asked; the last is what is followed
    pages: list[Page] = Field([])  # one an address; their texts are kept
    claims: list[Claim] = Field([])  # drawn from those pages, for the sub-questions of their time
    is_recalled: bool = False  # what bears on the new question is in the state, and the rest was let go

    @property
    def is_at_hand(self) -> bool:
        """Whether there is evidence that nobody has looked through for the new question yet."""
        return bool(self.pages) and not self.is_recalled


ChangeKind = Literal[
    "page changed",
    "page gone",
    "page back",
    "page new",
    "claim gone",
    "claim new",
    "section rewritten",
    "section new",
    "section gone",
    "section untouched",
]


class EarlierRun(Record):
    """What the earlier run knew when it ended."""

    run: str
    ended: str  # the day, as YYYY-MM-DD
    pages: list[Page]
    claims: list[Claim]
    questions: list[SubQuestion]
    asked: list[Query]
    offered: list[str]  # canonical addresses of all that was found and is not new, read or not
    judgements: list[Judgement]
    rulings: list[Ruling]
    outline: Outline | None
    sections: list[Section]


class Change(Record):
    """One thing that is not what it was; of sections also that they are."""

    kind: ChangeKind
    what: str
    why: str = ""


class RunUpdate(Record):
    """Which run was updated, and everything that changed since it ended."""

    run: str
    since: str
    changes: list[Change]
