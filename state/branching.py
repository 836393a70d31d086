"""Where a run with several branches looks, as records.

Does not know who explores a direction, or how directions are chosen.
"""

from typing import Literal

from pydantic import Field

from fathom.state.records import Query, Record, Score
from fathom.state.run_config import RunConfig


class Direction(Record):
    """One way to look into the question: a seed of a rollout, or a node of the search tree."""

    id: str  # b1, and b1.2 for the second that came out of it
    text: str  # what its branch asks
    angle: str  # why it looks there
    parent: str = ""
    level: int = Field(1, ge=1)
    rounds: int = Field(ge=1)  # what its branch may use: rounds, and searches and pages a round
    queries: int = Field(ge=1)
    sources: int = Field(ge=1)
    status: Literal["open", "explored", "empty", "pruned"] = "open"
    score: Score = 0.0  # what it promised when it was chosen
    value: Score = 0.0  # what it brought: new claims a search
    visits: int = 0  # branches that were sent here or further down
    asked: int = 0
    pages: int = 0
    claims: int = 0
    given: list[str] = Field([])  # claims of other branches that its branch began with
    leads: list[str] = Field([])  # what its branch would ask next
    because: str = ""  # why its branch stopped, or why nobody went

    @property
    def key(self) -> str:
        """One entry per id."""
        return self.id

    def query(self) -> Query:
        """The same as a plan shows it."""
        return Query(id=self.id, text=self.text, question="", round=self.level)

    def within(self, run_config: RunConfig) -> RunConfig:
        """The knobs its branch works with: a loop of its own, within its own limits."""
        # It may see more than it may read: what other branches took is not for it.
        seen = max(self.sources, run_config.max_sources)
        limits = {"rounds": self.rounds, "queries": self.queries, "sources": seen}
        return run_config.model_copy(update={"strategy": "loop", "review": "off", "endless": False, **limits})
