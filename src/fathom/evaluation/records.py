"""What an evaluation is given and finds, as records."""

from typing import Literal

from pydantic import Field

from fathom.audit.records import ResultRecord
from fathom.state import Cost, Failure

Dimension = Literal["comprehensiveness", "insight", "instruction_following", "readability"]
DIMENSIONS: tuple[Dimension, ...] = ("comprehensiveness", "insight", "instruction_following", "readability")
Preference = Literal["first", "second", "tie"]


class EvalTask(ResultRecord):
    """A question to research, with its own pages and a reference report where the task has them."""

    name: str
    question: str
    docs: list[str] = Field(default_factory=list)
    reference: str = ""  # the text of a report


class Criterion(ResultRecord):
    """One criterion of a dimension."""

    dimension: Dimension
    text: str
    weight: float = Field(ge=0)


class TaskRubric(ResultRecord):
    """The criteria of one task; weights of dimensions, and of the criteria of each, add up to 1."""

    weights: dict[Dimension, float]
    criteria: list[Criterion]


class RaceScore(ResultRecord):
    """The scores of one report from 0 to 10, and relative to the reference, where 0.5 is as good."""

    dimensions: dict[Dimension, float]
    overall: float
    reference: float | None = None  # the overall score of the reference
    relative: float | None = None


class EvalReport(ResultRecord):
    """A report of one tool on one task, with its scores."""

    tool: str
    task: str
    repeat: int = 1
    place: str = ""
    is_reference: bool = False  # of its task: it is scored beside the others, not against itself
    race: RaceScore | None = None
    citation_accuracy: float | None = None  # FACT: the share of cited statements that are supported
    effective_citations: int | None = None  # FACT: how many are
    audit: str = ""  # a page with every verdict behind the two
    audited_by: str = ""
    usd: float = 0.0


class PairOutcome(ResultRecord):
    """Which of two tools' reports on a task a judge prefers, in both orders."""

    task: str
    tool: str
    other: str
    repeat: int = 1
    preferred: Preference  # first: `tool`


class Interval(ResultRecord):
    """A mean and its 95 % confidence interval; none from a single value."""

    count: int
    mean: float
    low: float | None = None
    high: float | None = None


class ToolSummary(ResultRecord):
    """One line of the table."""

    tool: str
    relative: Interval | None = None
    overall: Interval | None = None
    dimensions: dict[Dimension, float] = Field(default_factory=dict)
    citation_accuracy: Interval | None = None
    effective_citations: Interval | None = None
    usd: Interval | None = None
    wins: int = 0  # of the own reports against this tool's
    ties: int = 0
    losses: int = 0


class EvalResult(ResultRecord):
    """A whole evaluation."""

    id: str
    judge: str
    tasks: list[str]
    reports: list[EvalReport]
    pairs: list[PairOutcome] = Field(default_factory=list)
    summaries: list[ToolSummary] = Field(default_factory=list)
    failures: list[Failure] = Field(default_factory=list)
    costs: list[Cost] = Field(default_factory=list)

    @property
    def usd(self) -> float:
        """What the judging cost; what the reports cost stands with them."""
        return sum(cost.usd for cost in self.costs)
