"""A run as one calm picture on a terminal, with keys.

Does not know what keys are for, or how the picture is made. It has the screen for itself while it is open, so
nothing scrolls; what others print meanwhile is kept and printed when the terminal is given back.
"""

import asyncio
import io
import os
import signal
import sys
import time
from collections.abc import Callable

from rich.cells import cell_len
from rich.console import Console

from fathom.cli.amounts import dollars, saved
from fathom.cli.board import Board
from fathom.cli.cells import plain, tail
from fathom.cli.frame import Foot, Frame, clock
from fathom.cli.keys import Key, Keyboard, Typed
from fathom.cli.lines import ASCII, Glyphs
from fathom.cli.modes import Modes, write
from fathom.cli.painting import Painter
from fathom.events import Completed, Progress
from fathom.report.words import counted

_GLANCE_S = 0.1
_NOTICE_S = 6.0
_ESCAPE_S = 0.05
PROMPT = "add a query: "


def can_show(console: Console) -> bool:
    """Whether standard error is a terminal that a picture can stand on."""
    if not console.is_terminal or console.is_dumb_terminal:
        return False
    try:
        return min(os.get_terminal_size(sys.stderr.fileno())) > 0
    except (OSError, ValueError):
        return False


class Live:
    """Shows a run where it stands, and says which keys are pressed."""

    def __init__(self, console: Console, on_key: Callable[[Key], None], has_keys: bool) -> None:
        self.board = Board()
        self.typed: Typed | None = None  # the line at the bottom, while one is typed
        self.keys: tuple[tuple[str, str], ...] = ()
        self._console, self._on_key = console, on_key
        self._out = sys.stderr.fileno()
        self._stdin = sys.stdin.fileno() if has_keys else None
        self._modes = Modes(self._out, self._stdin, self._again)
        self._painter, self._keyboard = Painter(console), Keyboard()
        self._glyphs = Glyphs() if console.encoding.startswith("utf") else ASCII
        self._notice, self._notice_until = "", 0.0
        self._told_at: float | None = None  # when the last event came, while the run works
        self._held, self._stderr = io.StringIO(), sys.stderr
        self._ticking: asyncio.Task[None] | None = None
        self._is_wanted = False

    def begin(self, run_id: str) -> None:
        """Take the terminal."""
        self.board.run_id = run_id
        self._open()

    def tell(self, event: Progress) -> None:
        """One event; after a question to a person, the picture comes back with it."""
        self.board.tell(event)
        is_last = event.kind in {"checkpoint", "completed", "failed"}
        self._told_at = None if is_last else time.monotonic()
        if not self._is_wanted and not isinstance(event.payload, Completed):
            self._open()

    def notice(self, words: str) -> None:
        """A sentence above the keys, for a while."""
        self._notice, self._notice_until = words, time.monotonic() + _NOTICE_S

    def set_aside(self) -> None:
        """Give the terminal back, with what was printed meanwhile."""
        if not self._is_wanted:
            return
        self._is_wanted = False
        loop = asyncio.get_running_loop()
        if self._ticking:
            self._ticking.cancel()
        if self._stdin is not None:
            loop.remove_reader(self._stdin)
        loop.remove_signal_handler(signal.SIGWINCH)
        self.give_back()

    def give_back(self) -> None:
        """The same in a hurry, from a signal's handler: the modes, and what was held back."""
        self._modes.give_back()
        sys.stderr = self._stderr
        write(self._out, self._held.getvalue().encode("utf-8", "replace"))
        self._held = io.StringIO()

    def close(self) -> None:
        """The end of the picture: two plain lines of what there was."""
        if not self._is_wanted:
            return
        self.paint()
        self.set_aside()
        for line in last_lines(self.board):
            print(line, file=sys.stderr, flush=True)

    def _open(self) -> None:
        self._is_wanted = True
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGWINCH, self._resized)
        self._take()
        self._ticking = loop.create_task(self._tick())

    def _take(self) -> None:
        """Take the terminal, now or as soon as this process is in front again."""
        if not self._is_wanted or not self._modes.take():
            return
        sys.stderr = self._held
        self._painter.forget()
        if self._stdin is not None:
            asyncio.get_running_loop().add_reader(self._stdin, self._pressed)
        self.paint()

    def _again(self) -> None:
        """Back from Ctrl-Z, in the middle of whatever the process did: the next glance takes it again."""
        self._painter.forget()

    def _resized(self) -> None:
        self._painter.forget()
        self.paint()

    async def _tick(self) -> None:
        while True:
            if self._modes.is_taken:
                self.paint()
            else:
                self._take()
            await asyncio.sleep(_GLANCE_S)

    def _pressed(self) -> None:
        if self._stdin is None or not self._modes.is_taken:  # what is typed now is for somebody else
            asyncio.get_running_loop().remove_reader(self._stdin or 0)
            return
        pressed = os.read(self._stdin, 1024)
        for key in self._keyboard.feed(pressed):
            self._on_key(key)
        asyncio.get_running_loop().call_later(_ESCAPE_S, self._settled)
        self.paint()

    def _settled(self) -> None:
        for key in self._keyboard.settle():
            self._on_key(key)

    def paint(self) -> None:
        """Send what changed since the last time."""
        if not self._modes.is_taken:
            return
        columns, rows = os.get_terminal_size(self._out)
        # The last column stays free: a terminal may wrap after it, or erase it with the rest of the line.
        frame = Frame(max(1, columns - 2), max(1, rows), self._glyphs)
        foot = self._foot(frame.width)
        picture = self._painter.changes(frame.lines(self.board, self._elapsed_s(), foot))
        write(self._out, picture + self._cursor(foot, rows, frame.width) if picture or foot.line else b"")

    def _foot(self, width: int) -> Foot:
        notice = self._notice if time.monotonic() < self._notice_until else ""
        if self.typed is None:
            return Foot(notice, self.keys)
        room = max(1, width - cell_len(PROMPT) - 1)
        return Foot(
            notice,
            line=tail(self.typed.text[: self.typed.place], room) + self.typed.text[self.typed.place :],
            prompt=PROMPT,
        )

    def _cursor(self, foot: Foot, rows: int, width: int) -> bytes:
        if self.typed is None or foot.line is None:
            return b"\x1b[?25l"
        behind = cell_len(self.typed.text[self.typed.place :])
        column = min(width, cell_len(PROMPT) + cell_len(foot.line) - behind)
        return f"\x1b[{rows};{column + 1}H\x1b[?25h".encode()

    def _elapsed_s(self) -> float:
        since = time.monotonic() - self._told_at if self._told_at is not None else 0.0
        return self.board.elapsed_s + since


def last_lines(board: Board) -> list[str]:
    """What stays in the terminal when the picture is gone."""
    rounds, pages = counted(board.round, "round"), counted(board.pages_read, "page")
    after = f"{plain(board.stage).capitalize()} after {clock(board.elapsed_s)}"
    score = f"score {board.score:.2f} of {board.threshold:.2f}" if board.score is not None else "not judged"
    spent = f"spent {dollars(board.spent.usd)} of {dollars(board.spent.budget_usd)}"
    return [
        f"{after}: {rounds}, {pages} read, {counted(board.verified, 'claim')} verified,",
        f"{score}, {spent}{saved(board.spent)}.",
    ]
