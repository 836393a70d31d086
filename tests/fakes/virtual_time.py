"""An event loop whose clock jumps: what would wait takes no time, and goes in the same order every time."""

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")
Clock = Callable[[], float]


class _Selector(selectors.SelectSelector):
    """Passes the time itself instead of waiting for it."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        found = super().select(0)
        if not found and timeout:
            self.now += timeout
        return found


def run_in_virtual_time(work: Callable[[Clock], Coroutine[Any, Any, T]]) -> T:
    """What the work gives; it is handed the clock."""
    selector = _Selector()
    loop = asyncio.SelectorEventLoop(selector)
    loop.time = lambda: selector.now  # type: ignore[method-assign]
    try:
        return loop.run_until_complete(work(lambda: selector.now))
    finally:
        loop.close()
