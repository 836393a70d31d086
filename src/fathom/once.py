"""What is read from files once a process: in a thread the first time, and at once ever after.

Does not know what is read. A thread is a detour of two switches, too dear for what is known already.
"""

import asyncio
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Once(Generic[T]):
    """A function that is called beside the event loop until it has answered; a decorator."""

    def __init__(self, read: Callable[[], T]) -> None:
        self._read = read
        self._found: tuple[T] | None = None
        self._reading = threading.Lock()

    async def __call__(self) -> T:
        """What the function gave."""
        return self._found[0] if self._found else await asyncio.to_thread(self.waited)

    def waited(self) -> T:
        """The same for those who are in a thread already."""
        with self._reading:
            if self._found is None:
                self._found = (self._read(),)
        return self._found[0]
