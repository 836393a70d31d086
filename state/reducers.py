"""How the writes of branches meet: pure, idempotent, associative.

Does not know what the records mean, only which of them are the same.
"""

from typing import TypeVar

from fathom.state.records import Record

R = TypeVar("R", bound=Record)


def merged(left: list[R] | None, right: list[R] | None) -> list[R]:
    """Both lists as one, an entry per key: first seen keeps the place, last seen the content."""
    entries: dict[str, R] = {}
    for record in [*(left or []), *(right or [])]:
        entries[record.key] = record
    return list(entries.values())


def united(left: list[str] | None, right: list[str] | None) -> list[str]:
    """Both lists as one without repeats, in the order first seen."""
    return list(dict.fromkeys([*(left or []), *(right or [])]))
