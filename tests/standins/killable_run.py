"""A run in a process of its own, to be killed at a moment the test chooses.

Does not know what is done with what is left. The moment is chosen in the model: callers of one form are kept
waiting from a certain call on, and the test goes on when the process has nothing left to do but wait.
"""

import os
import sqlite3
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from standins.commandline import FATHOM, PATIENCE_S
from standins.documents import TIDES
from standins.model import Model, ModelRequest
from standins.replies import Reply
from standins.tavily import KEY, TavilyServer, result
from standins.web import Web, html
from standins.working_model import form_of, never_satisfied, overstating, scripted

QUESTION = "How much does tidal power cost?"

WORKING = scripted(judge=never_satisfied, write=overstating)
_STILL_S = 1.5  # longer than the pause between two pages of one host


class Gate:
    """A model that works until the moment comes, and from then on keeps callers of that form waiting."""

    def __init__(self, form: str, first: int) -> None:
        self.is_open = False
        self.reached = threading.Event()
        self._lock = threading.Lock()
        self.wait_for(form, first)

    def wait_for(self, form: str, first: int) -> None:
        """The next moment: that call of that form."""
        self.form, self.first, self._count = form, first, 0
        self.reached.clear()

    def __call__(self, request: ModelRequest) -> Reply:
        """The researcher's answer, or none."""
        if self.is_open or form_of(request) != self.form:
            return WORKING(request)
        with self._lock:
            self._count += 1
            if self._count < self.first:
                return WORKING(request)
        self.reached.set()
        return Reply.hang()


class Site:
    """The web of the tests: an engine, four pages, and how often each of them was asked."""

    def __init__(self) -> None:
        self.web = Web({f"/{name}": html(_page(text)) for name, text in TIDES.items()}).start()
        found = [result(f"{self.web.url}/{name}", name, text[:80]) for name, text in TIDES.items()]
        self.engine = TavilyServer(found).start()

    @property
    def environment(self) -> dict[str, str]:
        """What a process must know to find it."""
        return {
            "TAVILY_API_KEY": KEY,
            "FATHOM_TAVILY_URL": self.engine.url,
            "FATHOM_ALLOW_PRIVATE": "1",
        }

    @property
    def fetches(self) -> Counter[str]:
        """How often each page was fetched."""
        return Counter(seen.path for seen in self.web.records if seen.path.endswith(".md"))

    @property
    def searches(self) -> Counter[str]:
        """How often each query was sent."""
        return Counter(seen.json["query"] for seen in self.engine.searches)

    def stop(self) -> None:
        """Close both."""
        self.web.stop()
        self.engine.stop()


def _page(text: str) -> str:
    title, *rest = text.split("\n\n")
    body = "".join(f"<p>{part}</p>" for part in rest)
    return f"<html><head><title>{title}</title></head><body><article>{body}</article></body></html>"


def begun(words: Sequence[str], site: Site, home: Path) -> "subprocess.Popen[str]":
    """A command in a process of its own."""
    return subprocess.Popen(
        [*FATHOM, *words],
        cwd=home,
        env={**os.environ, **site.environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def kept_waiting(gate: Gate, model: Model, site: Site, home: Path) -> None:
    """Come back when the moment is there and the process stands still, all it knows on disk.

    On a busy machine a page that was sent may take longer to be read than anything stands still.
    """
    assert gate.reached.wait(PATIENCE_S), "it never came to this"
    end, seen, since = time.monotonic() + PATIENCE_S, (-1, -1, -1), time.monotonic()
    while time.monotonic() - since < _STILL_S or _count(home, "web_pages") < len(site.fetches):
        assert time.monotonic() < end, "it never came to rest"
        rows = _count(home, "replies", "pages", "checkpoints", "writes")
        now = (len(model.calls), len(model.answered), rows)
        if now != seen:
            seen, since = now, time.monotonic()
        time.sleep(0.02)


def stopped(process: "subprocess.Popen[str]", number: int) -> tuple[int, str]:
    """Send the signal to this process only; its exit code and its last words."""
    process.send_signal(number)
    _, err = process.communicate(timeout=PATIENCE_S)
    return process.returncode, err


def _count(home: Path, *tables: str) -> int:
    connection = sqlite3.connect(home / "fathom.sqlite", timeout=PATIENCE_S)
    try:
        there = {name for (name,) in connection.execute("select name from sqlite_master")}
        return sum(
            connection.execute(f"select count(*) from {t}").fetchone()[0] for t in tables if t in there
        )
    finally:
        connection.close()
