"""The processes of this process: who is free, who waits for one, and when another one is started.

One crew is shared by all runs and event loops. Who needs a process waits in the order of asking; no event
loop is ever held up. Does not know what is asked.
"""

import asyncio
import os
import sys
import threading
import weakref
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, Literal

from fathom.crew.worker import Request, Worker


class Lost(Exception):
    """No process did what was asked: none starts, it was late, it died, or all were ended."""

    def __init__(self, how: Literal["start", "late", "died", "ended"], why: str = "") -> None:
        super().__init__(why or how)
        self.how = how


class _Turn:
    """Somebody who waits for a process, in some event loop; what happens to it happens under the guard."""

    def __init__(self) -> None:
        self.worker: Worker | None = None
        self.error: Lost | None = None
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._came: asyncio.Future[None] | None = None

    def comes(self) -> asyncio.Future[None] | None:
        """What is to be waited for, if anything is."""
        if self.worker is None and self.error is None:
            self._came = self._loop.create_future()
        return self._came

    def end(self, *, worker: Worker | None = None, error: Lost | None = None) -> bool:
        """Whoever waits goes on, from any thread; False if its loop is gone."""
        self.worker, self.error = worker, error
        is_here = self._came is None or self._thread == threading.get_ident()
        try:
            if is_here:
                self._wake()
            else:
                self._loop.call_soon_threadsafe(self._wake)
        except RuntimeError:
            self.worker = None
            return False
        return True

    def _wake(self) -> None:
        if self._came is not None and not self._came.done():
            self._came.set_result(None)


class Crew:
    """A few processes; they are started when they are needed, used again, and ended with us."""

    def __init__(self, most: int | None = None, *, environment: Mapping[str, str] | None = None) -> None:
        self._most = most or max(1, min(4, os.cpu_count() or 1))
        path = os.pathsep.join(filter(None, sys.path))
        self._environment = {"PYTHONPATH": path, **(environment or {})}
        self._guard = threading.Lock()
        self._all: set[Worker] = set()
        self._free: list[Worker] = []
        self._starting = 0
        self._waiting: list[_Turn] = []
        self._is_closed = False
        weakref.finalize(self, _end_all, self._all)

    async def ask(self, request: Request) -> dict[str, Any]:
        """The reply, of a process that is started if need be; Lost if there is none.

        Whoever is cancelled takes the process with it: nobody knows how long it would go on.
        """
        worker = await self._taken(_Turn())
        try:
            reply = await worker.ask(request)
        finally:
            self._give_back(worker)
        if reply is None:
            raise Lost("late" if worker.is_late else "died")
        return reply

    @property
    def processes(self) -> list[int]:
        """The processes that wait for work."""
        with self._guard:
            return [worker.pid for worker in self._free]

    def close(self) -> None:
        """End the processes now, and start no more."""
        with self._guard:
            self._is_closed = True
            free, self._free = self._free, []
            self._all.difference_update(free)
            self._serve()
            busy = [*self._all]
        for worker in free:
            worker.close()
        for worker in busy:
            worker.kill()  # whoever holds it sees that, and gives it back

    async def _taken(self, turn: _Turn) -> Worker:
        with self._guard:
            self._waiting.append(turn)
            self._serve()
            comes = turn.comes()
        is_over = comes is None
        try:
            if comes is not None:
                await comes
                is_over = True
        finally:
            if not is_over:  # cancelled, or its loop was closed
                self._leave(turn)
        if turn.worker is None:
            raise turn.error or Lost("ended")
        return turn.worker

    def _leave(self, turn: _Turn) -> None:
        with self._guard:
            if turn in self._waiting:
                self._waiting.remove(turn)
        if turn.worker is not None:
            self._give_back(turn.worker)

    def _give_back(self, worker: Worker) -> None:
        with self._guard:
            self._free.append(worker)
            self._serve()

    def _serve(self) -> None:
        """Give those who wait what there is, and start what is missing; with the guard held."""
        for worker in [w for w in self._free if self._is_closed or not w.is_usable]:
            self._free.remove(worker)
            self._all.discard(worker)
            threading.Thread(target=worker.close, daemon=True).start()  # which may take its time to end
        while self._waiting and (self._is_closed or self._free):
            turn = self._waiting.pop(0)
            if self._is_closed:
                turn.end(error=Lost("ended"))
            elif turn.end(worker=self._free[-1]):
                self._free.pop()
        for _ in range(min(len(self._waiting), self._most - len(self._all)) - self._starting):
            self._starting += 1
            threading.Thread(target=self._start, daemon=True).start()

    def _start(self) -> None:
        """Start one more; in a thread, because it takes a second."""
        error: OSError | None = None
        try:
            worker = Worker(self._environment)
        except OSError as failed:
            error = failed
        with self._guard:
            self._starting -= 1
            if error is None:
                self._all.add(worker)
                self._free.append(worker)
            elif self._waiting:
                self._waiting.pop(0).end(error=Lost("start", str(error)))
            self._serve()


def _end_all(workers: Iterable[Worker]) -> None:
    for worker in [*workers]:
        worker.close()


@cache
def crew() -> Crew:
    """The one that all runs of this process share."""
    return Crew()
