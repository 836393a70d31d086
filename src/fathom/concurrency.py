"""The process, its event loops and locks: loop and memory of our own process, blocking calls, locks by name.

A caller that awaits Fathom keeps its own loop and garbage collector.
"""

import asyncio
import ctypes
import gc
import os
import queue
import threading
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Iterator
from contextlib import aclosing, asynccontextmanager, suppress
from functools import cache
from inspect import signature
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar
from weakref import WeakKeyDictionary, WeakValueDictionary

P = ParamSpec("P")
T = TypeVar("T")
StreamEnd = BaseException | None

# Allocations before a generation-0 collection; runs create many short-lived objects.
_YOUNG = 10_000
_ARENA_MAX = -8  # M_ARENA_MAX of glibc's malloc.h


def new_loop() -> asyncio.AbstractEventLoop:
    """The quicker loop, where the system has one."""
    try:
        import uvloop
    except ImportError:  # Windows
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


def run_in_new_loop(work: Coroutine[Any, Any, T]) -> T:
    """What the work gives, in a loop of its own."""
    with asyncio.Runner(loop_factory=new_loop) as runner:
        return runner.run(work)


@cache
def tune_garbage_collector() -> None:
    """Have the collector look less often, and never at what was imported; once, in a process of our own."""
    gc.freeze()
    gc.set_threshold(_YOUNG, *gc.get_threshold()[1:])


def limit_memory_arenas(most: int = 2) -> bool:
    """Have the threads of a server share memory, as `MALLOC_ARENA_MAX` does; whether the C library took it.

    glibc gives every thread memory of its own, which grows from run to run. Other libraries do not.
    """
    try:
        version = os.confstr("CS_GNU_LIBC_VERSION") or ""
    except (AttributeError, ValueError, OSError):  # another system, or another C library
        version = ""
    return version.startswith("glibc") and bool(ctypes.CDLL(None).mallopt(_ARENA_MAX, most))


def run_blocking(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run the work and return its result; in another thread if this one has a running event loop.

    Ctrl-C cancels the work, so that it can clean up.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return run_in_new_loop(work())

    async def once() -> AsyncIterator[T]:
        yield await work()

    return next(iterate_blocking(once))


def iterate_blocking(events: Callable[[], AsyncIterator[T]]) -> Iterator[T]:
    """Yield events as they come from a loop in another thread; closing the iterator cancels the work."""
    told: queue.SimpleQueue[tuple[T] | StreamEnd] = queue.SimpleQueue()
    begun: queue.SimpleQueue[tuple[asyncio.AbstractEventLoop, asyncio.Task[None]]] = queue.SimpleQueue()

    async def tell() -> None:
        async for event in events():
            told.put((event,))

    async def worked() -> None:
        task = asyncio.ensure_future(tell())
        begun.put((asyncio.get_running_loop(), task))
        await asyncio.wait([task])
        told.put(asyncio.CancelledError() if task.cancelled() else task.exception())

    thread = threading.Thread(target=run_in_new_loop, args=(worked(),), name="fathom", daemon=True)
    thread.start()
    loop, task = begun.get()
    try:
        while isinstance(one := told.get(), tuple):
            yield one[0]
        if one is not None:
            raise one
    finally:
        with suppress(RuntimeError):  # the work is over, and its loop is closed
            loop.call_soon_threadsafe(task.cancel)
        thread.join()


def wait_for(
    method: Callable[Concatenate[Any, P], Coroutine[Any, Any, T]], of: str = ""
) -> Callable[Concatenate[Any, P], T]:
    """A blocking version of the method, also where an event loop is running, as in a notebook.

    `of` names the attribute that has the method, if it is not the object itself.
    """

    def wait(self: Any, /, *values: P.args, **named: P.kwargs) -> T:
        holder = getattr(self, of) if of else self
        return run_blocking(lambda: method(holder, *values, **named))

    wait.__name__ = method.__name__ if of else f"{method.__name__}_sync"
    wait.__doc__ = f"Blocking version of `{method.__qualname__}`."
    wait.__signature__ = signature(method)  # type: ignore[attr-defined]
    return wait


async def collect_events(
    work: Callable[[Callable[[T], None]], Coroutine[Any, Any, object]],
) -> AsyncGenerator[T, None]:
    """Yield what the work reports, as it comes; raise its error. Closing the generator cancels the work."""
    told: asyncio.Queue[tuple[T] | None] = asyncio.Queue()

    async def run() -> None:
        try:
            await work(lambda event: told.put_nowait((event,)))
        finally:
            told.put_nowait(None)

    task = asyncio.ensure_future(run())
    try:
        while (one := await told.get()) is not None:
            yield one[0]
        await task
    finally:
        task.cancel()
        await asyncio.wait([task])


async def in_own_task(events: AsyncGenerator[T, None]) -> AsyncGenerator[T, None]:
    """Yield the events of a generator that a task of its own drives, one at a time.

    A listener may leave `async for` anywhere. Python then closes the generator in a task; if the loop ends
    first, that task is cancelled before it begins, and Python 3.11 throws into whatever the generator awaits
    while it cleans up. This one awaits nothing then: the task that drives cleans up.
    """
    told: asyncio.Queue[tuple[T] | None] = asyncio.Queue()
    wanted = asyncio.Semaphore(0)

    async def drive() -> None:
        try:
            async with aclosing(events):
                async for event in events:
                    told.put_nowait((event,))
                    await wanted.acquire()
        finally:
            told.put_nowait(None)

    task, is_loop_ending = asyncio.ensure_future(drive()), False
    try:
        while (one := await told.get()) is not None:
            try:
                yield one[0]
            except asyncio.CancelledError:
                is_loop_ending = True
                raise
            wanted.release()
        await task
    finally:
        if not task.cancelling():
            task.cancel()
        if not is_loop_ending:
            await asyncio.wait([task])


class PerLoop(Generic[T]):
    """One of a kind per event loop, made when first asked for: asyncio's locks cannot be shared."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._made: WeakKeyDictionary[asyncio.AbstractEventLoop, T] = WeakKeyDictionary()

    def __call__(self) -> T:
        """The one of the running loop."""
        loop = asyncio.get_running_loop()
        found = self._made.get(loop)
        if found is None:
            found = self._made[loop] = self._make()
        return found


class SharedPaces(Protocol):
    """When a server may be asked next, for all machines that share a database."""

    async def book(self, name: str, pause_s: float) -> float:
        """Take the next start, leave a pause behind it, and return how long to wait for it."""

    async def close(self, name: str, wait_s: float) -> None:
        """Have everybody wait for so long."""

    async def wait_s(self, name: str) -> float:
        """Return how long everybody waits now."""


_shared_paces: list[SharedPaces] = []  # of the database that this process works on, if machines share it


def share_paces(paces: SharedPaces | None) -> None:
    """From now on this process takes turns with all others on that database."""
    _shared_paces[:] = [paces] if paces else []


def shared_paces() -> SharedPaces | None:
    """Return what this process shares with others, if it does."""
    return _shared_paces[0] if _shared_paces else None


class PacedLock:
    """One at a time in a loop, and in the whole process a pause between any two starts.

    One with a name keeps the pause between the starts of all machines that share a database.
    """

    def __init__(self, name: str = "") -> None:
        self._name = name
        self._lock = PerLoop(asyncio.Lock)
        self._guard = threading.Lock()
        self._free_at = float("-inf")

    @asynccontextmanager
    async def turn(self, pause_s: float) -> AsyncIterator[None]:
        """Wait until it is one's turn; the next one waits for the end and for the pause."""
        async with self._lock():
            wait_s, shared = self._book(pause_s), shared_paces()
            if shared and self._name and pause_s > 0:
                wait_s = max(wait_s, await shared.book(self._name, pause_s))
            await asyncio.sleep(wait_s)
            yield

    def _book(self, pause_s: float) -> float:
        with self._guard:
            now = time.monotonic()
            start = max(now, self._free_at)
            self._free_at = start + pause_s
            return start - now


class NamedSemaphores:
    """Semaphores by name, one set per loop; unused names are forgotten."""

    def __init__(self, at_once: int) -> None:
        self.at_once = at_once
        self._places: PerLoop[WeakValueDictionary[str, asyncio.Semaphore]] = PerLoop(WeakValueDictionary)

    def __call__(self, name: str) -> asyncio.Semaphore:
        """The places of that name."""
        return self._places().setdefault(name, asyncio.Semaphore(self.at_once))


ONE_AT_A_TIME = NamedSemaphores(1)
