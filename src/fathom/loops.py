"""Event loops: the one of a process that is ours to set up, and those of callers who wait in a thread.

Does not know what runs in them. Whoever awaits us in a loop of their own keeps theirs, and their collector.
"""

import asyncio
import gc
import queue
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import suppress
from functools import cache
from typing import Any, TypeVar

T = TypeVar("T")
Ended = BaseException | None
# Objects made before the youngest are looked at: runs make many that live for as long as a call does.
_YOUNG = 10_000


def new_loop() -> asyncio.AbstractEventLoop:
    """The quicker loop, where the system has one."""
    try:
        import uvloop
    except ImportError:  # Windows
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


def run(work: Coroutine[Any, Any, T]) -> T:
    """What the work gives, in a loop of its own."""
    with asyncio.Runner(loop_factory=new_loop) as runner:
        return runner.run(work)


@cache
def tuned() -> None:
    """Have the collector look less often, and never at what was imported; once, in a process of our own."""
    gc.freeze()
    gc.set_threshold(_YOUNG, *gc.get_threshold()[1:])


def waited(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """What the work gives; in a thread of its own where this thread has a running event loop.

    Ctrl-C while waiting ends the work as a cancellation, so that it can leave in good order.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return run(work())

    async def once() -> AsyncIterator[T]:
        yield await work()

    return next(iterated(once))


def iterated(events: Callable[[], AsyncIterator[T]]) -> Iterator[T]:
    """The events one by one, as they come, from an event loop in another thread; leaving ends the work."""
    told: queue.SimpleQueue[tuple[T] | Ended] = queue.SimpleQueue()
    begun: queue.SimpleQueue[tuple[asyncio.AbstractEventLoop, asyncio.Task[None]]] = queue.SimpleQueue()

    async def tell() -> None:
        async for event in events():
            told.put((event,))

    async def worked() -> None:
        task = asyncio.ensure_future(tell())
        begun.put((asyncio.get_running_loop(), task))
        await asyncio.wait([task])
        told.put(asyncio.CancelledError() if task.cancelled() else task.exception())

    thread = threading.Thread(target=run, args=(worked(),), name="fathom", daemon=True)
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
