"""Records of planning: earlier runs, directions of branches, effort, forecast, lessons, a user's review."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from fathom.state.evidence import Judgement, Ruling
from fathom.state.records import Claim, Family, Page, Query, Reason, Record, Score, SubQuestion
from fathom.state.report import Outline, Section
from fathom.state.run_config import RunConfig


class Direction(Record):
    """One way to explore the question: the start of a branch, or a node of the search tree."""

    key_fields = ("id",)

    id: str  # b1; b1.2 is its second child
    text: str  # the question of its branch
    angle: str  # why to search there
    parent: str = ""
    level: int = Field(1, ge=1)
    rounds: int = Field(ge=1)  # limits of its branch: rounds, and searches and pages per round
    queries: int = Field(ge=1)
    sources: int = Field(ge=1)
    status: Literal["open", "explored", "empty", "pruned"] = "open"
    score: Score = 0.0  # expected value when it was chosen
    value: Score = 0.0  # actual value: new claims per search
    visits: int = 0  # branches sent here or further down
    asked: int = 0
    pages: int = 0
    claims: int = 0
    given: list[str] = Field([])  # claims of other branches that its branch started with
    leads: list[str] = Field([])  # what its branch would ask next
    because: str = ""  # why its branch stopped, or why none was sent

    def query(self) -> Query:
        """Return the direction as a query of the plan."""
        return Query(id=self.id, text=self.text, question="", round=self.level)

    def limit_config(self, run_config: RunConfig) -> RunConfig:
        """Return the configuration of its branch: a research loop with its own limits."""
        # It may see more pages than it may read, since other branches lease some.
        seen = max(self.sources, run_config.max_sources)
        limits = {"rounds": self.rounds, "queries": self.queries, "sources": seen}
        return run_config.model_copy(update={"strategy": "loop", "review": "off", "endless": False, **limits})


class Forecast(Record):
    """Cost and time of a run before it starts: expected and worst case."""

    expected_usd: float = Field(ge=0)
    worst_usd: float = Field(ge=0)  # the budget, which cannot be exceeded
    expected_s: float = Field(ge=0)
    worst_s: float = Field(ge=0)
    calls: int = Field(ge=0)  # expected model calls
    tokens_in: int = Field(ge=0)
    tokens_out: int = Field(ge=0)
    because: str  # the basis of the figures
    unpriced: list[str] = Field([])  # models without a known price, not included in the figures


EffortKind = Literal["fact", "comparison", "survey"]

ThinkingToolName = Literal["scientific method", "first principles", "Occam's razor", "falsification"]


class Effort(Record):
    """How much work a question deserves: defaults for limits the user did not set."""

    kind: EffortKind
    questions: int = Field(ge=1)
    rounds: int = Field(ge=1)
    sources: int = Field(ge=1)  # per round
    recall_rounds: int = Field(0, ge=0)  # additional rounds to search what a thread knows
    branches: int = Field(ge=1)  # concurrent researchers, where a strategy has several
    reason: str  # in English, for prompts and ledgers
    reasons: list[Reason] = Field([])  # the same to be told in any language; earlier versions had none


class ThinkingTool(Record):
    """The thinking tool of a round's plan, and the reason for it."""

    name: ThinkingToolName
    because: str
    reason: Reason | None = None  # the same to be told in any language; earlier versions had none


class Lesson(Record):
    """What was tried and what it brought (Reflexion)."""

    key_fields = ("query",)

    query: str
    text: str
    question: str
    family: Family
    round: int
    pages: int
    claims: int  # new ones from those pages


Action = Literal["approve", "edit", "feedback", "add", "finish"]


class ReviewAnswer(BaseModel):
    """A user's decision about the plan."""

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
    """The evidence of a thread's runs when they ended."""

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
    """The state of the earlier run when it ended."""

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
