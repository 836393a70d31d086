"""Input and output records of a research model. They are not part of checkpoints."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, Literal, TypeVar

from fathom.state import (
    Check,
    CheckName,
    Claim,
    Contradiction,
    Cost,
    Effort,
    EffortKind,
    Failure,
    Finding,
    Gap,
    Heading,
    Hit,
    Hypothesis,
    Lesson,
    Outline,
    Page,
    Query,
    Reason,
    Rejected,
    Reread,
    Rubric,
    Ruling,
    Section,
    Sentence,
    SentenceKind,
    StopReason,
    SubQuestion,
    ThinkingTool,
    ThreadTurn,
)


@dataclass(frozen=True)
class PageExcerpt:
    """The relevant part of one page."""

    page: str
    title: str
    text: str


@dataclass(frozen=True)
class LinkPaths:
    """Links between the pages read so far; ids are the hashes of their texts."""

    question: str
    read: dict[str, PageExcerpt]
    weights: dict[str, float]
    covered: dict[str, frozenset[str]]
    own: dict[str, float]
    links: dict[tuple[str, str], float]
    worth: dict[str, float] = field(default_factory=dict)
    best: list[str] = field(default_factory=list)
    leads: list[str] = field(default_factory=list)  # queries worth asking next

    def share(self, words: frozenset[str] | set[str]) -> float:
        """Return the weight of some of the question's words, as a share of all."""
        return sum(self.weights[w] for w in words) / (sum(self.weights.values()) or 1.0)


@dataclass(frozen=True)
class SentenceToCheck:
    """A sentence to check, with the claims that support it."""

    statement: str  # for a table cell: caption, row, column and value
    kind: SentenceKind | Literal["title"]
    claims: Sequence[str]  # ids
    calculation: str = ""  # the formula with its operands, and the result that code computes
    rests_on: Sequence[str] = ()  # checked sentences that a summary sentence rests on
    limits: Sequence[str] = ()  # what is known to be missing, for a sentence that says so
    nowhere: Sequence[str] = ()  # its words that stand nowhere in its sources, for one that says so


@dataclass(frozen=True)
class SourceText:
    """A page to write from: its author and date, and the passages around its quotes."""

    page: str  # its hash
    title: str
    publisher: str = ""
    author: str = ""
    published: str = ""
    passages: str = ""


T = TypeVar("T")


@dataclass(frozen=True)
class ModelResult(Generic[T]):
    """The answer of a research model, its costs, and what failed on the way."""

    value: T
    costs: list[Cost] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    by: str = ""  # the model and the revision of its prompt; empty when code answered


@dataclass(frozen=True)
class PlanInput:
    """What a planner knows when it plans a round."""

    question: str
    round: int
    limit: int
    questions: Sequence[SubQuestion] = ()
    asked: Sequence[Query] = ()
    gaps: Sequence[Gap] = ()
    findings: Sequence[Claim] = ()
    scouted: Sequence[Hit] = ()
    feedback: str = ""
    proposed: Sequence[Query] = ()
    memory: Sequence[str] = ()  # the last rounds, one line each
    effort: Effort | None = None
    tool: ThinkingTool | None = None
    outlines: Sequence[str] = ()  # the headings of what a first search found
    perspectives: Sequence[str] = ()
    answers: Mapping[str, str] = field(default_factory=dict)  # to sub-questions that others need
    waiting: Sequence[Query] = ()  # queries that had to wait for those answers
    lessons: Sequence[Lesson] = ()
    approach: Reason | None = None  # what must change if the run goes in circles
    leads: Sequence[str] = ()  # queries that the pages read so far suggest, most promising first
    sure: Mapping[str, float] = field(default_factory=dict)  # confidence of each finding, by id
    times_said: int = 1  # how often the same feedback was given
    thread: Sequence[ThreadTurn] = ()  # earlier questions and answers, for a follow-up
    is_new_way: bool = False  # the feedback is the direction of a fork, which its report must answer
    today: str = ""  # ISO date without time, so that prompts of the same round are equal
    limits: str = ""  # what the round may still do, as text
    outline: Outline | None = None  # the current report outline; its thin parts are missing evidence
    hypotheses: Sequence[Hypothesis] = ()  # the active ones, best first
    rereads: Sequence[Reread] = ()  # stored pages that this round reads again for a gap


@dataclass(frozen=True)
class ExtractedStatement:
    """A statement that a model extracted from a page, not yet verified.

    A paraphrase or a falsehood is no claim but a control for the verifier (`evidence.controls`).
    """

    statement: str
    quote: str
    question: str
    relevance: float
    more_quotes: Sequence[str] = ()
    resolved: str = ""  # which pronouns and relative dates were resolved, and how
    kind: Literal["claim", "paraphrase", "falsehood"] = "claim"
    original: str = ""  # for a falsehood: the source's words that were changed
    changed: str = ""  # for a falsehood: what they were changed to


@dataclass(frozen=True)
class PageFacts:
    """What is known of a page besides its text; `today` is the day of the run."""

    publisher: str = ""
    author: str = ""
    published: str = ""
    today: str = ""


NO_FACTS = PageFacts()


@dataclass(frozen=True)
class VerificationItem:
    """A statement with its quotes and their context. Statements of one page share one context."""

    statement: str
    quote: str
    context: str
    notes: Sequence[str] = ()  # what code finds suspicious
    resolved: str = ""


@dataclass(frozen=True)
class RefusedClaim:
    """A refused claim and the reason; new quotes may come from its context only."""

    statement: str
    quote: str
    context: str
    reason: str


@dataclass(frozen=True)
class JudgeInput:
    """What a judge knows at the end of a round."""

    question: str
    questions: Sequence[SubQuestion]
    claims: Sequence[Claim]
    checks: Sequence[Check] = ()
    hypotheses: Sequence[Hypothesis] = ()
    link_paths: LinkPaths | None = None  # links between the pages read so far
    before: Sequence[str] = ()  # the pages that were the evidence a round ago, best first
    findings: Sequence[Finding] = ()
    contradictions: Sequence[Contradiction] = ()  # found by rules
    pages: Sequence[Page] = ()  # the sources of the claims
    rejected: Sequence[Rejected] = ()  # refused claims, by page and reason
    gaps: Sequence[Gap] = ()  # gaps of the round before
    outline: Outline | None = None  # the report outline of the round before
    kind: EffortKind = "survey"  # of the question; it shapes the outline
    limits: str = ""  # what the run may still do, as text
    today: str = ""  # ISO 8601, the day only
    language: str | None = None  # of the report; None: the question's


@dataclass(frozen=True)
class HypothesisEvidence:
    """The ids of claims for and against a hypothesis."""

    hypothesis: str
    supporting: list[str]
    contradicting: list[str]


@dataclass(frozen=True)
class Assessment:
    """A judge's answer: rubric, gaps, rulings, evidence for hypotheses, confidence and the outline."""

    rubric: Rubric
    gaps: list[Gap]
    rulings: list[Ruling] = field(default_factory=list)
    confidence: float = 0.0
    bearings: list[HypothesisEvidence] = field(default_factory=list)
    settled: StopReason | None = None  # why another round would not change the evidence, if so
    why_not_converged: str = ""  # why another round would change it
    outline: Outline | None = None  # None: the judge made none
    failed: Sequence[CheckName] | None = None  # confirmed suspicions; None: no model read the evidence
    is_by_words: bool = False  # no model read the claims: they were counted by shared words


@dataclass(frozen=True)
class ReportPoint:
    """Material of a report: a finding with its usable claims, strongest first."""

    finding: Finding
    claims: Sequence[Claim]

    @property
    def ids(self) -> list[str]:
        """Return the ids of its claims: a sentence on this point rests on all of them."""
        return [claim.id for claim in self.claims]


@dataclass(frozen=True)
class WriteInput:
    """What the writer of some parts of the report, in most runs all of them, knows."""

    question: str
    headings: Sequence[Heading]  # the parts to write
    points: Sequence[ReportPoint]
    outline: Outline  # of the whole report
    sources: Sequence[SourceText] = ()
    lengths: Mapping[str, int] = field(default_factory=dict)  # target words of each part
    today: str = ""
    limits: Sequence[str] = ()  # what the evidence lacks


@dataclass(frozen=True)
class Objection:
    """A sentence that its claims do not support, by its index among the sentences to check.

    Or an inference that they state outright: no fault, but it is a fact. `instead` is what can be said.
    """

    sentence: int
    why: str
    is_stated: bool = False
    instead: str = ""


@dataclass(frozen=True)
class RewriteInput:
    """Sentences without support in their evidence, and the material to rewrite them from."""

    question: str
    sentences: Sequence[Sentence]
    points: Sequence[ReportPoint]  # all of the chapter, so that each has the key it had for the writer
    sources: Sequence[SourceText] = ()
    limits: Sequence[str] = ()
    usable: frozenset[str] = frozenset()  # the claims to show; none named: all
    neighbours: Sequence[tuple[str, str]] = ()  # of each sentence: the text before and after it


@dataclass(frozen=True)
class EditInput:
    """A checked draft, for one editing pass over the whole of it."""

    question: str
    title: str
    sections: Sequence[Section]
    words: int = 0
    today: str = ""
    limits: Sequence[str] = ()  # what the evidence lacks
