"""The modes of a terminal: taken for a view, and always given back, whatever ends it.

Does not know what is shown. Ctrl-Z gives the terminal back and `fg` takes it again; a signal that ends the
process, an exception and a plain exit all give it back first.
"""

import atexit
import os
import signal
import termios
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

# The other screen, no cursor, and pasted text marked as such.
_TAKE = b"\x1b[?1049h\x1b[?25l\x1b[?2004h\x1b[2J"
_GIVE_BACK = b"\x1b[?2004l\x1b[?25h\x1b[?1049l"
_ENDING = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


class Modes:
    """The terminal behind `out`, and the keyboard behind `keys` if somebody may press them."""

    def __init__(self, out: int, keys: int | None, on_return: Callable[[], None]) -> None:
        self._out, self._keys, self._on_return = out, keys, on_return
        self._before: list[Any] | None = None
        self._handlers: dict[int, Any] = {}
        self.is_taken = False

    def is_in_front(self) -> bool:
        """Whether this process may use the terminal now; one that was sent to the background may not."""
        try:
            return os.tcgetpgrp(self._out) == os.getpgrp()
        except OSError:
            return False

    def take(self) -> bool:
        """Take the terminal, if it is there to be taken."""
        if self.is_taken or not self.is_in_front():
            return self.is_taken
        if self._keys is not None:
            self._before = termios.tcgetattr(self._keys)
            now = termios.tcgetattr(self._keys)
            now[3] &= ~(termios.ICANON | termios.ECHO)  # Ctrl-C and Ctrl-Z stay signals
            termios.tcsetattr(self._keys, termios.TCSADRAIN, now)
        write(self._out, _TAKE)
        self.is_taken = True
        atexit.register(self.give_back)
        self._handlers = {one: signal.signal(one, self._end) for one in _ENDING}
        self._handlers[signal.SIGTSTP] = signal.signal(signal.SIGTSTP, self._stop)
        return True

    def give_back(self) -> None:
        """The terminal as it was; twice is once."""
        if not self.is_taken:
            return
        self.is_taken = False
        if threading.current_thread() is threading.main_thread():
            for number, handler in self._handlers.items():
                signal.signal(number, handler)
        atexit.unregister(self.give_back)
        self._restore()

    def _restore(self) -> None:
        write(self._out, _GIVE_BACK)
        if self._keys is not None and self._before is not None and self.is_in_front():
            termios.tcsetattr(self._keys, termios.TCSADRAIN, self._before)

    def _end(self, number: int, _: FrameType | None) -> None:
        self.give_back()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    def _stop(self, number: int, _: FrameType | None) -> None:
        """Ctrl-Z: the process stops in the middle of this function, and goes on there."""
        self.give_back()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
        self._on_return()


def write(place: int, text: bytes) -> None:
    """All of it; a terminal that went away is no reason to fail."""
    try:
        while text:
            text = text[os.write(place, text) :]
    except OSError:
        return
