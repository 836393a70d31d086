"""The parser pool: documents are parsed in worker processes with a limit on time and memory.

A document that costs too much costs its worker process and nothing else. One pool serves all runs and event
loops of a process. Small plain texts cannot cost much and are parsed in a thread.
"""

import asyncio
import os
import signal
import sys
import threading
import weakref
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import cache
from multiprocessing import resource_tracker
from multiprocessing.context import SpawnContext, SpawnProcess
from types import ModuleType
from typing import Any, Protocol

from pebble import ProcessExpired, ProcessPool

from fathom.errors import Unreadable
from fathom.reading import Document, parsers

_CHEAP_KINDS = frozenset({"text", "markdown"})
_CHEAP_BYTES = 50_000
_TASKS_A_WORKER = 500  # then a new process: libraries that parse keep caches
_GRACE_S = 5.0
_STUCK_S = 180.0  # the workers share one pipe: one that is killed from outside while it reads it blocks it
_spawn_lock = threading.Lock()


@dataclass(frozen=True)
class ParseLimits:
    """What parsing one document may cost."""

    seconds: float = 20.0
    memory_bytes: int = 1_500_000_000
    chars: int = 5_000_000


class ParseFunction(Protocol):
    """Reads a document from bytes, or raises Unreadable."""

    def __call__(self, body: bytes, *, content_type: str | None, name: str) -> Document:
        """Return the document."""


_ParseTask = tuple[bytes, str | None, str, ParseLimits, ParseFunction]


class ParserPool:
    """Worker processes that parse documents; started at the first document, ended with their owner."""

    def __init__(self, max_workers: int | None = None) -> None:
        self._max_workers = max_workers or max(1, min(4, os.cpu_count() or 1))
        self._lock = threading.Lock()
        self._pool: ProcessPool | None = None
        self._stop_later: Any = None

    async def parse(
        self,
        body: bytes,
        content_type: str | None,
        name: str,
        limits: ParseLimits,
        function: ParseFunction = parsers.parse_document,
    ) -> Document:
        """Parse one document in a worker, by a function of a module; cancelling kills that worker.

        Raises TimeoutError, MemoryError, ProcessExpired (the worker died), BrokenProcessPool (no worker
        starts), or Unreadable for what is wrong with the document itself.
        """
        task = (body, content_type, name, limits, function)
        try:
            return await self._run(task)
        except BrokenProcessPool:  # idle workers were killed: it says nothing about this document
            return await self._run(task)

    async def _run(self, task: _ParseTask) -> Document:
        pool = await asyncio.to_thread(self._running)  # starting processes would hold up the event loop
        try:
            future = pool.schedule(_parse_in_worker, args=task, timeout=task[3].seconds)
        except RuntimeError as error:  # it broke since
            raise BrokenProcessPool(str(error)) from error
        waiting = asyncio.wrap_future(future)
        try:
            done, _ = await asyncio.wait({waiting}, timeout=_STUCK_S)
        finally:
            waiting.cancel()  # whoever is cancelled, or gives up, frees the worker
        if not done:
            await asyncio.to_thread(self._replace, pool)
            raise BrokenProcessPool("the parser processes hang")
        return waiting.result()

    def _replace(self, pool: ProcessPool) -> None:
        with self._lock:
            if self._pool is pool:
                self._stop()

    def _running(self) -> ProcessPool:
        with self._lock:
            if self._pool is None or not self._pool.active:
                self._stop()
                _start_resource_tracker()
                pool = ProcessPool(
                    self._max_workers,
                    max_tasks=_TASKS_A_WORKER,
                    initializer=_prepare_worker,
                    context=_WorkerContext(),
                )
                self._stop_later = weakref.finalize(self, _stop_pool, pool)
                self._pool = pool
                if not pool.active:  # asking for it starts the workers
                    raise BrokenProcessPool("no worker process starts")
            return self._pool

    @property
    def processes(self) -> list[int]:
        """The process ids of the workers."""
        with self._lock:
            return [] if self._pool is None else list(self._pool._pool_manager.worker_manager.workers)

    def close(self) -> None:
        """End the workers; the next document starts new ones."""
        with self._lock:
            self._stop()

    def _stop(self) -> None:
        if self._stop_later is not None:
            self._stop_later()
        self._pool = self._stop_later = None


@dataclass(frozen=True)
class BoundedParser:
    """A `Parse` that cannot be made to hang or to eat the machine."""

    pool: ParserPool
    limits: ParseLimits = ParseLimits()
    function: ParseFunction = parsers.parse_document

    async def __call__(self, body: bytes, *, content_type: str | None, name: str) -> Document:
        """The document in some bytes; Unreadable if parsing it would cost too much."""
        kind = parsers.detect_kind(body, content_type=content_type, name=name)
        if kind in _CHEAP_KINDS and len(body) <= _CHEAP_BYTES:
            return await asyncio.to_thread(self.function, body, content_type=content_type, name=name)
        try:
            return await self.pool.parse(body, content_type, name, self.limits, self.function)
        except TimeoutError as error:
            raise Unreadable(f"{name} took longer than {self.limits.seconds:g} s to parse") from error
        except MemoryError as error:
            megabytes = self.limits.memory_bytes // 1_000_000
            raise Unreadable(f"{name} needs more than {megabytes:,} MB of memory to parse") from error
        except ProcessExpired as error:
            raise Unreadable(
                f"{name} could not be parsed: it broke the parser or needs too much memory"
            ) from error
        except BrokenProcessPool as error:
            raise Unreadable(f"{name} cannot be parsed: no parser process starts: {error}") from error


@cache
def parser_pool() -> ParserPool:
    """The pool that all runs of this process share."""
    return ParserPool()


def _start_resource_tracker() -> None:
    """Start the process that cleans up after a killed program, without its warning on the user's terminal."""
    if sys.platform == "win32":
        return
    option = "ignore::UserWarning:multiprocessing.resource_tracker"
    sys.warnoptions.append(option)  # handed on to the process that is started here
    try:
        resource_tracker.ensure_running()
    finally:
        sys.warnoptions.remove(option)


class _WorkerProcess(SpawnProcess):
    """A spawned process that does not import the program's main module.

    Otherwise a user's script without an `if __name__ == "__main__"` guard would run again in every worker.
    """

    @staticmethod
    def _Popen(process_obj: Any) -> Any:  # noqa: N802 - multiprocessing's own name
        with _spawn_lock:
            main = sys.modules["__main__"]
            sys.modules["__main__"] = ModuleType("__main__")
            try:
                return SpawnProcess._Popen(process_obj)
            finally:
                sys.modules["__main__"] = main


class _WorkerContext(SpawnContext):
    Process = _WorkerProcess


def _stop_pool(pool: ProcessPool) -> None:
    pool.stop()  # type: ignore[no-untyped-call]
    pool.join()


def _prepare_worker() -> None:
    """Take away what a parser of strangers' files has no business with: keys, the terminal."""
    from fathom.settings import clear_environment  # here, because only workers need it

    clear_environment()
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)


def _parse_in_worker(
    body: bytes, content_type: str | None, name: str, limits: ParseLimits, function: ParseFunction
) -> Document:
    """Parse one document; runs in a worker."""
    _limit_memory(limits.memory_bytes)
    _set_kill_timer(limits.seconds + _GRACE_S)
    try:
        document = function(body, content_type=content_type, name=name)
    except RecursionError:
        raise Unreadable(f"{name} is nested too deeply to be read") from None
    finally:
        _set_kill_timer(0)
        _limit_memory(None)  # the next request must be received whole: a half-read one would block the pipe
    if len(document.text) > limits.chars:
        raise Unreadable(f"{name} has more than {limits.chars:,} characters of text")
    return document


def _set_kill_timer(seconds: float) -> None:
    """Let the kernel end this process then, even inside C code and with no parent left; 0 is never."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _limit_memory(max_bytes: int | None) -> None:
    """Bound the memory of this process, or no longer; let it write no files."""
    try:
        import resource
    except ImportError:
        return  # Windows has no such limits: the time limit must do
    for limit, most in (
        (resource.RLIMIT_AS, max_bytes),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
    ):
        hard = resource.getrlimit(limit)[1]
        bounds = [bound for bound in (most, hard) if bound not in {None, resource.RLIM_INFINITY}]
        resource.setrlimit(limit, (min(bounds, default=resource.RLIM_INFINITY), hard))
