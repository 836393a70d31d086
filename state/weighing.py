"""What weighing claims against each other leaves: findings, rulings on pairs, contradictions.

Does not know who weighs, or by which rules.
"""

from typing import Literal

from pydantic import Field

from fathom.state.records import Record, Score

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


class Side(Record):
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
    sides: list[Side] = Field(min_length=2)
    settled_by: Settlement | None = None  # None: it is open
    favoured: int | None = None  # the place of the side it was settled for

    @property
    def key(self) -> str:
        """One entry per id."""
        return self.id
