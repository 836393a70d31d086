"""How a round is planned, as records: the effort, the way of thinking, what earlier queries taught.

Does not know who plans, or by which rules.
"""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from fathom.state.records import Family, Query, Record, Score
from fathom.state.run_config import RunConfig


class Direction(Record):
    """One way to look into the question: a seed of a rollout, or a node of the search tree."""

    id: str  # b1, and b1.2 for the second that came out of it
    text: str  # what its branch asks
    angle: str  # why it looks there
    parent: str = ""
    level: int = Field(1, ge=1)
    rounds: int = Field(ge=1)  # what its branch may use: rounds, and searches and pages a round
    queries: int = Field(ge=1)
    sources: int = Field(ge=1)
    status: Literal["open", "explored", "empty", "pruned"] = "open"
    score: Score = 0.0  # what it promised when it was chosen
    value: Score = 0.0  # what it brought: new claims a search
    visits: int = 0  # branches that were sent here or further down
    asked: int = 0
    pages: int = 0
    claims: int = 0
    given: list[str] = Field([])  # claims of other branches that its branch began with
    leads: list[str] = Field([])  # what its branch would ask next
    because: str = ""  # why its branch stopped, or why nobody went

    @property
    def key(self) -> str:
        """One entry per id."""
        return self.id

    def query(self) -> Query:
        """The same as a plan shows it."""
        return Query(id=self.id, text=self.text, question="", round=self.level)

    def within(self, run_config: RunConfig) -> RunConfig:
        """The knobs its branch works with: a loop of its own, within its own limits."""
        # It may see more than it may read: what other branches took is not for it.
        seen = max(self.sources, run_config.max_sources)
        limits = {"rounds": self.rounds, "queries": self.queries, "sources": seen}
        return run_config.model_copy(update={"strategy": "loop", "review": "off", "endless": False, **limits})


class Forecast(Record):
    """Cost and time before a run begins: what is likely, and the worst."""

    expected_usd: float = Field(ge=0)
    worst_usd: float = Field(ge=0)  # the budget: it cannot be exceeded
    expected_s: float = Field(ge=0)
    worst_s: float = Field(ge=0)
    calls: int = Field(ge=0)  # of models, expected
    tokens_in: int = Field(ge=0)
    tokens_out: int = Field(ge=0)
    because: str  # what the figures rest on
    unpriced: list[str] = Field([])  # models that no price is known for: the figures leave them out


EffortKind = Literal["fact", "comparison", "survey"]

ThinkingToolName = Literal["scientific method", "first principles", "Occam's razor", "falsification"]


class Effort(Record):
    """How much a question is worth: what a run aims at where nobody set it."""

    kind: EffortKind
    questions: int = Field(ge=1)
    rounds: int = Field(ge=1)
    sources: int = Field(ge=1)  # a round
    recall_rounds: int = Field(0, ge=0)  # beyond those, for looking through what a thread knows
    branches: int = Field(ge=1)  # researchers at once, where a strategy has several
    reason: str


class ThinkingTool(Record):
    """The way of thinking a round is planned with, and why this one."""

    name: ThinkingToolName
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


Action = Literal["approve", "edit", "feedback", "add", "finish"]


class ReviewAnswer(BaseModel):
    """One decision about the plan on the table."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    action: Action = Field(
        description="approve: go on with the plan. edit: go on with the queries and sub-questions given here."
        " feedback: plan again, with what is said in text. add: go on, with the query in text beside the"
        " others. finish: look no further and write the report now."
    )
    queries: list[str] = Field(
        [], description="For edit: the queries to send, all of them; empty: those of the plan."
    )
    questions: list[str] = Field(
        [],
        description="For edit: the sub-questions to answer, all of them; empty: those of the plan. One that"
        " evidence was found for stays.",
    )
    text: str = Field(
        "", max_length=2000, description="For feedback: what to change, in your words. For add: the query."
    )

    @model_validator(mode="after")
    def _has_what_it_needs(self) -> "ReviewAnswer":
        if self.action == "edit" and not any(q.strip() for q in [*self.queries, *self.questions]):
            raise ValueError("edit needs at least one query or sub-question")
        if self.action in {"feedback", "add"} and not self.text.strip():
            raise ValueError(f"{self.action} needs text")
        return self
