"""A person at the terminal: Ctrl-C, single keys, a typed line, and the terminal given back on signals.

Ctrl-C once finishes what is in hand and leaves, twice leaves at once; either way nothing is lost. Does not
know what is being done or what any key is for. `termios` is imported only when a keyboard is opened: where
there is none, as on Windows, keys are off.
"""

import asyncio
import codecs
import os
import re
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import Any, Literal

from fathom.cli.text import plain
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


@contextmanager
def interruptible() -> Iterator[None]:
    """Within this, Ctrl-C raises KeyboardInterrupt, as in a program that does not listen for it."""
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)


_NAMES = {
    "\r": "enter",
    "\n": "enter",
    "\x7f": "backspace",
    "\b": "backspace",
    "\x15": "clear",
    "\x17": "word",
    "\x01": "home",
    "\x05": "end",
}
_SEQUENCES = {
    "[D": "left",
    "OD": "left",
    "[C": "right",
    "OC": "right",
    "[H": "home",
    "OH": "home",
    "[1~": "home",
    "[F": "end",
    "OF": "end",
    "[4~": "end",
    "[3~": "delete",
}
_ESCAPE = "\x1b"
_PASTED = re.compile(r"\x1b\[200~(.*?)\x1b\[201~", re.DOTALL)
_PASTING = "\x1b[200~"
_SEQUENCE = re.compile(r"\x1b(O[A-Za-z]|\[[0-9;?]*[A-Za-z~])")
_UNFINISHED = re.compile(r"\x1b(O|\[[0-9;?]*)?$")


@dataclass(frozen=True)
class Key:
    """A key: `text` for what is typed or pasted, else its name."""

    name: str
    text: str = ""


class Keyboard:
    """Turns a terminal's bytes into keys; an arrow is one key, not an escape and two letters."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._waiting = ""

    def feed(self, pressed: bytes) -> list[Key]:
        """The keys in these bytes; the beginning of one that is not whole yet is kept."""
        self._waiting += self._decoder.decode(pressed)
        made: list[Key] = []
        while self._waiting:
            key, used = self._first(self._waiting)
            if used == 0:
                break
            self._waiting = self._waiting[used:]
            made += [key] if key else []
        return made

    def settle(self) -> list[Key]:
        """What was kept, when nothing followed it: the escape key itself."""
        is_escape = self._waiting.startswith(_ESCAPE) and not self._waiting.startswith(_PASTING)
        self._waiting = "" if is_escape else self._waiting
        return [Key("escape")] if is_escape else []

    def _first(self, text: str) -> tuple[Key | None, int]:
        if text[0] != _ESCAPE:
            name = _NAMES.get(text[0])
            if name or not text[0].isprintable():
                return Key(name) if name else None, 1
            return Key("text", text[0]), 1
        if pasted := _PASTED.match(text):
            return Key("text", plain(pasted.group(1))), pasted.end()
        if text.startswith(_PASTING) or _UNFINISHED.match(text):
            return None, 0
        if sequence := _SEQUENCE.match(text):
            name = _SEQUENCES.get(sequence.group(1))
            return Key(name) if name else None, sequence.end()
        return Key("escape"), 1


@dataclass(frozen=True)
class Typed:
    """A line in the making, and where in it the cursor stands."""

    text: str = ""
    place: int = 0

    def after(self, key: Key) -> "Typed":
        """The line after one more key."""
        before, behind = self.text[: self.place], self.text[self.place :]
        match key.name:
            case "text":
                return Typed(before + key.text + behind, self.place + len(key.text))
            case "backspace":
                return Typed(before[:-1] + behind, max(0, self.place - 1))
            case "delete":
                return Typed(before + behind[1:], self.place)
            case "word":
                kept = re.sub(r"\S+\s*$", "", before)
                return Typed(kept + behind, len(kept))
            case "clear":
                return Typed(behind, 0)
            case "left" | "right" | "home" | "end":
                return Typed(self.text, self._move(key.name))
            case _:
                return self

    def _move(self, where: Literal["left", "right", "home", "end"]) -> int:
        last = len(self.text)
        return {"left": max(0, self.place - 1), "right": min(last, self.place + 1), "home": 0, "end": last}[
            where
        ]


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
