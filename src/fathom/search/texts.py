"""Texts that engines deliver with what they find, kept by their hash until somebody reads them.

Does not know engines, or where texts outlast the process.
"""

from collections.abc import Awaitable, Callable
from hashlib import sha256

_MIN_CHARS = 400  # less is a snippet, or the words of a wall

Keep = Callable[[str, str], Awaitable[None]]

Find = Callable[[str], Awaitable[str | None]]


class TextStore:
    """The latest texts in memory; with `keep` and `find` also those from before a crash."""

    def __init__(
        self, keep: Keep | None = None, find: Find | None = None, *, max_chars: int = 20_000_000
    ) -> None:
        self._keep, self._find, self._max_chars = keep, find, max_chars
        self._texts: dict[str, str] = {}
        self._chars = 0

    async def put(self, text: str) -> str:
        """Remember a text and name it."""
        key = sha256(text.encode("utf-8", "replace")).hexdigest()
        if key not in self._texts:
            if self._keep is not None:
                await self._keep(key, text)
            self._chars += len(text)
        self._texts[key] = self._texts.pop(key, text)  # the latest stands last
        while self._chars > self._max_chars:
            oldest = next(iter(self._texts))
            self._chars -= len(self._texts.pop(oldest))
        return key

    async def get(self, key: str) -> str | None:
        """The text under a name, if it is still known."""
        if key in self._texts:
            return self._texts[key]
        return await self._find(key) if self._find is not None else None


async def keep_text(texts: TextStore | None, text: str | None) -> str:
    """The hash of a text that was delivered, once it is kept; nothing, if it is too short to be the page."""
    return await texts.put(text) if texts is not None and len(text or "") >= _MIN_CHARS and text else ""
