"""What reading a source promises.

Does not know files, servers or formats.
"""

from dataclasses import dataclass
from typing import Protocol

from fathom.state import Hit


@dataclass(frozen=True)
class Document:
    """A source as text: blank lines between blocks, `#` before headings, fences around code."""

    text: str
    title: str
    how: str
    published: str | None = None


class Reader(Protocol):
    """Turns a hit into its text, or raises a ProviderError that says why not."""

    async def __call__(self, hit: Hit) -> Document:
        """The document behind one hit."""
