"""Events of a run: one record per event, typed by its kind, each one line of JSON."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, ClassVar, Literal, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, SerializeAsAny, ValidationInfo, field_validator

from fathom.budget.prices import CostBy, EngineUse, add_up_costs
from fathom.result import ResearchResult
from fathom.state import (
    Cost,
    Direction,
    Effort,
    Failure,
    Hypothesis,
    Judgement,
    Priority,
    Rejected,
    RunConfig,
    Status,
    Tag,
    ThinkingTool,
)

EventKind = Literal[
    "started",
    "effort sized",
    "plan generated",
    "search started",
    "search completed",
    "extraction started",
    "content extracted",
    "analysis started",
    "analysis completed",
    "sufficiency evaluated",
    "round completed",
    "branch completed",
    "report started",
    "draft",
    "report section",
    "report chunk",
    "report written",
    "report kept",
    "checkpoint",
    "completed",
    "failed",
]
EVENT_KINDS: tuple[EventKind, ...] = get_args(EventKind)
FINAL_KINDS: frozenset[EventKind] = frozenset({"checkpoint", "completed", "failed"})


class _EventRecord(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Spent(_EventRecord):
    """What a run has cost so far, against what it may cost."""

    usd: float = 0.0
    budget_usd: float = 0.0
    tokens_in: int = 0
    tokens_out: int = 0
    calls: int = 0  # of models, not of engines
    saved_calls: int = 0  # of models and engines, which another run was answered
    saved_tokens: int = 0
    saved_usd: float = 0.0

    @classmethod
    def on(cls, costs: Iterable[Cost], budget_usd: float) -> Self:
        """All that these charges say: what was sent is spent, what was known is saved."""
        return cls(budget_usd=budget_usd, **add_up_costs(costs)._asdict())


class Payload(_EventRecord):
    """What one kind of event tells."""

    kind: ClassVar[EventKind]


class Started(Payload):
    """The work on a run begins, or goes on."""

    kind = "started"
    question: str
    run_config: RunConfig
    is_resumed: bool = False


class EffortSized(Payload):
    """What the question is worth, and where branches will look if there are any."""

    kind = "effort sized"
    effort: Effort
    directions: list[Direction] = []
    is_by_words: bool = False  # no model will be asked: passages are found, and nothing is judged


class PlanGenerated(Payload):
    """What a round wants to find out, and how."""

    kind = "plan generated"
    strategy: str
    questions: list[str]
    queries: list[str]
    families: list[str] = []  # of each query
    effort: Effort | None = None
    perspectives: list[str] = []
    tool: ThinkingTool | None = None
    waiting: list[str] = []  # queries that need an answer that is not there yet


class SearchStarted(Payload):
    """One query is on its way."""

    kind = "search started"
    query: str


class SearchCompleted(Payload):
    """What one query found."""

    kind = "search completed"
    query: str
    hits: int
    engines: list[str] = []  # that found something or were paid
    usd: float = 0.0
    lost: list[Failure] = []


class PageName(_EventRecord):
    """A page by what it is called and where it is."""

    title: str
    address: str


class ExtractionStarted(Payload):
    """The pages of the round were chosen and are being read."""

    kind = "extraction started"
    pages: list[PageName]


class ContentExtracted(Payload):
    """One page was fetched, or was lost."""

    kind = "content extracted"
    title: str
    address: str
    chars: int = 0
    lost: list[Failure] = []


class AnalysisStarted(Payload):
    """One page is being understood."""

    kind = "analysis started"
    title: str
    address: str


class AnalysisCompleted(Payload):
    """What one page says that holds, and how much of what was drawn from it was refused."""

    kind = "analysis completed"
    title: str
    address: str
    claims: int
    rejected: int = 0
    statements: list[str] = []  # of the claims
    refused: list[Rejected] = []  # why the others were not believed
    lost: list[Failure] = []


class SufficiencyEvaluated(Payload):
    """How much is known, and whether that is enough."""

    kind = "sufficiency evaluated"
    judgement: Judgement
    threshold: float


class KeyFinding(_EventRecord):
    """One thing that was found, and how sure it is."""

    statement: str
    tag: Tag
    confidence: float


class OutlinePart(_EventRecord):
    """A part of the report as it takes form."""

    title: str
    aim: str = ""
    claims: int = 0
    lacks: str = ""
    priority: Priority = "medium"


class RoundCompleted(Payload):
    """What there is to say of a round once it is over."""

    kind = "round completed"
    round: int
    claims: int
    new_claims: int
    findings: list[KeyFinding] = []  # the last five
    hypotheses: list[Hypothesis] = []  # the active ones, best first
    gaps: list[str] = []
    suggested: list[str] = []  # the three best queries for them
    answered: float = 0.0  # share of the sub-questions that have evidence; weak evidence counts half
    has_high_gap: bool = False  # something important is missing
    is_by_words: bool = False  # without a model: evidence is a passage that may answer
    summary: str = ""
    outline: list[OutlinePart] = []  # the report as it takes form, in reading order
    spent_by: CostBy = CostBy()
    engines: list[EngineUse] = []  # so far, in the order they were first asked


class BranchCompleted(Payload):
    """A branch is back."""

    kind = "branch completed"
    direction: Direction


class ReportStarted(Payload):
    """The report is outlined."""

    kind = "report started"
    sections: list[str]


class ReportDraft(Payload):
    """One part as it was written; nothing of it is checked yet, and it may never be in the report.

    While a model streams its answer, the part is told as far as it is, a few times a second.
    """

    kind = "draft"
    title: str
    text: str
    is_whole: bool = True


class ReportSection(Payload):
    """One section is written and checked; the edit of the whole may still smooth it."""

    kind = "report section"
    title: str
    sentences: list[str]


class ReportChunk(Payload):
    """Checked text, as it settles: a section, and last the summary.

    The edit may still smooth a section after this; the report as it stands is in `report written`.
    """

    kind = "report chunk"
    text: str


class ReportWritten(Payload):
    """The report as a text."""

    kind = "report written"
    status: Status
    markdown: str


class ReportKept(Payload):
    """The report is in the run's state. Its result is for who listens, and never part of a line of JSON."""

    kind = "report kept"
    result: ResearchResult | None = Field(None, exclude=True)


CheckpointReason = Literal["review", "paused", "stopped", "round"]


class Checkpoint(Payload):
    """Everything up to here is kept. After a round the run goes on by itself.

    Otherwise it stands, and can go on: a person is asked, or said pause, or pressed Ctrl-C.
    """

    kind = "checkpoint"
    why: CheckpointReason
    shown: dict[str, Any] = {}  # what is on the table, for a review


class Completed(Payload):
    """The run is over."""

    kind = "completed"
    status: str = ""
    score: float = 0.0
    because: str = ""  # the rule that stopped the looking, with its numbers
    result: ResearchResult | None = Field(None, exclude=True)  # for who listens; in no line of JSON


class Failed(Payload):
    """The run cannot continue by itself; everything so far is saved."""

    kind = "failed"
    error: str
    how_to_go_on: str
    code: str = ""  # of the error behind it (docs/errors.md)


PAYLOADS: dict[EventKind, type[Payload]] = {one.kind: one for one in Payload.__subclasses__()}


class Progress(_EventRecord):
    """One event of a run. Which payload it has, its kind says; `isinstance` and `match` work on it too."""

    kind: EventKind
    run_id: str
    round: int
    limit: int
    elapsed_s: float
    at: datetime
    branch: str = ""  # the id of the branch that tells, if one does
    spent: Spent = Spent()
    payload: SerializeAsAny[Payload]

    @property
    def is_last(self) -> bool:
        """Whether the work ends with this event, or waits to be resumed."""
        is_round = isinstance(self.payload, Checkpoint) and self.payload.why == "round"
        return self.kind in FINAL_KINDS and not is_round

    @field_validator("payload", mode="before")
    @classmethod
    def _of_its_kind(cls, given: Any, told: ValidationInfo) -> Payload:
        """The payload that belongs to the kind, also when it is read back from a line."""
        if "kind" not in told.data:
            raise ValueError("there is no such kind of event")
        return PAYLOADS[told.data["kind"]].model_validate(given)
