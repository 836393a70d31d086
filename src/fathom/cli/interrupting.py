"""Ctrl-C while a person types a line.

Does not know what is typed. `input` looks for signals only when one of them interrupts its wait: a Ctrl-C in
the moment in which the prompt is there and the wait is not would be heard with the next key. So it is sent
again.
"""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_AGAIN_S = 0.05


@contextmanager
def interruptible() -> Iterator[None]:
    """Within this, Ctrl-C raises KeyboardInterrupt in the main thread, once, whatever that waits for."""
    heard = threading.Event()

    def hear(*_: object) -> None:
        if not heard.is_set():
            heard.set()
            raise KeyboardInterrupt

    came, noted = os.pipe()
    os.set_blocking(noted, False)
    again = threading.Thread(target=_sent_again, args=(came, heard), daemon=True)
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


def _sent_again(came: int, heard: threading.Event) -> None:
    """Wait for a Ctrl-C, and send it until it is heard; the end when nobody writes signals down any more."""
    while (number := os.read(came, 1)) and number[0] != signal.SIGINT:
        continue
    while number and not heard.wait(_AGAIN_S):
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
