"""Model io."""

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
    """The telling part of one page."""

    page: str
    title: str
    text: str


@dataclass(frozen=True)
class LinkPaths:
    """The pages that were read, weighed together; ids are the hashes of their texts."""

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
        """How much of the question some of its words are."""
        return sum(self.weights[w] for w in words) / (sum(self.weights.values()) or 1.0)


@dataclass(frozen=True)
class SentenceToCheck:
    """A sentence as its checker sees it, with the claims it stands on."""

    statement: str  # of a table's cell: caption, row, column and value
    kind: SentenceKind
    claims: Sequence[str]  # ids
    suspicions: Sequence[str] = ()  # what code finds odd about it
    calculation: str = ""  # the formula with its operands, and what code makes of it
    rests_on: Sequence[str] = ()  # sentences that were checked before, for one that sums them up


@dataclass(frozen=True)
class SourceText:
    """A page that is written from: who says it and when, and the passages around its quotes."""

    page: str  # its hash
    title: str
    publisher: str = ""
    author: str = ""
    published: str = ""
    passages: str = ""


T = TypeVar("T")


@dataclass(frozen=True)
class ModelResult(Generic[T]):
    """What a mind came up with, what that cost, and what it could not do on the way."""

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
    memory: Sequence[str] = ()  # the last rounds, a line each
    effort: Effort | None = None
    tool: ThinkingTool | None = None
    outlines: Sequence[str] = ()  # the headings of what a first search found
    perspectives: Sequence[str] = ()
    answers: Mapping[str, str] = field(default_factory=dict)  # to sub-questions that others need
    waiting: Sequence[Query] = ()  # what could not be asked before those answers
    lessons: Sequence[Lesson] = ()
    approach: str = ""  # what must change, when the run goes round in circles
    leads: Sequence[str] = ()  # where the pages read so far lead to, most promising first
    sure: Mapping[str, float] = field(default_factory=dict)  # how sure each finding is, by its id
    times_said: int = 1  # how often the feedback was given in these words
    thread: Sequence[ThreadTurn] = ()  # what was asked and answered before, for a follow-up
    is_new_way: bool = False  # the feedback is the direction of a fork, which its report is to answer
    today: str = ""  # ISO 8601, the day only, so that the same round is asked for in the same words
    limits: str = ""  # what the round may still do, in words
    outline: Outline | None = None  # the report as it stands; its thin parts are what is missing
    hypotheses: Sequence[Hypothesis] = ()  # the active ones, best first
    rereads: Sequence[Reread] = ()  # pages at hand that this round reads again for a gap


@dataclass(frozen=True)
class ExtractedStatement:
    """What a mind says a page says; nothing of it is believed yet.

    A paraphrase or a falsehood is no claim: it tests whether a verifier looks (`evidence.controls`).
    """

    statement: str
    quote: str
    question: str
    relevance: float
    more_quotes: Sequence[str] = ()
    resolved: str = ""  # which pronouns and relative dates it puts into words, and how
    kind: Literal["claim", "paraphrase", "falsehood"] = "claim"
    original: str = ""  # of a falsehood: the source's words that were changed
    changed: str = ""  # of a falsehood: what they were changed to


@dataclass(frozen=True)
class PageFacts:
    """What is known of a page beside its text; `today` is the day of the run."""

    publisher: str = ""
    author: str = ""
    published: str = ""
    today: str = ""


NO_FACTS = PageFacts()


@dataclass(frozen=True)
class VerificationItem:
    """A statement with the page's own words and what stands around them.

    Statements of one page share one context.
    """

    statement: str
    quote: str
    context: str
    notes: Sequence[str] = ()  # what code finds odd
    resolved: str = ""


@dataclass(frozen=True)
class RefusedClaim:
    """A claim that was refused, and why; its context is all that other quotes may come from."""

    statement: str
    quote: str
    context: str
    reason: str


@dataclass(frozen=True)
class JudgeInput:
    """What a judge knows when a round is over."""

    question: str
    questions: Sequence[SubQuestion]
    claims: Sequence[Claim]
    checks: Sequence[Check] = ()
    hypotheses: Sequence[Hypothesis] = ()
    link_paths: LinkPaths | None = None  # how the pages read so far lead to each other
    before: Sequence[str] = ()  # the pages that were the evidence a round ago, best first
    findings: Sequence[Finding] = ()
    contradictions: Sequence[Contradiction] = ()  # those that rules found
    pages: Sequence[Page] = ()  # what the claims were drawn from
    rejected: Sequence[Rejected] = ()  # what was found and refused, by page and reason
    gaps: Sequence[Gap] = ()  # what was missing a round ago
    outline: Outline | None = None  # the report as it stood a round ago
    kind: EffortKind = "survey"  # of the question; it shapes the outline
    limits: str = ""  # what the run may still do, in words
    today: str = ""  # ISO 8601, the day only
    language: str | None = None  # of the report; None: the question's


@dataclass(frozen=True)
class HypothesisEvidence:
    """Which claims speak for a hypothesis and which against it, by their ids."""

    hypothesis: str
    supporting: list[str]
    contradicting: list[str]


@dataclass(frozen=True)
class Assessment:
    """How good the evidence is, what it lacks, how the pairs stand to each other, which claims bear on which
    hypothesis, how sure it is that every sub-question is answered, and the report as it now takes form."""

    rubric: Rubric
    gaps: list[Gap]
    rulings: list[Ruling] = field(default_factory=list)
    confidence: float = 0.0
    bearings: list[HypothesisEvidence] = field(default_factory=list)
    settled: StopReason | None = None  # why another round would not change the evidence, when it would not
    why_not_converged: str = ""  # why it would
    outline: Outline | None = None  # None: whoever judged made none
    failed: Sequence[CheckName] | None = None  # suspected checks that do fail; None: nobody read the evidence
    is_by_words: bool = False  # nobody read the claims: they were counted by the words they share


@dataclass(frozen=True)
class ReportPoint:
    """What a report is made of: a finding, with those of its claims that may be used, strongest first."""

    finding: Finding
    claims: Sequence[Claim]

    @property
    def ids(self) -> list[str]:
        """Its claims by id: who stands on the point stands on all of them."""
        return [claim.id for claim in self.claims]


@dataclass(frozen=True)
class SectionInput:
    """What the writer of one part of the report knows."""

    question: str
    heading: Heading
    points: Sequence[ReportPoint]
    outline: Outline
    sources: Sequence[SourceText] = ()
    words: int = 0  # to aim at
    today: str = ""
    is_table_wanted: bool = False


@dataclass(frozen=True)
class Objection:
    """A sentence, by its place among those that were to be checked, that its claims do not carry."""

    sentence: int
    why: str


@dataclass(frozen=True)
class RewriteInput:
    """Sentences that their evidence does not carry, and what they may be written from."""

    question: str
    sentences: Sequence[Sentence]
    points: Sequence[ReportPoint]
    sources: Sequence[SourceText] = ()


@dataclass(frozen=True)
class EditInput:
    """A checked draft, for one pass over the whole of it."""

    question: str
    title: str
    sections: Sequence[Section]
    words: int = 0
    today: str = ""
