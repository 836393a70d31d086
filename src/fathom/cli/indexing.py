"""How far reading one's own documents is, on the terminal.

Does not know how documents are read. Says nothing about what takes less than a second.
"""

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.progress import Progress

_PATIENCE_S = 1.0
_SAY_EVERY_S = 5.0


class IndexProgress:
    """Told how many of how many files are read: a bar at a terminal, else a line at times."""

    def __init__(self, *, is_quiet: bool = False) -> None:
        self._is_quiet = is_quiet
        self._say_at = time.monotonic() + _PATIENCE_S
        self._bar: Progress | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar:
            self._bar.stop()

    def __call__(self, done: int, total: int) -> None:
        """Show it, if somebody has waited long enough."""
        if self._bar:
            self._bar.update(self._bar.task_ids[0], completed=done, total=total)
        elif not self._is_quiet and time.monotonic() >= self._say_at:
            self._begin(done, total)

    def _begin(self, done: int, total: int) -> None:
        if not sys.stderr.isatty():
            self._say_at = time.monotonic() + _SAY_EVERY_S
            print(f"reading the documents: {done:,} of {total:,}", file=sys.stderr, flush=True)
            return
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        columns = TextColumn("reading the documents"), BarColumn(), MofNCompleteColumn()
        bar = Progress(*columns, console=Console(stderr=True), transient=True)
        bar.add_task("", completed=done, total=total)
        bar.start()
        self._bar = bar
