"""What every mind promises: the verbs the nodes need, and what they give and get.

Does not know models, prompts or graphs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, Literal, Protocol, TypeVar

from fathom.evidence.derivation import Passage
from fathom.evidence.trails import Trails
from fathom.report.drafts import CheckItem
from fathom.report.material import SourceText
from fathom.state import (
    Check,
    CheckName,
    Claim,
    Contradiction,
    Cost,
    Edit,
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
    Plan,
    Query,
    Rejected,
    Reread,
    Rubric,
    Ruling,
    Section,
    Sentence,
    SubQuestion,
    Tool,
    Turn,
    Verdict,
)

T = TypeVar("T")


@dataclass(frozen=True)
class Thought(Generic[T]):
    """What a mind came up with, what that cost, and what it could not do on the way."""

    value: T
    costs: list[Cost] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    by: str = ""  # the model and the revision of its prompt; empty when code answered


@dataclass(frozen=True)
class Brief:
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
    tool: Tool | None = None
    outlines: Sequence[str] = ()  # the headings of what a first search found
    perspectives: Sequence[str] = ()
    answers: Mapping[str, str] = field(default_factory=dict)  # to sub-questions that others need
    waiting: Sequence[Query] = ()  # what could not be asked before those answers
    lessons: Sequence[Lesson] = ()
    approach: str = ""  # what must change, when the run goes round in circles
    leads: Sequence[str] = ()  # where the pages read so far lead to, most promising first
    sure: Mapping[str, float] = field(default_factory=dict)  # how sure each finding is, by its id
    times_said: int = 1  # how often the feedback was given in these words
    thread: Sequence[Turn] = ()  # what was asked and answered before, for a follow-up
    is_new_way: bool = False  # the feedback is the direction of a fork, which its report is to answer
    today: str = ""  # ISO 8601, the day only, so that the same round is asked for in the same words
    limits: str = ""  # what the round may still do, in words
    outline: Outline | None = None  # the report as it stands; its thin parts are what is missing
    hypotheses: Sequence[Hypothesis] = ()  # the active ones, best first
    rereads: Sequence[Reread] = ()  # pages at hand that this round reads again for a gap


@dataclass(frozen=True)
class Draft:
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
class Evidence:
    """A statement with the page's own words and what stands around them.

    Statements of one page share one context.
    """

    statement: str
    quote: str
    context: str
    notes: Sequence[str] = ()  # what code finds odd
    resolved: str = ""


@dataclass(frozen=True)
class Refusal:
    """A claim that was refused, and why; its context is all that other quotes may come from."""

    statement: str
    quote: str
    context: str
    reason: str


@dataclass(frozen=True)
class Case:
    """What a judge knows when a round is over."""

    question: str
    questions: Sequence[SubQuestion]
    claims: Sequence[Claim]
    pairs: Sequence[tuple[Claim, Claim]] = ()  # alike, and no rule says how they stand to each other
    checks: Sequence[Check] = ()
    hypotheses: Sequence[Hypothesis] = ()
    trails: Trails | None = None  # how the pages read so far lead to each other
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
class Bearing:
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
    bearings: list[Bearing] = field(default_factory=list)
    settled: str = ""  # why another round would not change the evidence, when it would not
    unsettled: str = ""  # why it would
    outline: Outline | None = None  # None: whoever judged made none
    failed: Sequence[CheckName] | None = None  # suspected checks that do fail; None: nobody read the evidence
    is_by_words: bool = False  # nobody read the claims: they were counted by the words they share


@dataclass(frozen=True)
class Point:
    """What a report is made of: a finding, with those of its claims that may be used, strongest first."""

    finding: Finding
    claims: Sequence[Claim]

    @property
    def ids(self) -> list[str]:
        """Its claims by id: who stands on the point stands on all of them."""
        return [claim.id for claim in self.claims]


@dataclass(frozen=True)
class SectionBrief:
    """What the writer of one part of the report knows."""

    question: str
    heading: Heading
    points: Sequence[Point]
    outline: Outline
    sources: Sequence[SourceText] = ()
    words: int = 0  # to aim at
    today: str = ""
    is_table_wanted: bool = False


@dataclass(frozen=True)
class CheckBrief:
    """Sentences to be checked, and their evidence."""

    items: Sequence[CheckItem]
    claims: Sequence[Claim]
    passages: Mapping[str, Passage]  # by the id of their claim


@dataclass(frozen=True)
class Objection:
    """A sentence, by its place among those that were to be checked, that its claims do not carry."""

    sentence: int
    why: str


@dataclass(frozen=True)
class Revision:
    """Sentences that their evidence does not carry, and what they may be written from."""

    question: str
    sentences: Sequence[Sentence]
    points: Sequence[Point]
    sources: Sequence[SourceText] = ()


@dataclass(frozen=True)
class EditBrief:
    """A checked draft, for one pass over the whole of it."""

    question: str
    title: str
    sections: Sequence[Section]
    words: int = 0
    today: str = ""


class ResearchModel(Protocol):
    """Thinks; raises a ProviderError when it cannot."""

    async def plan(self, brief: Brief) -> Thought[Plan]:
        """Sub-questions and the next queries."""

    async def read(
        self,
        question: str,
        questions: Sequence[SubQuestion],
        title: str,
        text: str,
        sought: SubQuestion | None = None,
        facts: PageFacts = NO_FACTS,
    ) -> Thought[list[Draft]]:
        """What one page says about the sub-questions, and about the follow-up that found it."""

    async def verify(self, evidence: Sequence[Evidence]) -> Thought[list[Verdict]]:
        """One verdict for each piece of evidence, in order."""

    async def retry(self, refusals: Sequence[Refusal]) -> Thought[list[Draft | None]]:
        """Each refused claim restated or with other quotes, in order; None where nothing can be mended."""

    async def judge(self, case: Case) -> Thought[Assessment]:
        """Quality by rubric, and the gaps."""

    async def outline(
        self, question: str, questions: Sequence[SubQuestion], points: Sequence[Point]
    ) -> Thought[Outline]:
        """Headings, each with the claims it is written from."""

    async def write(self, brief: SectionBrief) -> Thought[Section]:
        """One part of the report in blocks, each sentence with the claims it stands on."""

    async def check(self, brief: CheckBrief) -> Thought[list[Objection]]:
        """The sentences that their claims do not carry."""

    async def refute(self, brief: CheckBrief) -> Thought[list[Objection]]:
        """The same from the other side: what the evidence gives against the main conclusions."""

    async def rewrite(self, revision: Revision) -> Thought[list[Sentence]]:
        """Each sentence anew, in order; one without text where nothing can be said instead."""

    async def edit(self, brief: EditBrief) -> Thought[Edit]:
        """A summary, and what would make the draft read as one text; citations are not the editor's."""
