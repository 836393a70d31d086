"""What weighing claims against each other leaves: findings, rulings on pairs, contradictions.

Does not know who weighs, or by which rules.
"""

from typing import Literal

from pydantic import Field

from fathom.state.records import Quote, Record, Score, short_hash

ControlKind = Literal["figure", "date", "wording", "paraphrase", "quotation"]


class ClaimDraft(Record):
    """What a model says a page says, before anybody believes it.

    `objection` is why it was refused so far: by code (then `quotes` may be empty), or by the verifier.
    """

    id: str
    page: str
    statement: str
    question: str
    relevance: Score
    quotes: list[Quote]
    resolved: str = ""
    notes: list[str] = Field(default_factory=list)  # what code finds odd, for the verifier
    why: str = ""  # the kind of objection
    objection: str = ""

    @property
    def key(self) -> str:
        """One entry per id."""
        return self.id


class Control(Record):
    """A statement whose truth is known, shown to a verifier among the others to see whether it looks."""

    id: str
    page: str
    statement: str
    quotes: list[Quote]
    is_true: bool
    kind: ControlKind
    notes: list[str] = Field(default_factory=list)

    @property
    def key(self) -> str:
        """One entry per id."""
        return self.id


class ControlTally(Record):
    """How many controls of a kind one call was shown, and how many it got wrong.

    `verifier` is the model and the revision of its prompt.
    """

    call: str
    verifier: str
    language: str
    kind: ControlKind
    shown: int
    missed: int

    @property
    def key(self) -> str:
        """One entry per call, kind and language."""
        return short_hash(self.call, self.verifier, self.kind, self.language)


Tag = Literal["VERIFIED", "HIGH", "LIKELY", "UNCERTAIN", "CONTRADICTED"]

Relation = Literal["same", "contradicts", "neither"]

Difference = Literal["number", "date", "negation", "other"]

Settlement = Literal["retraction or correction", "same source, later version", "newer official figure"]


class Finding(Record):
    """What one or more claims say, how many independent voices say it, and how sure that makes it."""

    id: str
    statement: str  # that of its first claim
    question: str
    claims: list[str] = Field(
        min_length=1
    )  # ids of all that say it: of equally strong ones, a primary source first
    voices: list[str]
    confidence: Score = Field(ge=0, le=1)
    tag: Tag
    primary: list[str] = Field([])  # hashes of the pages that are a primary source for it

    @property
    def is_primary(self) -> bool:
        """Whether a primary source says it, and not only those who repeat it."""
        return bool(self.primary)

    @property
    def key(self) -> str:
        """One entry per id."""
        return self.id


class Ruling(Record):
    """How two claims stand to each other; a pair is ruled on once."""

    claims: list[str] = Field(min_length=2, max_length=2)  # their ids, in alphabetical order
    relation: Relation
    kind: Difference = "other"
    why: str = ""
    by: Literal["rules", "mind"]

    @property
    def key(self) -> str:
        """One entry per pair."""
        return "|".join(self.claims)


class ContradictionSide(Record):
    """What some sources say where others say otherwise."""

    claims: list[str] = Field(min_length=1)
    value: str  # in the words of a stored quote
    pages: list[str]  # their hashes
    published: list[str | None]  # of each page


class Contradiction(Record):
    """Sources that disagree: about what, who says what, and how it was settled if it was."""

    id: str
    kind: Difference
    question: str
    about: str
    sides: list[ContradictionSide] = Field(min_length=2)
    settled_by: Settlement | None = None  # None: it is open
    favoured: int | None = None  # the place of the side it was settled for

    @property
    def key(self) -> str:
        """One entry per id."""
        return self.id
