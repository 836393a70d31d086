"""What is put around engines: another try when one is unavailable, and payment by the call.

Does not know any engine.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from fathom.budget.meter import charged
from fathom.http.retry import RetryPolicy, retry
from fathom.search.port import Capability, Engine
from fathom.state import Hit, Query


@dataclass(frozen=True)
class _Wrapped:
    engine: Engine

    @property
    def name(self) -> str:
        """The engine's own name."""
        return self.engine.name

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What the engine can do."""
        return self.engine.capabilities


@dataclass(frozen=True)
class RetryingEngine(_Wrapped):
    """An engine that is asked again when it is unavailable."""

    policy: RetryPolicy = field(default_factory=RetryPolicy)

    async def __call__(self, query: Query, *, limit: int) -> Sequence[Hit]:
        """The engine's hits."""
        return await retry(lambda: self.engine(query, limit=limit), self.policy)


@dataclass(frozen=True)
class PaidEngine(_Wrapped):
    """An engine that sends requests in a way of its own: each call is paid for as one request."""

    async def __call__(self, query: Query, *, limit: int) -> Sequence[Hit]:
        """The engine's hits."""
        return await charged(lambda: self.engine(query, limit=limit))
