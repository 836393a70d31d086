"""Ctrl-C at a line that is being typed ends the line, and elsewhere means what it meant before."""

import signal
import threading
import time

import pytest

from fathom.cli.terminal import interruptible


def test_ctrl_c_interrupts_a_wait() -> None:
    before = signal.getsignal(signal.SIGINT)
    main = threading.get_ident()
    press = threading.Timer(0.2, signal.pthread_kill, (main, signal.SIGINT))
    press.start()
    with pytest.raises(KeyboardInterrupt), interruptible():
        time.sleep(30)
    press.join()
    assert signal.getsignal(signal.SIGINT) is before


def test_where_nobody_pressed_it_nothing_is_left_behind() -> None:
    before = signal.getsignal(signal.SIGINT)
    with interruptible():
        pass
    assert signal.getsignal(signal.SIGINT) is before
