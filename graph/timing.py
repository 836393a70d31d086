"""Engines and reader of a run with a time limit: nothing new is searched or read once it is used up.

Does not know nodes. What is under way may end. A model keeps to the time itself (`timed`).
"""

from dataclasses import dataclass
from typing import Protocol, Self

from typing_extensions import TypeIs

from fathom.nodes.ports import Engines, Reader
from fathom.reading.port import Document
from fathom.search.port import Found
from fathom.state import Hit, Query
from fathom.time_budget import TimeBudget


class TimedModel(Protocol):
    """A model that keeps to a time budget."""

    def timed(self, watch: TimeBudget) -> Self:
        """Return the same model for a run whose time is limited."""


def can_hurry(model: object) -> TypeIs[TimedModel]:
    """Tell whether a model keeps to a time budget."""
    return hasattr(model, "timed")


@dataclass(frozen=True)
class TimedEngines:
    """Engines that start no search after the time is used up."""

    engines: Engines
    time_budget: TimeBudget

    async def search(self, query: Query, *, limit: int) -> Found:
        """Search, unless it is too late."""
        return await self.time_budget.begun(lambda: self.engines.search(query, limit=limit))


@dataclass(frozen=True)
class TimedReader:
    """A reader that starts no page after the time is used up."""

    reader: Reader
    time_budget: TimeBudget

    async def __call__(self, hit: Hit) -> Document:
        """Read one hit, unless it is too late."""
        return await self.time_budget.begun(lambda: self.reader(hit))
