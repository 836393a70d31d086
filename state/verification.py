"""Claims on their way to being believed, and how the verifier is tested meanwhile.

Does not know prompts or rules.
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
