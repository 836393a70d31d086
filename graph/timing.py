"""The parts of a run whose time is limited: nothing new is searched or read once it is used up.

Does not know nodes. What is under way may end; the mind has its own way to hurry (Steadfast).
"""

from dataclasses import dataclass
from typing import Protocol, Self

from typing_extensions import TypeIs

from fathom.nodes.ports import Engines, Reader
from fathom.reading.port import Document
from fathom.search.port import Found
from fathom.state import Hit, Query
from fathom.time_budget import TimeBudget


class Hurrying(Protocol):
    """A mind that can hurry."""

    def timed(self, watch: TimeBudget) -> Self:
        """The same in a run whose time is limited."""


def is_hurrying(mind: object) -> TypeIs[Hurrying]:
    """Whether a mind can hurry."""
    return hasattr(mind, "timed")  # asked for every task; to ask a protocol takes long


@dataclass(frozen=True)
class TimedEngines:
    """Engines that are not asked any more when it is too late."""

    engines: Engines
    watch: TimeBudget

    async def search(self, query: Query, *, limit: int) -> Found:
        """What the engines find."""
        return await self.watch.begun(lambda: self.engines.search(query, limit=limit))


@dataclass(frozen=True)
class TimedReader:
    """A reader that begins no page any more when it is too late."""

    reader: Reader
    watch: TimeBudget

    async def __call__(self, hit: Hit) -> Document:
        """The document behind one hit."""
        return await self.watch.begun(lambda: self.reader(hit))
