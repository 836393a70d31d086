"""How a round is planned, as records: the effort, the way of thinking, what earlier queries taught.

Does not know who plans, or by which rules.
"""

from typing import Literal

from pydantic import Field

from fathom.state.records import Family, Record

EffortKind = Literal["fact", "comparison", "survey"]
ToolName = Literal["scientific method", "first principles", "Occam's razor", "falsification"]


class Effort(Record):
    """How much a question is worth: what a run aims at where nobody set it."""

    kind: EffortKind
    questions: int = Field(ge=1)
    rounds: int = Field(ge=1)
    sources: int = Field(ge=1)  # a round
    recall_rounds: int = Field(0, ge=0)  # beyond those, for looking through what a thread knows
    branches: int = Field(ge=1)  # researchers at once, where a strategy has several
    reason: str


class Tool(Record):
    """The way of thinking a round is planned with, and why this one."""

    name: ToolName
    because: str


class Lesson(Record):
    """What was tried and what came of it (Reflexion)."""

    query: str
    text: str
    question: str
    family: Family
    round: int
    pages: int
    claims: int  # new ones, that stand on those pages

    @property
    def key(self) -> str:
        """One lesson a query."""
        return self.query
