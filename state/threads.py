"""What a follow-up begins with: the questions and answers before it, and the evidence at hand.

Does not know how evidence is recalled, or where threads are kept.
"""

from pydantic import Field

from fathom.state.records import Claim, Page, Record


class Turn(Record):
    """One question of a thread, and the first words of its answer."""

    run: str
    question: str
    answer: str
    ended: str  # ISO 8601, with its zone


class Known(Record):
    """What the runs of a thread knew when they ended."""

    turns: list[Turn] = Field(min_length=1)  # in the order they were asked; the last is what is followed
    pages: list[Page] = Field([])  # one an address; their texts are kept
    claims: list[Claim] = Field([])  # drawn from those pages, for the sub-questions of their time
    is_recalled: bool = False  # what bears on the new question is in the state, and the rest was let go

    @property
    def is_at_hand(self) -> bool:
        """Whether there is evidence that nobody has looked through for the new question yet."""
        return bool(self.pages) and not self.is_recalled
