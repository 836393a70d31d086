"""Parsing at a bounded cost: in processes of their own, with a limit on time and on memory.

A page that takes too much costs its process and nothing else. Processes are started when they are needed,
used again and ended with ours; no event loop ever waits for them. Small plain texts cannot cost much and are
parsed here. Does not know formats beyond which are harmless.
"""

import asyncio
import json
import os
import subprocess
import sys
import threading
import weakref
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from fathom.errors import Unreadable
from fathom.reading.blocks import Empty
from fathom.reading.documents import kind_of
from fathom.reading.port import Document
from fathom.reading.reader import in_thread

_HARMLESS = frozenset({"text", "markdown", "rst", "python", "metadata"})
_HARMLESS_BYTES = 200_000
_START_S = 60.0
_PAGES_A_WORKER = 500  # then a new one: libraries keep caches


def _few() -> int:
    return max(1, min(4, os.cpu_count() or 1))


@dataclass(frozen=True)
class Limits:
    """What one document may cost."""

    seconds: float = 20.0
    memory_bytes: int = 1_500_000_000
    chars: int = 5_000_000


class BoundedParser:
    """A `Parse` that cannot be made to hang or to eat the machine; share one in a process."""

    def __init__(
        self,
        limits: Limits | None = None,
        *,
        workers: int | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._limits = limits or Limits()
        path = os.pathsep.join(filter(None, sys.path))
        self._workers = _Workers({"PYTHONPATH": path, **(environment or {})})
        # A thread a worker: who waits for a worker waits in the pool's queue, whatever loop it came from.
        self._threads = ThreadPoolExecutor(workers or _few(), thread_name_prefix="parsing")
        self._end = weakref.finalize(self, self._workers.close)

    async def __call__(self, body: bytes, *, content_type: str | None, name: str) -> Document:
        """The document in some bytes; Unreadable if that would cost too much."""
        kind = kind_of(body, content_type=content_type, name=name)
        if kind in _HARMLESS and len(body) <= _HARMLESS_BYTES:
            return await in_thread(body, content_type=content_type, name=name)
        call = _Call(body, content_type, name, self._limits)
        future = self._threads.submit(call.run, self._workers)
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            call.stop()
            raise

    @property
    def processes(self) -> list[int]:
        """The processes that wait for work."""
        return self._workers.ids()

    def close(self) -> None:
        """End the processes now, and take no more documents."""
        self._threads.shutdown(wait=True, cancel_futures=True)
        self._end()


class _Worker:
    """One process; whoever holds it is its only user."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        # Only what is given here of the environment: keys have no business where strangers' files are opened.
        # A session of its own, because Ctrl-C is for us to handle; -P, so that nothing here is imported.
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "fathom.reading.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=dict(environment),
            start_new_session=True,
        )
        self.pages = 0
        self.is_late = False

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def is_usable(self) -> bool:
        """Whether it is alive and has not served too long."""
        return self._process.poll() is None and self.pages < _PAGES_A_WORKER

    def ask(self, request: bytes, *, limit_s: float, max_bytes: int) -> dict[str, Any] | None:
        """The reply, or None if the process died or was killed because it took too long."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        timer = threading.Timer(limit_s, self._end_late)
        timer.daemon = True
        timer.start()
        try:
            self._process.stdin.write(request)
            self._process.stdin.flush()
            line = self._process.stdout.readline(max_bytes)
        except OSError:
            return None
        finally:
            timer.cancel()
        self.pages += 1
        return json.loads(line) if line.endswith(b"\n") else None

    def _end_late(self) -> None:
        self.is_late = True
        self.kill()

    def kill(self) -> None:
        """End the process at once; from any thread, any number of times."""
        self._process.kill()

    def close(self) -> None:
        """End the process and forget it."""
        self.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with suppress(OSError):  # what was not sent yet is of no use to a dead process
                    stream.close()


class _Workers:
    """The processes that wait for work."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._idle: list[_Worker] = []
        self._guard = threading.Lock()
        self._is_closed = False

    def take(self) -> _Worker:
        """One that is ready; a new one if none is."""
        with self._guard:
            worker = self._idle.pop() if self._idle else None
        if worker is not None and worker.is_usable:
            return worker
        if worker is not None:
            worker.close()
        worker = _Worker(self._environment)
        if worker.ask(b"", limit_s=_START_S, max_bytes=_HARMLESS_BYTES) is None:
            worker.close()
            raise OSError("it ended before it was ready")
        return worker

    def give_back(self, worker: _Worker) -> None:
        """Keep it for the next document."""
        with self._guard:
            if not self._is_closed:
                self._idle.append(worker)
                return
        worker.close()

    def ids(self) -> list[int]:
        """The process ids of those that wait."""
        with self._guard:
            return [worker.pid for worker in self._idle]

    def close(self) -> None:
        """End all that wait, and from now on all that come back."""
        with self._guard:
            self._is_closed = True
            idle, self._idle = self._idle, []
        for worker in idle:
            worker.close()


class _Call:
    """One document on its way through a worker."""

    def __init__(self, body: bytes, content_type: str | None, name: str, limits: Limits) -> None:
        asked = {
            "bytes": len(body),
            "content_type": content_type,
            "name": name,
            "max_chars": limits.chars,
            "max_memory_bytes": limits.memory_bytes,
            "limit_s": limits.seconds,
        }
        self._request = json.dumps(asked).encode("ascii") + b"\n" + body
        self._name = name
        self._limits = limits
        self._worker: _Worker | None = None
        self._is_stopped = False
        self._guard = threading.Lock()

    def run(self, workers: _Workers) -> Document:
        """The document; called in a thread of the pool."""
        try:
            worker = workers.take()
        except OSError as error:
            raise Unreadable(
                f"{self._name} cannot be parsed: the process for it does not start: {error}"
            ) from error
        with self._guard:
            self._worker = worker  # from here on it may be killed under us
            if self._is_stopped:
                worker.kill()
        most = self._limits.chars * 12 + 100_000  # a character takes up to twelve bytes in JSON
        reply = worker.ask(self._request, limit_s=self._limits.seconds, max_bytes=most)
        with self._guard:
            self._worker = None
        if reply is None:
            worker.close()
            raise Unreadable(self._why(worker))
        workers.give_back(worker)
        return self._document(reply)

    def stop(self) -> None:
        """Nobody waits any more: end the process rather than let it finish."""
        with self._guard:
            self._is_stopped = True
            if self._worker is not None:
                self._worker.kill()

    def _why(self, worker: _Worker) -> str:
        if worker.is_late:
            return f"{self._name} took longer than {self._limits.seconds:g} s to parse"
        return f"{self._name} could not be parsed: it broke the parser or needs too much memory"

    def _document(self, reply: dict[str, Any]) -> Document:
        if "document" in reply:
            return Document(**{**reply["document"], "pages": tuple(reply["document"]["pages"])})
        if reply.get("memory"):
            megabytes = self._limits.memory_bytes // 1_000_000
            raise Unreadable(f"{self._name} needs more than {megabytes:,} MB of memory to parse")
        raise (Empty if reply.get("is_empty") else Unreadable)(reply["unreadable"])
