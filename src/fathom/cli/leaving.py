"""Ctrl-C: once to finish what is in hand and leave, twice to leave at once. Either way nothing is lost.

Does not know what is being done; everything that matters is on disk already.
"""

import asyncio
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Coroutine
from typing import Any

INTERRUPTED = 130
_GRACE_S = 3.0


def until_interrupted(work: Coroutine[Any, Any, int], last_words: Callable[[], str]) -> int:
    """The work's exit code, or 130 with the last words when somebody pressed Ctrl-C."""
    with asyncio.Runner() as runner:
        task: asyncio.Task[int] | None = None
        pressed = threading.Event()

        def leave_at_once() -> None:
            print(f"fathom: {last_words()}", file=sys.stderr, flush=True)
            os._exit(INTERRUPTED)  # a thread that reads a large folder cannot be asked to stop

        def on_interrupt(*_: object) -> None:
            if pressed.is_set():
                leave_at_once()
            pressed.set()
            # What was begun and will not be awaited any more is no news to whoever pressed the key.
            warnings.filterwarnings("ignore", category=RuntimeWarning, message="coroutine .* never awaited")
            timer = threading.Timer(_GRACE_S, leave_at_once)
            timer.daemon = True
            timer.start()
            if task is not None:
                runner.get_loop().call_soon_threadsafe(task.cancel)

        async def watched() -> int:
            nonlocal task
            task = asyncio.ensure_future(work)
            return await task

        before = signal.signal(signal.SIGINT, on_interrupt)
        try:
            return runner.run(watched())
        except (asyncio.CancelledError, KeyboardInterrupt):
            leave_at_once()
            return INTERRUPTED
        finally:
            signal.signal(signal.SIGINT, before)
