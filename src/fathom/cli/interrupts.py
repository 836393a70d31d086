"""Ctrl-C: once to finish what is in hand and leave, twice to leave at once. Either way nothing is lost.

Does not know what is being done; everything that matters is on disk already.
"""

import asyncio
import os
import signal
import threading
import warnings
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fathom.concurrency import new_loop, tune_garbage_collector

INTERRUPTED = 130
_GRACE_S = 3.0


class Leaving:
    """What a request to leave, by Ctrl-C or by a key, does at the moment, and what is printed then."""

    def __init__(self, before: str) -> None:
        self._before = before  # the last words as long as there is no run
        self.run = ""  # the name of the run that can be resumed, once there is one
        self.written: Path | None = None  # its report so far
        self.ask: Callable[[], None] | None = None  # has the work end after the step in hand
        self.give_back: Callable[[], None] = lambda: None  # the terminal
        self._cancel: Callable[[], None] = lambda: None
        self._was_asked = False

    def way_on(self) -> str:
        """How to go on, and where the report is if there is one."""
        resume = f"fathom resume {self.run}"
        end = f"end with it: {resume} --finish"
        so_far = f"the report so far is {self.written}, {end}; " if self.written else ""
        return f"{so_far}go on with: {resume}"

    def last_words(self) -> str:
        """What there is to say when somebody left."""
        return f"interrupted; {self.way_on()}" if self.run else self._before

    def request(self) -> None:
        """Once: have it end where it stands. Twice: leave at once."""
        if self._was_asked:
            self.at_once()
        self._was_asked = True
        if self.ask:
            self.ask()
        else:
            self._cancel()

    def at_once(self) -> None:
        """Leave now: a thread that reads a large folder cannot be asked to stop."""
        self.give_back()
        # Not with print: whoever is interrupted may be in the middle of one.
        os.write(2, f"fathom: {self.last_words()}\n".encode("utf-8", "replace"))
        os._exit(INTERRUPTED)

    def watch(self, loop: asyncio.AbstractEventLoop, task: "asyncio.Task[int]") -> None:
        """From now on, leaving ends this task."""

        def cancel() -> None:
            # What was begun and will not be awaited any more is no news to whoever pressed the key.
            warnings.filterwarnings("ignore", category=RuntimeWarning, message="coroutine .* never awaited")
            timer = threading.Timer(_GRACE_S, self.at_once)
            timer.daemon = True
            timer.start()
            loop.call_soon_threadsafe(task.cancel)

        self._cancel = cancel


def run_until_interrupted(
    work: Callable[[Leaving], Coroutine[Any, Any, int]], before: str = "interrupted before a run began"
) -> int:
    """The work's exit code, or 130 with the last words when somebody left."""
    tune_garbage_collector()
    leaving = Leaving(before)
    with asyncio.Runner(loop_factory=new_loop) as runner:

        async def run() -> int:
            task = asyncio.ensure_future(work(leaving))
            leaving.watch(asyncio.get_running_loop(), task)
            return await task

        handler = signal.signal(signal.SIGINT, lambda *_: leaving.request())
        try:
            return runner.run(run())
        except (asyncio.CancelledError, KeyboardInterrupt):
            leaving.at_once()
            return INTERRUPTED
        finally:
            signal.signal(signal.SIGINT, handler)


_AGAIN_S = 0.05


@contextmanager
def interruptible() -> Iterator[None]:
    """Within this, Ctrl-C raises KeyboardInterrupt in the main thread, exactly once.

    `input` checks for signals only when one interrupts its wait. A Ctrl-C between prompt and wait would go
    unnoticed until the next key, so the signal is sent again until it is handled.
    """
    heard = threading.Event()

    def hear(*_: object) -> None:
        if not heard.is_set():
            heard.set()
            raise KeyboardInterrupt

    came, noted = os.pipe()
    os.set_blocking(noted, False)
    again = threading.Thread(target=_send_again, args=(came, heard), daemon=True)
    handler = signal.signal(signal.SIGINT, hear)
    before = signal.set_wakeup_fd(noted, warn_on_full_buffer=False)
    again.start()
    try:
        yield
    finally:
        heard.set()
        signal.set_wakeup_fd(before)
        os.close(noted)
        again.join()
        os.close(came)
        signal.signal(signal.SIGINT, handler)


def _send_again(came: int, heard: threading.Event) -> None:
    """Wait for a Ctrl-C and resend it until it is handled; end when the pipe is closed."""
    while (number := os.read(came, 1)) and number[0] != signal.SIGINT:
        continue
    while number and not heard.wait(_AGAIN_S):
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
