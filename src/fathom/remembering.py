"""Finished calls, as those see them who make calls: to a model or to an engine.

Does not know how they are kept; the store does.
"""

from contextlib import AbstractAsyncContextManager
from typing import Protocol, Self


class Kept(Protocol):
    """A reply that was kept."""

    @property
    def text(self) -> str:
        """The reply."""

    @property
    def is_own(self) -> bool:
        """Whether the run that asks has paid for it, and not another one."""


class Memory(Protocol):
    """Where replies are kept, for the run that got them and perhaps for others."""

    def within(self, run: str) -> Self:
        """The same for one run."""

    def alone(self, call: str) -> AbstractAsyncContextManager[object]:
        """Whoever asks the same at the same time waits, and finds what the first was answered."""

    async def get(self, call: str) -> Kept | None:
        """The reply that was kept, or None."""

    async def put(self, call: str, text: str, *, is_for_others: bool = True) -> None:
        """Keep a reply."""
