"""The live view: a run on the alternate screen of a terminal, and the keys that steer it.

Does not know how the picture is drawn (`board.py`), or how a signal reaches the run. Output of others is
held back until the terminal is restored, which happens after a signal, an exception, Ctrl-C and Ctrl-Z.
"""

import asyncio
import io
import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress

from rich.cells import cell_len
from rich.console import Console
from rich.control import Control
from rich.live import Live as Screen

from fathom import SignalWord
from fathom.cli.board import Board, Foot, Frame
from fathom.cli.terminal import (
    SUSPEND,
    EndSignals,
    Key,
    Keyboard,
    RawKeyboard,
    Typed,
    has_keyboard,
    is_in_front,
    write,
)
from fathom.cli.text import clock, cut, describe_savings, dollars, plain, tail
from fathom.events import Completed, Progress
from fathom.text.messages import Messages

_QUERY_CELLS = 60
_REST = (("s", "stop"), ("a", "add"), ("q", "leave"))


_GLANCE_S = 0.1
_NOTICE_S = 6.0
_ESCAPE_S = 0.05
_RESTORE = (str(Control.show_cursor(True)) + str(Control.alt_screen(False))).encode()
_WITHOUT_KEYS = (("Ctrl-C", "leave safely"),)


class Live:
    """Shows a run where it stands, and turns keys into control signals."""

    def __init__(
        self, console: Console, give: Callable[[SignalWord, str], None], leave: Callable[[], None]
    ) -> None:
        self.board = Board()
        self.is_paused = False  # or about to be
        self._give, self._leave = give, leave
        self._typed: Typed | None = None  # the line at the bottom, while one is typed
        self._stderr, self._held, self._out = sys.stderr, io.StringIO(), sys.stderr.fileno()
        console.file = sys.stderr  # this one, also while others write into `_held`
        self._screen = Screen(
            console=console,
            screen=True,
            auto_refresh=False,  # painted by the event loop: the board never changes meanwhile
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._raw = RawKeyboard(self._out) if has_keyboard() else None
        self._keyboard = Keyboard()
        self._notice, self._notice_until = "", 0.0
        self._told_at: float | None = None  # when the last event came, while the run works
        self._signals = EndSignals(self.give_back)
        self._ticking: asyncio.Task[None] | None = None
        self._painted: object = None
        self._is_wanted = self._is_taken = False

    @property
    def say(self) -> Messages:
        """The words of the run's language."""
        return self.board.messages

    def begin(self, run_id: str) -> None:
        """Take the terminal."""
        self.board.run_id = run_id
        if self._raw is None and sys.stdin.isatty():
            self.notice(self.say("view.keys_off"))
        self._open()

    def tell(self, event: Progress) -> None:
        """Take in one event; after a question to a person, the picture comes back with it."""
        self.board.tell(event)
        self._painted = None
        self._told_at = None if event.is_last else time.monotonic()
        if not self._is_wanted and not isinstance(event.payload, Completed):
            self._open()

    def notice(self, words: str) -> None:
        """Show a sentence above the keys, for a while."""
        self._notice, self._notice_until = words, time.monotonic() + _NOTICE_S

    def set_aside(self) -> None:
        """Give the terminal back, with what was printed meanwhile."""
        if self._ticking:
            self._ticking.cancel()
        self._is_wanted = False
        self._release()

    def close(self) -> None:
        """End the picture; two plain lines of what there was stay."""
        if self._is_wanted:
            self.set_aside()
            for line in last_lines(self.board):
                print(line, file=sys.stderr, flush=True)

    def give_back(self) -> None:
        """Give the terminal back at once: in a signal handler, rich may be in the middle of a line."""
        if self._is_taken:
            self._is_taken = False
            write(self._out, _RESTORE)
            if self._raw:
                self._raw.close()
        sys.stderr = self._stderr
        write(self._out, self._held.getvalue().encode("utf-8", "replace"))
        self._held = io.StringIO()

    def _open(self) -> None:
        self._is_wanted = True
        self._take()
        self._ticking = asyncio.get_running_loop().create_task(self._tick())

    def _take(self) -> None:
        """Take the terminal, now or as soon as this process is in front."""
        if not is_in_front(self._out):
            return
        loop = asyncio.get_running_loop()
        self._is_taken, sys.stderr = True, self._held
        self._signals.start()
        if SUSPEND:
            loop.add_signal_handler(SUSPEND, self._suspend)
        if self._raw:
            self._raw.open()
            loop.add_reader(self._raw.place, self._read_keys)
        self._screen.start()
        self._painted = None
        self.paint()

    def _release(self) -> None:
        if not self._is_taken:
            return
        loop = asyncio.get_running_loop()
        with suppress(OSError):  # the terminal went away
            self._screen.stop()
        if self._raw:
            loop.remove_reader(self._raw.place)
            self._raw.close()
        self._is_taken = False
        self.give_back()
        self._signals.stop()
        if SUSPEND:
            loop.remove_signal_handler(SUSPEND)

    def _suspend(self) -> None:
        """Ctrl-Z: the process stops within this function; the next glance takes the terminal again."""
        self._release()
        if SUSPEND:
            os.kill(os.getpid(), SUSPEND)

    async def _tick(self) -> None:
        while True:
            if self._is_taken:
                self.paint()
            else:
                self._take()
            await asyncio.sleep(_GLANCE_S)

    def _read_keys(self) -> None:
        if self._raw is None:
            return
        loop = asyncio.get_running_loop()
        if not (pressed := os.read(self._raw.place, 1024)):  # nobody is there any more
            loop.remove_reader(self._raw.place)
        for key in self._keyboard.feed(pressed):
            self._press(key)
        loop.call_later(_ESCAPE_S, self._settle)
        self.paint()

    def _settle(self) -> None:
        for key in self._keyboard.settle():
            self._press(key)

    def _press(self, key: Key) -> None:
        if self._typed is not None:
            self._type(key, self._typed)
            return
        match key.text.lower():
            case "p":
                self._give("go" if self.is_paused else "pause", "")
                self.notice(self.say("view.going_on" if self.is_paused else "view.pausing"))
                self.is_paused = not self.is_paused
            case "s":
                self._give("stop", "")
                self.notice(self.say("view.stopping"))
            case "a":
                self._typed = Typed()
            case "q":
                self._leave()
            case _:
                return

    def _type(self, key: Key, typed: Typed) -> None:
        self._typed = None if key.name in ("escape", "enter") else typed.after(key)
        if key.name == "enter" and (text := plain(typed.text)):
            self._give("add", text)
            self.notice(self.say("view.added", query=cut(text, _QUERY_CELLS)))

    def paint(self) -> None:
        """Paint the picture, if it is not as it was."""
        if not self._is_taken or not is_in_front(self._out):
            return
        size, foot = os.get_terminal_size(self._out), self._foot()
        if (size, foot, int(self._elapsed_s())) == self._painted:
            return
        self._painted = (size, foot, int(self._elapsed_s()))
        console = self._screen.console
        console.size = (max(1, size.columns), max(1, size.lines))
        with console:
            self._screen.update(Frame(self.board, self._elapsed_s(), foot), refresh=True)
            if foot.typing is not None and self._typed:
                behind = cell_len(self._typed.text[self._typed.place :])
                column = min(console.width - 1, cell_len(foot.typing) - behind)
                console.control(Control.move_to(column, console.height - 1))
            console.show_cursor(foot.typing is not None)

    def _foot(self) -> Foot:
        notice = self._notice if time.monotonic() < self._notice_until else ""
        if self._typed is None:
            pause = ("p", "go on" if self.is_paused else "pause")  # keys of the table `press` of the messages
            keys = (pause, *_REST) if self._raw else _WITHOUT_KEYS
            return Foot(notice, tuple((key, self.say.name("press", word)) for key, word in keys))
        prompt = self.say("view.add_query")
        room = max(1, self._screen.console.width - cell_len(prompt) - 1)
        before, behind = self._typed.text[: self._typed.place], self._typed.text[self._typed.place :]
        return Foot(notice, typing=prompt + tail(before, room) + behind)

    def _elapsed_s(self) -> float:
        since = time.monotonic() - self._told_at if self._told_at is not None else 0.0
        return self.board.elapsed_s + since


def last_lines(board: Board) -> list[str]:
    """Return what stays in the terminal when the picture is gone."""
    say, spent = board.messages, board.spent
    score = "" if board.score is None else f"{board.score:.2f}"
    kind = "by_words" if board.is_by_words else "judged" if score else "unjudged"
    found = "passages_found" if board.is_by_words else "claims_verified"
    stage = plain(say.name("stage", board.stage)).capitalize()
    return [
        say(
            "view.ended",
            stage=stage,
            time=clock(board.elapsed_s),
            rounds=say("view.rounds", count=board.round),
            pages=say("live.pages", count=board.pages_read),
            claims=say(f"view.{found}", count=board.verified),
        ),
        say(f"view.{kind}", score=score, needed=f"{board.threshold:.2f}")
        + say("view.ended_spent", spent=dollars(spent.usd), budget=dollars(spent.budget_usd))
        + f"{describe_savings(spent)}.",
    ]
