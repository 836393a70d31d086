"""Records of evidence: drafts, controls, findings, contradictions, gaps, hypotheses, judgements."""

from typing import Literal

from pydantic import AliasChoices, Field, field_validator

from fathom.state.records import Quote, Reason, Record, Score, SubQuestion, short_hash
from fathom.state.report import Priority

ControlKind = Literal["figure", "date", "wording", "paraphrase", "quotation"]


class ClaimDraft(Record):
    """A statement of a model about a page, not yet verified.

    `objection` is why it was refused so far: by code (then `quotes` may be empty) or by the verifier.
    """

    key_fields = ("id",)

    id: str
    page: str
    statement: str
    question: str
    relevance: Score
    quotes: list[Quote]
    resolved: str = ""
    notes: list[str] = Field(default_factory=list)  # what code finds suspicious, for the verifier
    why: str = ""  # the kind of objection
    objection: str = ""


class Control(Record):
    """A statement with known truth, mixed into a verifier's items to test its attention."""

    key_fields = ("id",)

    id: str
    page: str
    statement: str
    quotes: list[Quote]
    is_true: bool
    kind: ControlKind
    notes: list[str] = Field(default_factory=list)


class ControlTally(Record):
    """How many controls of a kind one call got, and how many it answered wrongly.

    `verifier` is the model and its prompt's revision.
    """

    key_fields = ("call", "verifier", "kind", "language")

    call: str
    verifier: str
    language: str
    kind: ControlKind
    shown: int
    missed: int


Tag = Literal["VERIFIED", "HIGH", "LIKELY", "UNCERTAIN", "CONTRADICTED"]

Relation = Literal["same", "contradicts", "neither"]

Difference = Literal["number", "date", "negation", "other"]

Settlement = Literal["retraction or correction", "same source, later version", "newer official figure"]


class Finding(Record):
    """What one or more claims say, how many independent sources say it, and the resulting confidence."""

    key_fields = ("id",)

    id: str
    statement: str  # of its first claim
    question: str
    claims: list[str] = Field(
        min_length=1
    )  # ids of all claims that say it, strongest first; among equals, a primary source first
    # Hosts or files that say it without repeating one another; called `voices` in earlier versions.
    independent_sources: list[str] = Field(validation_alias=AliasChoices("independent_sources", "voices"))
    confidence: Score = Field(ge=0, le=1)
    tag: Tag
    primary: list[str] = Field([])  # hashes of the pages that are a primary source for it

    @property
    def is_primary(self) -> bool:
        """Tell whether a primary source says it, not only pages that repeat it."""
        return bool(self.primary)


class Ruling(Record):
    """How two claims relate to each other; each pair is ruled on once."""

    claims: list[str] = Field(min_length=2, max_length=2)  # their ids, in alphabetical order
    relation: Relation
    kind: Difference = "other"
    why: str = ""
    by: Literal["rules", "model"]

    @field_validator("by", mode="before")
    @classmethod
    def _rename_mind(cls, given: object) -> object:
        """Accept the name that earlier versions stored."""
        return "model" if given == "mind" else given

    @property
    def key(self) -> str:
        """One entry per pair."""
        return "|".join(self.claims)


class ContradictionSide(Record):
    """One position in a contradiction."""

    claims: list[str] = Field(min_length=1)
    value: str  # in the words of a stored quote
    pages: list[str]  # their hashes
    published: list[str | None]  # of each page


class Contradiction(Record):
    """Sources that disagree: about what, who says what, and how it was settled, if it was."""

    key_fields = ("id",)

    id: str
    kind: Difference
    question: str
    about: str
    sides: list[ContradictionSide] = Field(min_length=2)
    settled_by: Settlement | None = None  # None: it is open
    favoured: int | None = None  # the index of the side it was settled for
    is_certain: bool = True  # False: other figures that may be of another time or case
    is_slight: bool = False  # the figures differ by hardly more than rounding

    @property
    def is_open(self) -> bool:
        """Tell whether the sides cannot all be true, and no rule settles which is."""
        return self.is_certain and self.settled_by is None


class Gap(Record):
    """Something the evidence does not answer yet."""

    description: str
    priority: Priority
    suggested_query: str
    question: str
    tried: int = 0  # rounds that searched for it without success
    lowered_from: Priority | None = None  # its priority before unsuccessful rounds lowered it
    is_rejected: bool = False  # evidence was found, but verification refused it

    @property
    def importance(self) -> Priority:
        """Return how much it matters for the question, however often it was searched for."""
        return self.lowered_from or self.priority


class Reread(Record):
    """A stored page that a round reads again, because a passage of it may close a gap."""

    page: str  # its hash
    sought: SubQuestion  # the gap, under the sub-question it belongs to
    round: int

    @property
    def key(self) -> str:
        """One entry per page and gap."""
        return short_hash(self.page, self.sought.text)


class Rubric(Record):
    """Quality on four scales of 1 to 5, with the evidence quoted before the scores (G-Eval)."""

    evidence: str
    accuracy: int = Field(ge=1, le=5)
    relevance: int = Field(ge=1, le=5)
    completeness: int = Field(ge=1, le=5)
    consistency: int = Field(ge=1, le=5)


CheckName = Literal[
    "freshness", "counting", "amount", "completeness", "comparison", "definition", "cause", "date"
]


class Check(Record):
    """One requirement of the question on its evidence, and whether it is met."""

    name: CheckName
    is_passed: bool
    why: str
    gap: Gap | None = None  # what is missing, when it fails


class Gain(Record):
    """What the search gained: new findings per query and per dollar, this round and smoothed over rounds."""

    known: int = 0
    new: int = 0
    queries: int = 0
    usd: float = 0.0
    per_query: float = 0.0
    per_usd: float | None = None  # None when the round cost nothing
    smoothed_per_query: float = 0.0
    smoothed_per_usd: float | None = None


class Hypothesis(Record):
    """A possible answer, the evidence for and against it, and its likelihood."""

    key_fields = ("id",)

    id: str
    statement: str
    supporting: list[str] = Field([])  # ids of claims, one per independent source
    contradicting: list[str] = Field([])
    confidence: Score = 0.5
    born: int = 1
    touched: int = 1  # the last round that brought evidence
    backed: int = 1  # the last round that brought evidence for it
    status: Literal["active", "set aside"] = "active"


StopRule = Literal[
    "sufficient",
    "answered",
    "saturated",
    "gain too low",
    "settled",
    "only minor gaps",
    "gaps given up",
    "diverse",
    "rounds used up",
    "budget used up",
    "time used up",
    "a person's word",
    "nothing left to ask",
]

# What is known is enough; after any other rule, more might have been found.
ENOUGH: frozenset[StopRule] = frozenset({"sufficient", "answered", "only minor gaps", "diverse", "settled"})


class StopReason(Reason):
    """Why a rule stopped a run: a phrase of the table `because` in the message catalogue, and its values."""


class Judgement(Record):
    """What is known after a round, what is missing, and whether that is enough."""

    key_fields = ("round",)

    round: int
    coverage: Score
    diversity: Score
    quality: Score
    freshness: Score
    overall: Score
    rubric: Rubric
    gaps: list[Gap]
    claims: int
    new_claims: int
    pages: int = 0  # read so far
    stop: StopRule | None = None
    because: str = ""  # in English, as ledgers have always said it
    reason: StopReason | None = None  # the same to be told in any language; earlier versions had none
    rules: dict[StopRule, dict[str, str]] = Field({})  # the numbers that every stop rule looked at
    confidence: Score = 0.0  # that every sub-question is answered
    checks: list[Check] = Field([])
    held: StopRule | None = None  # the rule that would have stopped the run, had nothing held it
    waived: StopRule | None = None  # the rule that would have stopped the run if it were not endless
    gain: Gain = Gain()
    found: list[str] = Field([])  # ids of the best claims that are new in this round
    hypotheses: list[Hypothesis] = Field([])  # the active ones, best first
    spent_usd: float = 0.0  # by this run so far, without other branches
    evidence: list[str] = Field([])  # hashes of the pages that together answer it, best first
    leads: list[str] = Field([])  # queries for names that those pages mention, best first
    is_by_words: bool = False  # no model judged: passages are only known to share words, not to answer
