"""The processes of this process: who is free, who waits for one, and when another one is started.

One crew is shared by all runs and event loops. Who needs a process waits in the order of asking; no event
loop is ever held up. Does not know what is asked.
"""

import asyncio
import os
import sys
import threading
import time
import weakref
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, Literal

from fathom.crew.worker import Request, Worker

# Who could do it here too waits while others of its kind get their turn, which are short, and so long after
# the last of them: a document that takes long may hold up all processes. A loop that is later than that to
# notice has enough to do, and may not know yet that somebody got a turn.
_PATIENCE_S = 0.1
_LATE_S = 0.02


class Lost(Exception):
    """No process did what was asked: none starts, it was late, it died, all were ended, or all are busy."""

    def __init__(self, how: Literal["start", "late", "died", "ended", "busy"], why: str = "") -> None:
        super().__init__(why or how)
        self.how = how


class _Turn:
    """Somebody who waits for a process, in some event loop; what happens to it happens under the guard."""

    def __init__(self, kind: str | None, *, is_learning: bool = False) -> None:
        self.kind = kind  # only a process that knows this; None: any, and one may be started for it
        self._is_learning = is_learning  # or one that does not know it yet
        self.worker: Worker | None = None
        self.error: Lost | None = None
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._came: asyncio.Future[None] | None = None

    def suits(self, worker: Worker) -> bool:
        return self.kind is None or (self.kind in worker.known) != self._is_learning

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
        self._lent_at = 0.0
        self._is_closed = False
        self._teaching: asyncio.Task[Any] | None = None
        weakref.finalize(self, _end_all, self._all)

    async def ask(self, request: Request) -> dict[str, Any]:
        """The reply, of a process that is started if need be; Lost if there is none.

        Whoever is cancelled takes the process with it: nobody knows how long it would go on.
        """
        return await self._asked(request, await self._taken(_Turn(None)))

    async def lent(self, request: Request) -> dict[str, Any] | None:
        """The reply, of a process that is there and knows such requests; None: whoever asks does it itself.

        Whoever is cancelled leaves the process to its work, which is short, and to the next one.
        """
        return await asyncio.shield(asyncio.create_task(self._lent(request)))

    def knows(self, kind: str) -> bool:
        """Whether a process that is there knows such requests."""
        with self._guard:
            return any(kind in worker.known for worker in self._all)

    def teach(self, request: Request) -> None:
        """Have one more process get to know such requests; whoever asks does not wait for it."""
        with self._guard:
            is_taught = all(request.kind in worker.known for worker in self._all)
        if not is_taught and (self._teaching is None or self._teaching.done()):
            self._teaching = asyncio.create_task(self._taught(request))

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

    async def _lent(self, request: Request) -> dict[str, Any] | None:
        try:
            return await self._asked(request, await self._taken(_Turn(request.kind)))
        except Lost:
            return None

    async def _taught(self, request: Request) -> None:
        try:
            await self._asked(request, await self._taken(_Turn(request.kind, is_learning=True)))
        except Lost:
            return  # it is done here then

    async def _asked(self, request: Request, worker: Worker) -> dict[str, Any]:
        try:
            reply = await worker.ask(request)
        finally:
            self._give_back(worker)
        if reply is None:
            raise Lost("late" if worker.is_late else "died")
        return reply

    async def _taken(self, turn: _Turn) -> Worker:
        with self._guard:
            self._waiting.append(turn)
            self._serve()
            comes = turn.comes()
        is_over = False
        try:
            while comes is not None and not comes.done():
                due = time.monotonic() + _PATIENCE_S
                await asyncio.wait([comes], timeout=None if turn.kind is None else _PATIENCE_S)
                is_held_up = self._lent_at + _PATIENCE_S < time.monotonic() < due + _LATE_S
                if is_held_up and not comes.done():
                    raise Lost("busy")
            is_over = True
        finally:
            if not is_over:
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
        # What is short goes first: nobody with a document waits long for it.
        for turn in sorted(self._waiting, key=lambda turn: turn.kind is None):
            found = next((w for w in reversed(self._free) if turn.suits(w)), None)
            if self._is_closed or found is not None:
                self._waiting.remove(turn)
            if self._is_closed:
                turn.end(error=Lost("ended"))
            elif found is not None and turn.end(worker=found):
                self._free.remove(found)
                self._lent_at = time.monotonic() if turn.kind else self._lent_at
            elif not self._free:
                break
        wanted = sum(turn.kind is None for turn in self._waiting)
        for _ in range(min(wanted, self._most - len(self._all)) - self._starting):
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
            elif turn := next((t for t in self._waiting if t.kind is None), None):
                self._waiting.remove(turn)
                turn.end(error=Lost("start", str(error)))
            self._serve()


def _end_all(workers: Iterable[Worker]) -> None:
    for worker in [*workers]:
        worker.close()


@cache
def crew() -> Crew:
    """The one that all runs of this process share."""
    return Crew()
