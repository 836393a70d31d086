"""Ctrl-C at a line that is being typed is heard, whenever it is pressed."""

import ctypes
import signal
import threading
import time

import pytest

from fathom.cli.terminal import interruptible


def missed() -> None:
    """A Ctrl-C that interrupts nobody's wait: it is this thread that gets it."""
    signal.pthread_kill(threading.get_ident(), signal.SIGINT)


def test_ctrl_c_that_interrupted_no_wait_is_heard_in_it() -> None:
    before, began = signal.getsignal(signal.SIGINT), time.monotonic()
    press = threading.Timer(0.2, missed)
    press.start()
    with pytest.raises(KeyboardInterrupt), interruptible():
        # Like the wait of `input`: it looks for signals only once it was interrupted.
        ctypes.CDLL(None).poll(None, 0, 30_000)
    press.join()
    assert time.monotonic() - began < 20
    assert signal.getsignal(signal.SIGINT) is before


def test_where_nobody_pressed_it_nothing_is_left_behind() -> None:
    before, threads = signal.getsignal(signal.SIGINT), threading.active_count()
    for _ in range(3):
        with interruptible():
            pass
    assert signal.getsignal(signal.SIGINT) is before
    assert signal.set_wakeup_fd(-1) == -1
    assert threading.active_count() == threads
