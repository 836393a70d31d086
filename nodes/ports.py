"""What nodes need of the world beside a mind.

Does not know who provides it.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Protocol

from fathom.reading.port import Reader
from fathom.search.port import Found
from fathom.state import Query

Clock = Callable[[], datetime]

__all__ = ["Clock", "Engines", "Pages", "Reader"]


class Engines(Protocol):
    """All engines of a run behind one call."""

    async def search(self, query: Query, *, limit: int) -> Found:
        """Merged hits, losses and costs; raises a ProviderError when every engine failed."""


class Pages(Protocol):
    """Where page texts are kept."""

    async def put(self, text: str) -> str:
        """Keep a text, return its hash."""

    async def get(self, sha: str) -> str:
        """The text of a hash."""
