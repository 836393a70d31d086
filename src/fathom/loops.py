"""The event loop and the garbage collector of a process that is ours to set up.

Does not know what runs in it. Whoever awaits us in a loop of their own keeps theirs, and their collector.
"""

import asyncio
import gc
from collections.abc import Coroutine
from functools import cache
from typing import Any, TypeVar

T = TypeVar("T")
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
