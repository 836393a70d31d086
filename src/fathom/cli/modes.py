"""What a view needs of its terminal beside rich: keys one by one, and to give it back when a signal comes.

Does not know what is shown, or what keys are for. `termios` is imported only when a keyboard is opened: where
there is none, as on Windows, keys are off.
"""

import os
import signal
import sys
import threading
from collections.abc import Callable
from importlib.util import find_spec
from types import FrameType
from typing import Any

_ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP", "SIGQUIT") if hasattr(signal, name))
SUSPEND: signal.Signals | None = getattr(signal, "SIGTSTP", None)  # Ctrl-Z; Windows has none

# Pasted text comes between two marks, so that a line break in it is no Enter.
_PASTE_ON, _PASTE_OFF = b"\x1b[?2004h", b"\x1b[?2004l"


def has_keyboard() -> bool:
    """Whether somebody may press keys, and this system can read them one by one."""
    return sys.stdin.isatty() and find_spec("termios") is not None


class RawKeyboard:
    """Standard input without lines and echo. Ctrl-C and Ctrl-Z stay signals."""

    def __init__(self, out: int) -> None:
        self._out, self._place = out, sys.stdin.fileno()
        self._before: list[Any] | None = None

    @property
    def place(self) -> int:
        """The file descriptor that keys are read from."""
        return self._place

    def open(self) -> None:
        """Take the keyboard."""
        import termios

        self._before = termios.tcgetattr(self._place)
        now = termios.tcgetattr(self._place)
        now[3] &= ~(termios.ICANON | termios.ECHO)
        termios.tcsetattr(self._place, termios.TCSADRAIN, now)
        write(self._out, _PASTE_ON)

    def close(self) -> None:
        """Give it back as it was; safe in a signal handler, and a second time."""
        if self._before is None:
            return
        import termios

        write(self._out, _PASTE_OFF)
        before, self._before = self._before, None
        if is_in_front(self._out):
            termios.tcsetattr(self._place, termios.TCSADRAIN, before)


class EndSignals:
    """While it is on, a signal that ends the process first gives the terminal back."""

    def __init__(self, give_back: Callable[[], None]) -> None:
        self._give_back = give_back
        self._before: dict[int, Any] = {}

    def start(self) -> None:
        """Listen; a signal that the process was told to ignore stays ignored."""
        heard = [number for number in _ENDING if signal.getsignal(number) is not signal.SIG_IGN]
        self._before = {number: signal.signal(number, self._end) for number in heard}

    def stop(self) -> None:
        """Leave signals to whoever had them before; in another thread they stay, which Python wants so."""
        if threading.current_thread() is threading.main_thread():
            for number, handler in self._before.items():
                signal.signal(number, handler)

    def _end(self, number: int, _: FrameType | None) -> None:
        self._give_back()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)


def is_in_front(terminal: int) -> bool:
    """Whether this process may use the terminal now; one that was sent to the background may not."""
    if not hasattr(os, "tcgetpgrp"):
        return True
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False


def write(place: int, text: bytes) -> None:
    """Write all of it; a terminal that went away is no reason to fail."""
    try:
        while text:
            text = text[os.write(place, text) :]
    except OSError:
        return
