"""Fathom's command line in processes of their own that need no second to import it: each is a fork.

Speaks JSON lines: a request is the words, the folder and the circumstances of a command; an answer is its
exit code and everything it printed.
"""

import json
import os
import resource
import signal
import subprocess
import sys
import time
import traceback
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

_PATIENCE_S = 60
_NOBODY = 65_534


@dataclass(frozen=True)
class Command:
    """A command and its circumstances."""

    words: list[str]
    home: str
    room_bytes: int = 0  # no file may grow beyond this; 0: as large as it likes
    clock_jump_s: float = 0.0  # how far the clock jumps after a moment
    is_nobody: bool = False  # a user who owns nothing


class QuickCommands:
    """Started with `with`; gone when the block ends."""

    def __enter__(self) -> Self:
        place = str(Path(__file__).parents[1])
        quiet = {"FATHOM_LOCAL_SERVERS": "{}", "PAGER": "cat", "DDGS_PROXY": "http://127.0.0.1:9"}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "attacks.quick_commands"],
            env={**os.environ, **quiet, "PYTHONPATH": place},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.close()
        self._process.wait(timeout=_PATIENCE_S)
        self._process.stdout.close()

    def run(self, command: Command) -> tuple[int, str]:
        """The exit code, negative for a signal, and everything that was printed."""
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps(asdict(command)) + "\n")
        self._process.stdin.flush()
        code, said = json.loads(self._process.stdout.readline())
        return code, said


def _serve() -> None:
    import fathom.cli.run
    import fathom.cli.runs
    import fathom.runs.executor
    import fathom.web.app  # noqa: F401 - imported once, for all forks

    for line in sys.stdin:
        command = Command(**json.loads(line))
        log = Path(command.home) / "said.txt"
        log.touch()
        log.chmod(0o666)
        child = os.fork()
        if child == 0:
            _become(command, log)
        _, status = os.waitpid(child, 0)
        answer = [os.waitstatus_to_exitcode(status), log.read_text("utf-8", "replace")]
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def _become(command: Command, log: Path) -> None:
    from fathom.cli import main

    code = 99
    try:
        out = os.open(log, os.O_WRONLY | os.O_TRUNC)
        for stream, file in ((0, os.open(os.devnull, os.O_RDONLY)), (1, out), (2, out)):
            os.dup2(file, stream)
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: PTH123, SIM115
        os.environ["FATHOM_HOME"] = command.home
        os.chdir(command.home)
        signal.alarm(_PATIENCE_S)
        if command.room_bytes:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (command.room_bytes, command.room_bytes))
        if command.clock_jump_s:
            real, began = time.time, time.time()
            time.time = lambda: real() + command.clock_jump_s * (real() - began > 0.2)
        if command.is_nobody and os.getuid() == 0:
            os.setuid(_NOBODY)
        code = main(command.words)
    except SystemExit as error:
        code = int(error.code or 0)
    except BaseException:  # noqa: BLE001 - whatever it is, it is what the attack looks for
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code or 0)


if __name__ == "__main__":
    _serve()
