"""An engine whose every call is one request, paid for by whoever asks.

Does not know any engine: it stands around those that send requests in a way of their own.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from fathom.budget.meter import charged
from fathom.search.port import Capability, Engine
from fathom.state import Hit, Query


@dataclass(frozen=True)
class Charged:
    """The engine, paid for by the call."""

    engine: Engine

    @property
    def name(self) -> str:
        """The engine's own name."""
        return self.engine.name

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What the engine can do."""
        return self.engine.capabilities

    async def __call__(self, query: Query, *, limit: int) -> Sequence[Hit]:
        """The engine's hits."""
        return await charged(lambda: self.engine(query, limit=limit))
