"""Places in a text: matches of slow patterns, looked for only where a quick one says that they can begin,
and which stretches are taken already.

Does not know what is looked for.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Protocol


class _Place(Protocol):
    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...


class Taken:
    """The characters of a text that something stands on; asking costs the same however many there are."""

    def __init__(self, text: str, places: Iterable[_Place] = ()) -> None:
        self._letters = bytearray(len(text))
        for place in places:
            self.add(place.start, place.end)

    def add(self, start: int, end: int) -> None:
        """Take a stretch."""
        self._letters[start:end] = b"\1" * (end - start)

    def has(self, start: int, end: int) -> bool:
        """Tell whether any character of a stretch is taken."""
        return 1 in self._letters[start:end]


def spotted(pattern: re.Pattern[str], first: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """`pattern.finditer(text)`, tried only where `first` matches; neither may match nothing at all."""
    at = 0
    while begun := first.search(text, at):
        match = pattern.match(text, begun.start())
        at = match.end() if match else begun.start() + 1
        if match:
            yield match
