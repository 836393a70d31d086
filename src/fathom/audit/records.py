"""What an audit finds, as records: statements, sources, verdicts, the result, and events on the way."""

from collections import Counter
from functools import cache
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

from fathom.state import ControlTally, Cost, Failure, Quote
from fathom.text.messages import Messages

StatementKind = Literal["fact", "opinion", "transition", "question", "label"]
BlockKind = Literal["heading", "paragraph", "item", "row", "code", "source"]
# How a statement came to its sources: by marks of its own; by the next mark in its paragraph; by those of
# its table's caption or column, of the words that lead to its list, or of its heading; by a line below it.
CitationRule = Literal["own", "next", "caption", "column", "lead-in", "heading", "line below"]
# What a statement claims: that sources say it, that it follows from them, or that it was worked out.
StatementNature = Literal["stated", "inference", "calculation"]
VerdictName = Literal[
    "supported",
    "partly",
    "contradicted",
    "not in the source",
    "source unreachable",
    "source invented",
    "uncited",
]
VERDICTS: tuple[VerdictName, ...] = get_args(VerdictName)
ALARMS: frozenset[VerdictName] = frozenset({"contradicted", "source invented"})
SourceStatus = Literal["read", "archived", "unreachable", "invented", "another topic"]
AuditEventKind = Literal["started", "split", "source read", "checked", "searched", "completed"]


@cache
def audit_phrases(language: str) -> Messages:
    """Return an audit's own words; they are no words of a report (`report.verify` knows those)."""
    return Messages(language, "audit")


class ResultRecord(BaseModel):
    """What audits and evaluations hand out: frozen and strict, and never in a checkpoint."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class CitedSource(ResultRecord):
    """A source that the report names: by a number, a footnote or an address."""

    id: str
    label: str = ""  # as the report names it
    address: str = ""  # empty: the report gives none


class ReportStatement(ResultRecord):
    """One sentence, list item or table row of the report, without its citation marks."""

    id: str
    text: str
    kind: StatementKind
    heading: str = ""
    cites: list[str] = Field(default_factory=list)  # ids of sources
    cited_by: CitationRule = "own"
    nature: StatementNature = "stated"
    calculation: str = ""  # "FORMULA = RESULT", where the report writes it out
    context: str = ""  # what stands before it, where it cannot be understood alone

    @property
    def is_checked(self) -> bool:
        """Whether there is anything to check."""
        return self.kind == "fact"


class ReportBlock(ResultRecord):
    """A block of the report with the statements in it, for showing it again."""

    kind: BlockKind
    text: str = ""  # of headings, code and source lists
    level: int = 0
    statements: list[str] = Field(default_factory=list)


class ReadSource(ResultRecord):
    """A cited source, and what became of reading it."""

    source: CitedSource
    status: SourceStatus
    why: str = ""
    title: str = ""
    published: str = ""
    page: str = ""  # the hash of its text
    read_at: str = ""  # the address it was read at, if it was read
    cited_by: int = 0


class Correction(ResultRecord):
    """What was found elsewhere about a statement that its own sources do not carry."""

    verdict: Literal["supported", "contradicted"]
    title: str
    address: str
    quote: Quote


class AuditVerdict(ResultRecord):
    """The verdict on one statement."""

    statement: str
    verdict: VerdictName
    reason: str = ""  # what is missing, or which words speak against it
    source: str = ""  # id of the source that the quote is from
    quote: Quote | None = None  # the words that carry or contradict it
    nearest: Quote | None = None  # the nearest passage, where nothing carries it
    by: str = "strict rules"
    notes: list[str] = Field(default_factory=list)  # what code found odd
    correction: Correction | None = None


class AuditResult(ResultRecord):
    """A report, audited."""

    id: str
    title: str
    place: str
    language: str
    statements: list[ReportStatement]
    blocks: list[ReportBlock]
    sources: list[ReadSource]
    verdicts: list[AuditVerdict]
    decided_by: str  # the model and its prompt, or "strict rules"
    controls: list[ControlTally] = Field(default_factory=list)
    failures: list[Failure] = Field(default_factory=list)
    costs: list[Cost] = Field(default_factory=list)

    @property
    def counts(self) -> dict[VerdictName, int]:
        """How many statements have each verdict."""
        found = Counter(verdict.verdict for verdict in self.verdicts)
        return {name: found[name] for name in VERDICTS}

    @property
    def has_alarms(self) -> bool:
        """Whether something is contradicted or invented."""
        return any(verdict.verdict in ALARMS for verdict in self.verdicts)

    @property
    def usd(self) -> float:
        """What it cost."""
        return sum(cost.usd for cost in self.costs)

    @property
    def citation_accuracy(self) -> float | None:
        """The share of cited statements that a source supports (FACT); None if nothing is cited.

        What cannot be reached now says nothing about the report, and does not count.
        """
        cited = [one for one in self.verdicts if one.verdict not in {"uncited", "source unreachable"}]
        return self.effective_citations / len(cited) if cited else None

    @property
    def effective_citations(self) -> int:
        """How many statements a cited source supports."""
        return sum(verdict.verdict == "supported" for verdict in self.verdicts)


class AuditEvent(ResultRecord):
    """What an audit tells while it works: `done` of `total`, and what it has cost."""

    kind: AuditEventKind
    audit_id: str
    what: str = ""
    done: int = 0
    total: int = 0
    usd: float = 0.0
    budget_usd: float = 0.0
    result: AuditResult | None = Field(None, description="With the last event.")
