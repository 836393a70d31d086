"""Matches of slow patterns, looked for only where a quick one says that they can begin.

Does not know what is looked for.
"""

import re
from collections.abc import Iterator


def spotted(pattern: re.Pattern[str], first: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """`pattern.finditer(text)`, tried only where `first` matches; neither may match nothing at all."""
    at = 0
    while begun := first.search(text, at):
        match = pattern.match(text, begun.start())
        at = match.end() if match else begun.start() + 1
        if match:
            yield match
