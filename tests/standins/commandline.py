"""The command line as a person uses it: in this process, in one of its own, or at a terminal.

Does not know any command.
"""

import fcntl
import os
import pty
import select
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

FATHOM = (sys.executable, "-m", "fathom")
PATIENCE_S = 60.0


@dataclass(frozen=True)
class Told:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def is_refusal(self) -> bool:
        """One sentence on standard error, nothing on standard output, exit code 2."""
        lines = self.err.splitlines()
        is_sentence = len(lines) == 1 and lines[0].startswith("fathom: ") and lines[0][-1] in ".?"
        return self.code == 2 and self.out == "" and is_sentence


Fathom = Callable[..., Told]


def spawned(words: Sequence[str], cwd: Path, environment: Mapping[str, str] | None = None) -> Told:
    """A command in a process of its own, with nobody at the keyboard."""
    done = subprocess.run(
        [*FATHOM, *words],
        cwd=cwd,
        env={**os.environ, **(environment or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )
    return Told(done.returncode, done.stdout, done.stderr)


class Terminal:
    """A command at a terminal: `says` waits for words on the screen, `types` presses keys."""

    def __init__(self, words: Sequence[str], cwd: Path) -> None:
        self._keys, theirs = pty.openpty()
        self.screen = ""
        self._seen = 0
        self._process = subprocess.Popen(
            [*FATHOM, *words],
            cwd=cwd,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            close_fds=True,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(theirs, termios.TIOCSCTTY, 0),  # Ctrl-C is a signal there
        )
        os.close(theirs)

    def says(self, words: str) -> None:
        """Wait until the words are on the screen, after what was waited for before."""
        until = time.monotonic() + PATIENCE_S
        while (place := self.screen.find(words, self._seen)) < 0:
            if not self._read(until):
                raise AssertionError(f"the terminal never said {words!r}:\n{self.screen}")
        self._seen = place + len(words)

    def offers(self, first: str, second: str) -> bool:
        """Wait until one of the two is on the screen; whether it is the first."""
        until = time.monotonic() + PATIENCE_S
        while (found := self._either(first, second)) is None:
            if not self._read(until):
                raise AssertionError(f"the terminal said neither {first!r} nor {second!r}:\n{self.screen}")
        self.says(found)
        return found == first

    def _either(self, *choices: str) -> str | None:
        places = {self.screen.find(words, self._seen): words for words in choices}
        places.pop(-1, None)
        return places[min(places)] if places else None

    def types(self, words: str) -> None:
        """Words and the Enter key."""
        self.presses(f"{words}\n")

    def presses(self, keys: str) -> None:
        """Keys, and no Enter."""
        os.write(self._keys, keys.encode())

    def ends(self) -> int:
        """The exit code, when the command has ended."""
        until = time.monotonic() + PATIENCE_S
        while self._read(until):
            pass
        os.close(self._keys)
        return self._process.wait(timeout=PATIENCE_S)

    def _read(self, until: float) -> bool:
        left = max(0.0, until - time.monotonic())
        ready, _, _ = select.select([self._keys], [], [], left)
        try:
            piece = os.read(self._keys, 65536) if ready else b""
        except OSError:  # how Linux says that the other end is closed
            piece = b""
        self.screen += piece.decode("utf-8", "replace")
        return bool(piece)
