"""What a run that updates another one begins with, and what it found to be different.

Does not know how a page is read again or a section written.
"""

from typing import Literal

from fathom.state.judging import Judgement
from fathom.state.records import Claim, Page, Query, Record, SubQuestion
from fathom.state.reports import Outline, Section
from fathom.state.weighing import Ruling

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


class Earlier(Record):
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


class Update(Record):
    """Which run was updated, and everything that changed since it ended."""

    run: str
    since: str
    changes: list[Change]
