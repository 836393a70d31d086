"""How much is known after a round, as records.

Does not know who judges, or by which rules.
"""

from typing import Literal

from pydantic import Field

from fathom.state.records import Record, Score


class Gap(Record):
    """Something the evidence does not answer yet."""

    description: str
    priority: Literal["high", "medium", "low"]
    suggested_query: str
    question: str


class Rubric(Record):
    """Quality on four scales of 1 to 5, with the evidence quoted before the scores (G-Eval)."""

    evidence: str
    accuracy: int = Field(ge=1, le=5)
    relevance: int = Field(ge=1, le=5)
    completeness: int = Field(ge=1, le=5)
    consistency: int = Field(ge=1, le=5)


StopRule = Literal[
    "sufficient",
    "saturated",
    "only minor gaps",
    "diverse",
    "rounds used up",
    "budget used up",
    "a person's word",
    "nothing left to ask",
]


class Judgement(Record):
    """How much is known after a round, what is missing, and whether that is enough."""

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
    stop: StopRule | None = None
    because: str = ""

    @property
    def key(self) -> str:
        """One judgement a round."""
        return str(self.round)
