"""A reader that reads so many pages at once, and no more.

Does not know how it reads.
"""

import asyncio
from dataclasses import dataclass
from functools import cache

from fathom.reading.port import Document, Reader
from fathom.state import Hit
from fathom.turns import PerLoop


@cache
def reading_places(at_once: int) -> PerLoop[asyncio.Semaphore]:
    """So many places to read at, shared by all runs of an event loop."""
    return PerLoop(lambda: asyncio.Semaphore(at_once))


@dataclass(frozen=True)
class Limited:
    """Waits for a free place, then reads."""

    reader: Reader
    places: PerLoop[asyncio.Semaphore]

    async def __call__(self, hit: Hit) -> Document:
        """The document behind one hit."""
        async with self.places():
            return await self.reader(hit)
