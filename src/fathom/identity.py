"""What was made of some objects, found again by these very objects.

Does not know what is made. For objects that nobody changes: to see that they are the same takes less time
than to compare them, or to make the same of them again.
"""

from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")


class ByIdentity(Generic[T]):
    """A memory of at most so many, the oldest forgotten first; safe from any thread."""

    def __init__(self, most: int) -> None:
        self._most = most
        # The objects are held too: an id is only an identity for as long as somebody has the object.
        self._made: dict[tuple[int, ...], tuple[tuple[object, ...], T]] = {}
        self._putting = Lock()

    def get(self, *objects: object) -> T | None:
        """What was made of these, or None."""
        found = self._made.get(tuple(map(id, objects)))
        return found[1] if found else None

    def put(self, made: T, *objects: object) -> None:
        """Keep what was made of these."""
        with self._putting:
            if len(self._made) >= self._most:
                del self._made[next(iter(self._made))]
            self._made[tuple(map(id, objects))] = (objects, made)
