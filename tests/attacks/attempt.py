"""One attempt to break something, and how it ended."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Attempt:
    """What was tried, whether it was held off, and what was seen."""

    name: str
    is_held: bool
    seen: str = ""


Attack = Callable[[Path], Iterator[Attempt]]  # in a folder of its own
