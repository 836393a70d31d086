"""What a run takes over from earlier ones: forks, follow-ups in a thread, and updates."""

from typing import Literal

from pydantic import Field

from fathom.state.evidence import Judgement, Ruling
from fathom.state.records import Claim, Page, Query, Record, SubQuestion
from fathom.state.report import Outline, Section


class Fork(Record):
    """The run and round that a fork branches off from, and its new direction."""

    run: str
    round: int = Field(ge=1)
    direction: str


class ThreadTurn(Record):
    """One question of a thread, and the beginning of its answer."""

    run: str
    question: str
    answer: str
    ended: str  # ISO 8601, with its zone


class ThreadKnowledge(Record):
    """What the runs of a thread knew when they ended."""

    turns: list[ThreadTurn] = Field(min_length=1)  # in the order asked; the last is the one followed up
    pages: list[Page] = Field([])  # one per address; their texts are stored
    claims: list[Claim] = Field([])  # drawn from those pages, for the sub-questions of their runs
    is_recalled: bool = False  # the relevant part is in the state, and the rest was dropped

    @property
    def is_at_hand(self) -> bool:
        """Tell whether there is evidence that was not yet searched for the new question."""
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
    offered: list[str]  # canonical addresses of all hits that are not new, read or not
    judgements: list[Judgement]
    rulings: list[Ruling]
    outline: Outline | None
    sections: list[Section]


class Change(Record):
    """One difference to the earlier run; sections are listed even if unchanged."""

    kind: ChangeKind
    what: str
    why: str = ""


class RunUpdate(Record):
    """Which run was updated, and everything that changed since it ended."""

    run: str
    since: str
    changes: list[Change]
