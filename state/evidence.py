"""Records of drafts, controls, findings, rulings and contradictions."""

from typing import Literal

from pydantic import AliasChoices, Field, field_validator

from fathom.state.records import Quote, Record, Score, short_hash

ControlKind = Literal["figure", "date", "wording", "paraphrase", "quotation"]


class ClaimDraft(Record):
    """A statement of a model about a page, not yet verified.

    `objection` is why it was refused so far: by code (then `quotes` may be empty) or by the verifier.
    """

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

    @property
    def key(self) -> str:
        """One entry per id."""
        return self.id


class Control(Record):
    """A statement with known truth, mixed into a verifier's items to test its attention."""

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
    """How many controls of a kind one call got, and how many it answered wrongly.

    `verifier` is the model and its prompt's revision.
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
    """What one or more claims say, how many independent sources say it, and the resulting confidence."""

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

    @property
    def key(self) -> str:
        """One entry per id."""
        return self.id


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

    id: str
    kind: Difference
    question: str
    about: str
    sides: list[ContradictionSide] = Field(min_length=2)
    settled_by: Settlement | None = None  # None: it is open
    favoured: int | None = None  # the index of the side it was settled for
    is_certain: bool = True  # False: other figures that may be of another time or case

    @property
    def is_open(self) -> bool:
        """Tell whether the sides cannot all be true, and no rule settles which is."""
        return self.is_certain and self.settled_by is None

    @property
    def key(self) -> str:
        """One entry per id."""
        return self.id
