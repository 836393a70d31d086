"""The command line on a real terminal, driven by tmux: a size, keys, a screen to look at.

Does not know any command. Every terminal has a tmux server of its own, which ends with it.
"""

import os
import shlex
import shutil
import subprocess
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from standins.commandline import FATHOM, PATIENCE_S

IS_THERE = shutil.which("tmux") is not None
WHY_NOT = "NO TMUX: the live view was NOT tested on a terminal; apt-get install tmux"
_GLANCE_S = 0.05
_HISTORY = "5000"


class Tmux:
    """A shell on a terminal of so many columns and rows."""

    def __init__(
        self, folder: Path, columns: int, rows: int, environment: Mapping[str, str] | None = None
    ) -> None:
        self._socket = f"fathom-{uuid.uuid4().hex[:12]}"
        self._code = folder / f"{self._socket}.code"
        settings = {"LC_ALL": "C.UTF-8", "PS1": "$ ", **(environment or {})}
        self._environment = {**os.environ, "TMUX": "", **settings}
        self._say(
            "-f", "/dev/null", "new-session", "-d", "-x", str(columns), "-y", str(rows), "-c", str(folder),
            "bash --noprofile --norc",
        )  # fmt: skip
        self._say("set-option", "-g", "history-limit", _HISTORY)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            error.add_note(f"The screen was:\n{self.screen()}")
        self._say("kill-server")

    def runs(self, words: Sequence[str]) -> None:
        """Begin a command; its exit code is kept."""
        self._begins([*FATHOM, *words])

    def runs_python(self, code: str) -> None:
        """Begin some lines of Python; the exit code is kept."""
        self._begins([FATHOM[0], "-c", code])

    def _begins(self, command: Sequence[str]) -> None:
        self._code.unlink(missing_ok=True)
        line = f"{shlex.join(command)}; echo $? > {shlex.quote(str(self._code))}"
        self.types(f"clear; {line}")
        self.presses("Enter")

    def types(self, words: str) -> None:
        """Letters, as they are."""
        self._say("send-keys", "-l", words)

    def presses(self, *names: str) -> None:
        """Keys by tmux's names: Enter, Escape, C-c, Up."""
        self._say("send-keys", *names)

    def resizes(self, columns: int, rows: int) -> None:
        """The window gets another size."""
        self._say("resize-window", "-x", str(columns), "-y", str(rows))

    def screen(self, with_colours: bool = False) -> str:
        """What the terminal shows now."""
        return self._say("capture-pane", "-p", *(["-e"] if with_colours else []))

    def flags(self) -> str:
        """Which modes of the terminal are on."""
        modes = "cursor #{cursor_flag}, other screen #{alternate_on}"
        return self._say("display-message", "-p", modes).strip()

    def title(self) -> str:
        """What the terminal was told to call itself."""
        return self._say("display-message", "-p", "#{pane_title}").strip()

    def records(self, path: Path) -> None:
        """Keep every byte that is sent to the terminal from now on."""
        self._say("pipe-pane", "-o", f"exec cat > {shlex.quote(str(path))}")

    def process(self) -> int:
        """The command that runs in front of the shell."""
        shell = self._say("display-message", "-p", "#{pane_pid}").strip()
        return int(Path(f"/proc/{shell}/task/{shell}/children").read_text().split()[0])

    def everything(self) -> str:
        """What the terminal shows now and what scrolled out of it."""
        return self._say("capture-pane", "-p", "-S", "-")

    def shows(self, *words: str) -> str:
        """Wait until all of the words are on the screen; the screen."""
        return self.becomes(lambda screen: all(word in screen for word in words), f"show {words}")

    def becomes(self, is_so: Callable[[str], bool], what: str) -> str:
        """Wait until the screen is so; the screen."""
        until = time.monotonic() + PATIENCE_S
        while not is_so(shown := self.screen()):
            if time.monotonic() > until:
                raise AssertionError(f"the terminal did not {what}")
            time.sleep(_GLANCE_S)
        return shown

    def ends(self) -> int:
        """The exit code, when the command has ended."""
        until = time.monotonic() + PATIENCE_S
        while not (self._code.exists() and (code := self._code.read_text().strip())):
            if time.monotonic() > until:
                raise AssertionError("the command did not end")
            time.sleep(_GLANCE_S)
        return int(code)

    def _say(self, *words: str) -> str:
        done = subprocess.run(
            ["tmux", "-u", "-L", self._socket, *words],
            env=self._environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE_S,
        )
        return done.stdout
