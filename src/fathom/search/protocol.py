"""What every search engine promises.

Does not know any engine.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple, Protocol

from fathom.state import Cost, Failure, Hit, Query

Capability = Literal["web", "news", "academic", "image", "local", "content", "semantic"]


class SearchOutcome(NamedTuple):
    """What a search brought: hits, what was lost on the way, and what it cost."""

    hits: list[Hit]
    failures: list[Failure]
    costs: list[Cost]


class SearchEngine(Protocol):
    """Searches; an empty list means nothing was found, a ProviderError that something failed."""

    @property
    def name(self) -> str:
        """The word by which users choose it."""

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What kinds of sources it finds."""

    async def __call__(self, query: Query, *, limit: int) -> Sequence[Hit]:
        """The best hits for one query, best first."""
