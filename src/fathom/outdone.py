"""Writes that wait a moment: a checkpoint that holds them may come right behind them.

Does not know what is written. Most steps have one task. What it wrote is needed until the checkpoint that
ends its step is saved, and that takes no longer than to save the write.
"""

import asyncio

_MOMENT_S = 0.05

Place = tuple[str, str, str]  # thread, namespace, checkpoint


class Outdone:
    """The tasks whose writes wait, by the checkpoint they worked on; of one event loop."""

    def __init__(self) -> None:
        self._waiting: dict[Place, dict[str, asyncio.Future[None]]] = {}

    async def within_a_moment(self, place: Place, task: str) -> bool:
        """Whether the next checkpoint comes meanwhile, so that the write of this task need not be saved."""
        loop = asyncio.get_running_loop()
        waiting: asyncio.Future[None] = loop.create_future()
        self._waiting.setdefault(place, {})[task] = waiting
        timer = loop.call_later(_MOMENT_S, _wake, waiting)
        try:
            await waiting
        finally:
            timer.cancel()
            is_left = self._left(place, task, waiting)
        return not is_left

    def by_next(self, place: Place) -> list[str]:
        """The checkpoint after this one is there: the tasks whose writes are saved with it."""
        waiting = self._waiting.pop(place, {})
        for future in waiting.values():
            _wake(future)
        return list(waiting)

    def _left(self, place: Place, task: str, waiting: asyncio.Future[None]) -> bool:
        """Whether no checkpoint has taken the task over; nobody waits for it then any more."""
        here = self._waiting.get(place, {})
        if here.get(task) is not waiting:
            return False
        del here[task]
        if not here:
            del self._waiting[place]
        return True


def _wake(waiting: asyncio.Future[None]) -> None:
    if not waiting.done():
        waiting.set_result(None)
